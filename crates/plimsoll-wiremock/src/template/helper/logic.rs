//! `if`, `unless`: blocks. `and`, `or`, `not`: truths, or blocks.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("if", |invocation| branch(invocation, true)),
    Helper::new("unless", |invocation| branch(invocation, false)),
    Helper::new("and", |invocation| {
        let says = invocation.arguments.iter().all(Value::is_truthy);
        invocation.decide(says)
    }),
    Helper::new("or", |invocation| {
        let says = invocation.arguments.iter().any(Value::is_truthy);
        invocation.decide(says)
    }),
    Helper::new("not", |invocation| {
        let says = !invocation.argument(0).is_truthy();
        invocation.decide(says)
    }),
];

fn branch<'a>(invocation: Invocation<'_, 'a>, wanted: bool) -> Outcome<'a> {
    if invocation.block.is_none() {
        return Err(Failure::Own("it needs a block".to_owned()));
    }
    let says = invocation.argument(0).is_truthy() == wanted;
    invocation.decide(says)
}
