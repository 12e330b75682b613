//! Filters `[?( … )]`: comparisons of values, whether places exist, and, or, not.
//!
//! A value that is not there is equal to nothing and unequal to everything. Numbers and texts of numbers compare as Jayway has it.

use super::{JsonFound, JsonPath, Walk};
use crate::budget::TooCostly;
use crate::document::json::Json;
use crate::java::regex::JavaRegex;
use bumpalo::Bump;
use serde_json::Value;

/// A predicate on one value.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    Or(Vec<Filter>),
    And(Vec<Filter>),
    Not(Box<Filter>),
    Exists(Operand),
    Compare(Operand, Comparison, Operand),
    Matches(Operand, JavaRegex),
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Literal(Value),
    /// A path from the value that is filtered.
    Here(JsonPath),
    /// A path from the whole document.
    Root(JsonPath),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Contains,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

/// The comparisons by their signs; a sign that begins another one comes after it.
pub(super) const COMPARISONS: &[(&str, Comparison)] = &[
    ("===", Comparison::Equal),
    ("!==", Comparison::Unequal),
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("subsetof", Comparison::SubsetOf),
    ("contains", Comparison::Contains),
    ("noneof", Comparison::NoneOf),
    ("anyof", Comparison::AnyOf),
    ("empty", Comparison::Empty),
    ("size", Comparison::Size),
    ("nin", Comparison::NotIn),
    ("in", Comparison::In),
];

impl Filter {
    /// Whether `value`, a part of `root`, is kept.
    pub(super) fn accepts(&self, value: &Json<'_>, walk: &Walk<'_>) -> Result<bool, TooCostly> {
        walk.budget.spend(1)?;
        match self {
            Self::Or(filters) => any(filters, value, walk, true),
            Self::And(filters) => any(filters, value, walk, false).map(|failed| !failed),
            Self::Not(filter) => Ok(!filter.accepts(value, walk)?),
            Self::Exists(operand) => {
                let arena = Bump::new();
                Ok(operand.value(value, walk, &arena)?.is_some())
            }
            Self::Compare(left, comparison, right) => {
                let arena = Bump::new();
                let left = left.value(value, walk, &arena)?;
                let right = right.value(value, walk, &arena)?;
                walk.budget
                    .spend(comparison.steps(left.as_ref(), right.as_ref()))?;
                Ok(comparison.holds(left.as_ref(), right.as_ref()))
            }
            Self::Matches(operand, regex) => match operand.value(value, walk, &Bump::new())? {
                Some(Json::String(text)) => {
                    walk.budget.spend(text.len())?;
                    regex.matches(text)
                }
                Some(scalar @ (Json::Number(_) | Json::Bool(_))) => {
                    regex.matches(&scalar.to_value().to_string())
                }
                _ => Ok(false),
            },
        }
    }
}

/// Whether any filter's answer is `wanted`.
fn any(
    filters: &[Filter],
    value: &Json<'_>,
    walk: &Walk<'_>,
    wanted: bool,
) -> Result<bool, TooCostly> {
    for filter in filters {
        if filter.accepts(value, walk)? == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Operand {
    /// Its value; `None` where its path leads nowhere.
    fn value<'v>(
        &'v self,
        here: &'v Json<'v>,
        walk: &Walk<'v>,
        arena: &'v Bump,
    ) -> Result<Option<Json<'v>>, TooCostly> {
        let found = match self {
            Self::Literal(value) => return Ok(Some(Json::of(value, arena))),
            Self::Here(path) => path.find_from(here, walk, arena)?,
            Self::Root(path) => path.find_from(walk.root, walk, arena)?,
        };
        Ok(match found {
            JsonFound::Nothing => None,
            JsonFound::One(value) => Some(*value),
            JsonFound::Many(values) => {
                walk.budget.spend(values.len())?;
                let values = values.into_iter().cloned();
                Some(Json::Array(arena.alloc_slice_fill_iter(values)))
            }
        })
    }
}

/// How many bytes of texts are compared in a step.
const BYTES_A_STEP: usize = 16;

impl Comparison {
    /// How many steps it takes at the most.
    fn steps(self, left: Option<&Json<'_>>, right: Option<&Json<'_>>) -> usize {
        let (Some(left), Some(right)) = (left, right) else {
            return 0;
        };
        let width = |value: &Json<'_>| match value {
            Json::String(text) => text.len() / BYTES_A_STEP,
            Json::Array(items) => items.len(),
            Json::Object(members) => members.len(),
            _ => 0,
        };
        match (self, left, right) {
            (
                Self::SubsetOf | Self::AnyOf | Self::NoneOf,
                Json::Array(left),
                Json::Array(right),
            ) => left.len().saturating_mul(right.len()),
            _ => width(left) + width(right),
        }
    }

    fn holds(self, left: Option<&Json<'_>>, right: Option<&Json<'_>>) -> bool {
        let (Some(left), Some(right)) = (left, right) else {
            return self == Self::Unequal || self == Self::NotIn && left.is_none();
        };
        match self {
            Self::Equal => equal(left, right),
            Self::Unequal => !equal(left, right),
            Self::Less => ordered(left, right, |order| order < 0),
            Self::LessOrEqual => ordered(left, right, |order| order <= 0),
            Self::Greater => ordered(left, right, |order| order > 0),
            Self::GreaterOrEqual => ordered(left, right, |order| order >= 0),
            Self::In => has(right, left),
            Self::NotIn => !has(right, left),
            Self::Contains => match (left, right) {
                (Json::String(text), Json::String(part)) => text.contains(part),
                _ => has(left, right),
            },
            Self::Size => right
                .as_u64()
                .is_some_and(|size| length(left) == Some(size)),
            Self::Empty => {
                let empty = length(left).map(|length| length == 0);
                empty.is_some() && empty == right.as_bool()
            }
            Self::SubsetOf => items(left).is_some_and(|items| items.iter().all(|i| has(right, i))),
            Self::AnyOf => items(left).is_some_and(|items| items.iter().any(|i| has(right, i))),
            Self::NoneOf => items(left).is_some_and(|items| !items.iter().any(|i| has(right, i))),
        }
    }
}

fn items<'v>(value: &Json<'v>) -> Option<&'v [Json<'v>]> {
    value.as_array()
}

fn has(list: &Json<'_>, wanted: &Json<'_>) -> bool {
    items(list).is_some_and(|items| items.iter().any(|item| equal(item, wanted)))
}

fn length(value: &Json<'_>) -> Option<u64> {
    let length = match value {
        Json::String(text) => text.chars().count(),
        Json::Array(items) => items.len(),
        Json::Object(map) => map.len(),
        _ => return None,
    };
    u64::try_from(length).ok()
}

fn equal(left: &Json<'_>, right: &Json<'_>) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left.is_same(*right),
        (Json::Number(left), Json::String(right)) => right.parse() == Ok(left.as_f64()),
        (Json::String(left), Json::Number(right)) => *left == right.to_string(),
        _ => left == right,
    }
}

/// Whether both are numbers or both texts, in an order that `accepts` takes.
fn ordered(left: &Json<'_>, right: &Json<'_>, accepts: fn(i8) -> bool) -> bool {
    let order = match (left, right) {
        (Json::Number(left), Json::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        _ => None,
    };
    order.is_some_and(|order| accepts(order as i8))
}
