//! `arrayAdd list item position=` and `arrayRemove list position=`: a list with one item more or less; at its end unless said otherwise.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

/// Items that are copied in one step.
const ITEMS_A_STEP: usize = 8;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("arrayAdd", add),
    Helper::new("arrayRemove", remove),
];

fn add<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let mut items = items(&invocation)?;
    let position = position(&invocation, items.len())?;
    if position > items.len() {
        return Err(Failure::Own(format!("{position} is beyond the list")));
    }
    items.insert(position, invocation.argument(1));
    Ok(Value::List(items.into()))
}

fn remove<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let mut items = items(&invocation)?;
    let last = items.len().checked_sub(1);
    let last = last.ok_or_else(|| Failure::Own("the list is empty".to_owned()))?;
    let position = position(&invocation, last)?;
    if position > last {
        return Err(Failure::Own(format!("{position} is beyond the list")));
    }
    items.remove(position);
    Ok(Value::List(items.into()))
}

fn items<'a>(invocation: &Invocation<'_, 'a>) -> Result<Vec<Value<'a>>, Failure> {
    let items = invocation.argument(0).items();
    let copied = items.as_ref().map_or(0, Vec::len);
    invocation.renderer.step(copied / ITEMS_A_STEP)?;
    items.ok_or_else(|| Failure::Own("the first argument is not a list".to_owned()))
}

fn position(invocation: &Invocation<'_, '_>, end: usize) -> Result<usize, Failure> {
    match invocation.option("position") {
        None => Ok(end),
        Some(value) => match &*value.print() {
            "start" => Ok(0),
            "end" => Ok(end),
            other => {
                let position = integer(value)?;
                usize::try_from(position)
                    .map_err(|_| Failure::Own(format!("`{other}` is not a position")))
            }
        },
    }
}
