//! `truncateDate moment 'first day of month'`.

use super::{Failure, Helper, Invocation, Outcome};
use crate::java::date_time::Truncation;
use crate::template::value::Value;
use std::rc::Rc;

pub(super) const HELPERS: &[Helper] = &[Helper::new("truncateDate", truncate)];

fn truncate<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let Value::Moment(moment, format) = invocation.argument(0) else {
        return Err(Failure::Own("the first argument is no date".to_owned()));
    };
    let truncation = Truncation::parse(&invocation.text(1, "the truncation")?)?;
    let truncated = truncation.apply(&moment);
    let truncated = truncated.ok_or_else(|| Failure::Own("beyond the calendar".to_owned()))?;
    Ok(Value::Moment(Rc::new(truncated), format))
}
