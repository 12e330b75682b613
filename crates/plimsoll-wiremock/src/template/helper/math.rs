//! `math a '+' b` with `+ - * / %`, in decimal digits, as Java's `BigDecimal` does it.

use super::{Failure, Helper, Invocation, Outcome, error_text};
use crate::template::value::Value;

/// Digits after the point that a number may have.
const MOST_DIGITS: u32 = 18;

pub(super) const HELPERS: &[Helper] = &[Helper::new("math", math)];

/// A number in decimal digits: `digits / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    digits: i128,
    scale: u32,
}

fn math<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    if invocation.arguments.len() != 3 {
        return Ok(error_text(
            "All maths functions require two operands and an operator as parameters e.g. 3 '+' 2",
        ));
    }
    let operand = |index| Decimal::of(&invocation.argument(index));
    let (left, right) = (operand(0), operand(2));
    let operator = invocation.text(1, "the operator")?;
    let result = match &*operator {
        "+" => left.add(right),
        "-" => left.add(Decimal {
            digits: -right.digits,
            ..right
        }),
        "*" | "x" => left.times(right),
        "/" => left.divided(right),
        "%" => left.rest(right),
        _ => {
            let message = format!("{operator} is not a valid mathematical operator");
            return Ok(error_text(&message));
        }
    };
    let result = result.and_then(Decimal::value);
    result.ok_or_else(|| Failure::Own("the result is no number that fits 64 bits".to_owned()))
}

impl Decimal {
    /// A value that is no number counts as 0, as in WireMock.
    fn of(value: &Value<'_>) -> Self {
        let zero = Self {
            digits: 0,
            scale: 0,
        };
        Self::parse(value.print().trim()).unwrap_or(zero)
    }

    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = u32::try_from(fraction.len()).ok()?;
        if scale > MOST_DIGITS || fraction.starts_with(['+', '-']) {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, scale })
    }

    /// Both with the scale of the finer one.
    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let grown = |number: Self| number.digits.checked_mul(ten_to(scale - number.scale)?);
        Some((grown(self)?, grown(other)?, scale))
    }

    fn add(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        let digits = left.checked_add(right)?;
        Some(Self { digits, scale })
    }

    fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let scale = self.scale + other.scale;
        Some(Self { digits, scale })
    }

    /// With the scale of the dividend, a half rounded away from zero.
    fn divided(self, other: Self) -> Option<Self> {
        let numerator = self.digits.checked_mul(ten_to(other.scale)?)?;
        let quotient = numerator.checked_div(other.digits)?;
        let rest = numerator.checked_rem(other.digits)?.unsigned_abs();
        let away = if (numerator < 0) == (other.digits < 0) {
            1
        } else {
            -1
        };
        let rounds = rest >= other.digits.unsigned_abs() - rest;
        Some(Self {
            digits: quotient + if rounds { away } else { 0 },
            scale: self.scale,
        })
    }

    fn rest(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        let digits = left.checked_rem(right)?;
        Some(Self { digits, scale })
    }

    /// Whole if it has no digits after the point.
    fn value<'a>(self) -> Option<Value<'a>> {
        if self.scale == 0 {
            return i64::try_from(self.digits).ok().map(Value::Integer);
        }
        let sign = if self.digits < 0 { "-" } else { "" };
        let one = ten_to(self.scale)?.unsigned_abs();
        let (whole, fraction) = (
            self.digits.unsigned_abs() / one,
            self.digits.unsigned_abs() % one,
        );
        let width = usize::try_from(self.scale).ok()?;
        let text = format!("{sign}{whole}.{fraction:0width$}");
        text.parse().ok().map(Value::Decimal)
    }
}

fn ten_to(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}
