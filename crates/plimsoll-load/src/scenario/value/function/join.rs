//! `join(a, b, …)`: its arguments one after the other, without anything between them.

use super::{Arguments, Function};
use crate::scenario::value::Value;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Join {
    pub(super) joined: Value,
}

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    let count = arguments.count(1, 32, "join(first, second, …)")?;
    let values: Result<Vec<Value>, String> =
        (0..count).map(|index| arguments.value(index)).collect();
    Ok(Function::Join(Join {
        joined: Value::join(values?),
    }))
}
