//! `randomInt lower= upper=` and `randomDecimal lower= upper=`; the upper bound is not reached.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("randomInt", whole),
    Helper::new("randomDecimal", decimal),
];

fn whole<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let bound = |name, default: i32| {
        let bound = invocation.option(name);
        bound.map_or(Ok(i64::from(default)), integer)
    };
    let (lower, upper) = (bound("lower", i32::MIN)?, bound("upper", i32::MAX)?);
    let width = upper.checked_sub(lower).filter(|width| *width > 0);
    let width = width.and_then(|width| u64::try_from(width).ok());
    let width = width.ok_or_else(|| Failure::Own(format!("{upper} is not above {lower}")))?;
    let drawn = invocation
        .renderer
        .scopes
        .model()
        .draw
        .borrow_mut()
        .below(width);
    let drawn = i64::try_from(drawn).map_or(lower, |drawn| lower + drawn);
    Ok(Value::Integer(drawn))
}

fn decimal<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let bound = |name, default: f64| match invocation.option(name) {
        None => Ok(default),
        Some(value) => {
            let text = value.print();
            let number = text.trim().parse().ok().filter(|n: &f64| n.is_finite());
            number.ok_or_else(|| Failure::Own(format!("`{text}` is not a number")))
        }
    };
    let (lower, upper) = (
        bound("lower", f64::MIN / 2.0)?,
        bound("upper", f64::MAX / 2.0)?,
    );
    if upper <= lower {
        return Err(Failure::Own(format!("{upper} is not above {lower}")));
    }
    let unit = invocation.renderer.scopes.model().draw.borrow_mut().unit();
    Ok(Value::Decimal((upper - lower).mul_add(unit, lower)))
}
