//! `{{#assign 'name'}}…{{/assign}}`: the text of the block as a value.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("assign", assign)];

fn assign<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let name = invocation.text(0, "the name")?;
    let value = match invocation.block {
        Some(block) => {
            let scope = invocation.here();
            Value::text(invocation.body(block, scope)?)
        }
        None => invocation.argument(1),
    };
    invocation.renderer.scopes.assign(&name, value);
    Ok(Value::Nothing)
}
