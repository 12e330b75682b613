//! `{{#each list}}…{{else}}…{{/each}}`: the block for each item of a list, or each entry of a map.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("each", each)];

fn each<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let block = invocation.block;
    let block = block.ok_or_else(|| Failure::Own("it needs a block".to_owned()))?;
    let value = invocation.argument(0);
    let has_variables = !invocation.renderer.scopes.model().variables.is_empty();
    let items = match value {
        Value::Path(path) if has_variables => Some(pieces(path)),
        _ => value.items(),
    };
    let items: Vec<_> = match (items, value.entries()) {
        (Some(items), _) => items.into_iter().map(|item| (None, item)).collect(),
        (_, Some(entries)) => entries
            .into_iter()
            .map(|(key, value)| (Some(key), value))
            .collect(),
        _ => Vec::new(),
    };
    if items.is_empty() {
        return Ok(Value::text(invocation.renderer.render(&block.otherwise)?));
    }
    let mut out = String::new();
    invocation
        .renderer
        .render_each(items, block, |text| out.push_str(&text))?;
    Ok(Value::text(out))
}

/// The pieces of the path of a stub with a path template, as WireMock iterates over it: texts before, between and after its slashes, but for empty ends.
fn pieces<'a>(path: &'a str) -> Vec<Value<'a>> {
    match path.trim_end_matches('/') {
        "" => Vec::new(),
        path => path
            .split('/')
            .map(|piece| Value::Text(piece.into()))
            .collect(),
    }
}
