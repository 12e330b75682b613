//! `{{#with value}}…{{else}}…{{/with}}`: the block about a value.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::render::scope::Scope;
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("with", with)];

fn with<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let block = invocation.block;
    let block = block.ok_or_else(|| Failure::Own("it needs a block".to_owned()))?;
    let value = invocation.argument(0);
    if !value.is_truthy() {
        return Ok(Value::text(invocation.renderer.render(&block.otherwise)?));
    }
    let names = block
        .names
        .first()
        .map(|name| (name.as_str(), value.clone()));
    let scope = Scope {
        this: value,
        names: names.into_iter().collect(),
        turn: None,
    };
    Ok(Value::text(invocation.body(block, scope)?))
}
