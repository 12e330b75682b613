//! `arrayJoin separator list prefix= suffix=`, or with the items in the place of the list: they as one text, each through the block if there is one.

use super::{Failure, Helper, Invocation, Outcome, error_text};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("arrayJoin", join)];

fn join<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let Value::Text(separator) = invocation.argument(0) else {
        return Ok(error_text("Separator parameter must be a String"));
    };
    let items = match &invocation.arguments[1..] {
        [] => return Ok(error_text("The parameter must be list")),
        [first, ..] => match first.items() {
            Some(items) => items,
            None => invocation.arguments[1..].to_vec(),
        },
    };
    let affix = |name| {
        let affix = invocation.option(name);
        affix
            .map(|value| value.print().into_owned())
            .unwrap_or_default()
    };
    let separators = items.len().saturating_mul(separator.len());
    invocation.renderer.make(separators)?;
    let (prefix, suffix) = (affix("prefix"), affix("suffix"));
    let texts = texts(invocation, items)?;
    Ok(Value::text(format!(
        "{prefix}{}{suffix}",
        texts.join(&separator)
    )))
}

fn texts<'a>(
    invocation: Invocation<'_, 'a>,
    items: Vec<Value<'a>>,
) -> Result<Vec<String>, Failure> {
    let Some(block) = invocation.block else {
        let mut texts = Vec::new();
        for item in items {
            let text = item.print().into_owned();
            invocation.renderer.make(text.len())?;
            texts.push(text);
        }
        return Ok(texts);
    };
    let items = items.into_iter().map(|item| (None, item)).collect();
    let mut texts = Vec::new();
    invocation
        .renderer
        .render_each(items, block, |text| texts.push(text))?;
    Ok(texts)
}
