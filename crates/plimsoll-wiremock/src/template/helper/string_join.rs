//! `join a b … separator prefix= suffix=`, or of one list.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("join", join)];

fn join<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let Some((separator, values)) = invocation.arguments.split_last() else {
        return Err(Failure::Own("the separator is missing".to_owned()));
    };
    let values = match values {
        [list] => list.items().unwrap_or_else(|| vec![list.clone()]),
        several => several.to_vec(),
    };
    let separator = separator.print();
    let mut texts = Vec::new();
    for value in values.iter().filter(|value| !value.is_nothing()) {
        let text = value.print().into_owned();
        invocation.renderer.make(text.len() + separator.len())?;
        texts.push(text);
    }
    let affix = |name| {
        let affix = invocation.option(name);
        affix
            .map(|value| value.print().into_owned())
            .unwrap_or_default()
    };
    let joined = texts.join(&*separator);
    let (prefix, suffix) = (affix("prefix"), affix("suffix"));
    Ok(Value::text(format!("{prefix}{joined}{suffix}")))
}
