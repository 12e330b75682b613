//! `size value`: characters of a text, items of a list, entries of a map.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("size", size)];

fn size<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    match invocation.argument(0) {
        Value::Nothing => Err(Failure::Own("there is nothing to measure".to_owned())),
        Value::Integer(_) | Value::Decimal(_) | Value::Bool(_) | Value::Moment(..) => {
            Ok(Value::Nothing)
        }
        value => {
            let size = invocation.renderer.scopes.model().size(&value);
            Ok(i64::try_from(size).map_or(Value::Nothing, Value::Integer))
        }
    }
}
