//! `lookup value name`: a property, or an item by its index, whose name is itself a value.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("lookup", lookup)];

fn lookup<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let name = invocation.text(1, "the name")?;
    let value = invocation.argument(0);
    let found = invocation.renderer.scopes.model().member(&value, &name);
    Ok(found.unwrap_or(Value::Nothing))
}
