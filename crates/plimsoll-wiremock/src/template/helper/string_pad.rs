//! `center`, `ljust`, `rjust` with `size=` and `pad=`: a text in the middle, at the left, at the right.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

/// Characters of a padded text.
const LONGEST: i64 = 1_000_000;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("center", |i| pad(i, |missing| missing / 2)),
    Helper::new("ljust", |i| pad(i, |_| 0)),
    Helper::new("rjust", |i| pad(i, |missing| missing)),
];

/// `left` says how much of what is missing stands before the text.
fn pad<'a>(invocation: Invocation<'_, 'a>, left: fn(usize) -> usize) -> Outcome<'a> {
    let text = invocation.argument(0).print().into_owned();
    let size = invocation.option("size");
    let size = integer(size.ok_or_else(|| Failure::Own("`size` is missing".to_owned()))?)?;
    if size > LONGEST {
        return Err(Failure::Own(format!("`size` is at most {LONGEST}")));
    }
    let padding = invocation.option("pad").map(|pad| pad.print().into_owned());
    let padding = padding.unwrap_or_else(|| " ".to_owned());
    let size = usize::try_from(size).unwrap_or(0);
    let missing = size.saturating_sub(text.chars().count());
    invocation.renderer.make(missing)?;
    let before = left(missing);
    let fill = |count| padding.chars().cycle().take(count).collect::<String>();
    Ok(Value::text(format!(
        "{}{text}{}",
        fill(before),
        fill(missing - before)
    )))
}
