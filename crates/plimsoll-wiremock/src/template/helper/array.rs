//! `array a b …`: a list. `range from to`: the whole numbers from one to another.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

/// Numbers of one range.
const LONGEST: i64 = 50_000;

pub(super) const HELPERS: &[Helper] = &[Helper::new("array", array), Helper::new("range", range)];

fn array<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    Ok(Value::List(invocation.arguments.into()))
}

fn range<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let (from, to) = (
        integer(&invocation.argument(0))?,
        integer(&invocation.argument(1))?,
    );
    if to < from || to - from >= LONGEST {
        let message = format!("{from} to {to} is no range of at most {LONGEST} numbers");
        return Err(Failure::Own(message));
    }
    Ok(Value::List((from..=to).map(Value::Integer).collect()))
}
