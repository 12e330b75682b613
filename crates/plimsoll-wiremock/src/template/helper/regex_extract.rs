//! `regexExtract text 'regex' 'name' default=`: the first match, or its groups under a name.

use super::{Helper, Invocation, Outcome, Prepare, Prepared, error_text};
use crate::java::regex::JavaRegex;
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] =
    &[Helper::new("regexExtract", extract).preparing(Prepare::Search)];

fn extract<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.text(0, "the text")?;
    let source = invocation.text(1, "the regular expression")?;
    let given;
    let regex = match invocation.prepared {
        Prepared::Regex(regex) => &**regex,
        _ => match JavaRegex::searching(&source) {
            Ok(regex) => {
                given = regex;
                &given
            }
            Err(_) => return Ok(error_text(&format!("Invalid regex string {source}"))),
        },
    };
    let name = invocation.argument(2);
    let found = regex.find(&text)?;
    let found = found.filter(|groups| name.is_nothing() || groups.len() > 1);
    let Some(groups) = found else {
        let nothing = || error_text(&format!("Nothing matched {source}"));
        return Ok(invocation
            .option("default")
            .cloned()
            .unwrap_or_else(nothing));
    };
    if name.is_nothing() {
        return Ok(Value::text(groups[0]));
    }
    let groups = groups[1..].iter().map(|group| (*group).to_owned().into());
    let groups = Value::Several(groups.collect());
    let name = name.print().into_owned();
    invocation.renderer.scopes.assign(&name, groups);
    Ok(Value::Nothing)
}
