//! `val value or= default= assign=`: a value, or another where it is nothing; given, or assigned to a name.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("val", val)];

fn val<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let value = invocation.subject()?;
    let other = invocation.option("or");
    let other = other.or_else(|| invocation.option("default"));
    let value = match (value, other) {
        (Value::Nothing, Some(other)) => other.clone(),
        (value, _) => value,
    };
    let name = invocation
        .option("assign")
        .map(|name| name.print().into_owned());
    let Some(name) = name else {
        return Ok(value);
    };
    invocation.renderer.scopes.assign(&name, value);
    Ok(Value::Nothing)
}
