//! `pickRandom a b …`, or of one list.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("pickRandom", pick)];

fn pick<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let choices = match &*invocation.arguments {
        [list] => list.items().unwrap_or_else(|| vec![list.clone()]),
        several => several.to_vec(),
    };
    if choices.is_empty() {
        return Err(Failure::Own("there is nothing to pick from".to_owned()));
    }
    let mut draw = invocation.renderer.scopes.model().draw.borrow_mut();
    let index = draw.below(choices.len() as u64);
    let picked = usize::try_from(index)
        .ok()
        .and_then(|index| choices.get(index));
    Ok(picked.cloned().unwrap_or(Value::Nothing))
}
