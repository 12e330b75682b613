//! `eq`, `neq`, `gt`, `gte`, `lt`, `lte`: a truth, the texts of `yes=` and `no=`, or a block that is taken or not.
//!
//! As in Java, things of different kinds are never equal: not 1 and "1", and not a text and what a request has several of.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;
use std::cmp::Ordering;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("eq", |invocation| answer(invocation, equal)),
    Helper::new("neq", |invocation| answer(invocation, |a, b| !equal(a, b))),
    Helper::new("gt", |invocation| ordered(invocation, Ordering::is_gt)),
    Helper::new("gte", |invocation| ordered(invocation, Ordering::is_ge)),
    Helper::new("lt", |invocation| ordered(invocation, Ordering::is_lt)),
    Helper::new("lte", |invocation| ordered(invocation, Ordering::is_le)),
];

fn ordered<'a>(invocation: Invocation<'_, 'a>, holds: fn(Ordering) -> bool) -> Outcome<'a> {
    answer(invocation, |a, b| compare(a, b).is_some_and(holds))
}

fn answer<'a>(
    invocation: Invocation<'_, 'a>,
    holds: impl FnOnce(&Value<'a>, &Value<'a>) -> bool,
) -> Outcome<'a> {
    let says = holds(&invocation.argument(0), &invocation.argument(1));
    let word = if says { "yes" } else { "no" };
    match (invocation.block, invocation.option(word)) {
        (None, Some(text)) => Ok(text.clone()),
        _ => invocation.decide(says),
    }
}

fn equal(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Nothing, Value::Nothing) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Integer(a), Value::Integer(b)) => a == b,
        (Value::Decimal(a), Value::Decimal(b)) => a == b,
        (Value::Shown(a), Value::Shown(b)) => a == b,
        (Value::Several(a), Value::Several(b)) => a == b,
        (Value::Path(a), Value::Path(b)) => a == b,
        (Value::Text(_) | Value::Body(_), Value::Text(_) | Value::Body(_)) => {
            one.print() == other.print()
        }
        (Value::Json(a, _), Value::Json(b, _)) => a == b,
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
            one.to_json() == other.to_json()
        }
        _ => false,
    }
}

fn compare(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Decimal(a), Value::Decimal(b)) => a.partial_cmp(b),
        (Value::Integer(a), Value::Decimal(b)) => (*a as f64).partial_cmp(b),
        (Value::Decimal(a), Value::Integer(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}
