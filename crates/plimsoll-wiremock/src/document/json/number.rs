//! A number of a JSON document.

use serde_json::Value;
use std::fmt;

/// Natural or negative where it is written whole and has room in 64 bits, else the nearest double: as serde_json has it, whose own cannot be copied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Natural(u64),
    Negative(i64),
    /// A finite one; [`Number::double`] sees to it.
    Double(f64),
}

impl Number {
    /// A double; `None` for one that is infinite or no number, which JSON cannot write.
    pub fn double(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self::Double(number))
    }

    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "it is the nearest")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Natural(number) => number as f64,
            Self::Negative(number) => number as f64,
            Self::Double(number) => number,
        }
    }

    /// Whether both are one number, as `1`, `1.0` and `1e0` are. Where one of them is a double, the nearest doubles are compared.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Natural(one), Self::Natural(other)) => one == other,
            (Self::Negative(one), Self::Negative(other)) => one == other,
            (Self::Natural(_), Self::Negative(_)) | (Self::Negative(_), Self::Natural(_)) => false,
            _ => self.as_f64() == other.as_f64(),
        }
    }
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        let whole = number.as_u64().map(Self::Natural);
        let whole = whole.or_else(|| number.as_i64().map(Self::Negative));
        whole.unwrap_or_else(|| {
            Self::Double(number.as_f64().expect("what is not whole is a double"))
        })
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Natural(number) => number.into(),
            Number::Negative(number) => number.into(),
            Number::Double(number) => number.into(),
        }
    }
}

/// As serde_json prints it.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_is_printed_and_compared_as_serde_json_has_it() {
        let numbers = [
            json!(0),
            json!(-0.0),
            json!(1),
            json!(1.0),
            json!(-1),
            json!(-1.0),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e300),
            json!(1.5e-7),
            json!(9_007_199_254_740_993_u64),
        ];
        let number = |value: &Value| Number::from(value.as_number().unwrap());
        for one in &numbers {
            assert_eq!(Value::from(number(one)), *one);
            assert_eq!(number(one).to_string(), one.to_string());
            assert_eq!(Some(number(one).as_f64()), one.as_f64(), "{one}");
            for other in &numbers {
                assert_eq!(number(one) == number(other), one == other, "{one}, {other}");
            }
        }
    }

    #[test]
    fn one_number_may_be_written_in_several_ways() {
        use Number::{Double, Natural, Negative};
        let check = |one: Number, other: Number, same: bool| {
            assert_eq!(one.is_same(other), same, "{one:?}, {other:?}");
            assert_eq!(other.is_same(one), same, "{other:?}, {one:?}");
        };
        check(Natural(1), Double(1.0), true);
        check(Natural(1), Natural(1), true);
        check(Natural(0), Double(-0.0), true);
        check(Negative(-1), Double(-1.0), true);
        check(Natural(1), Negative(-1), false);
        check(Natural(u64::MAX), Natural(u64::MAX - 1), false);
        check(
            Natural(u64::MAX),
            Double(18_446_744_073_709_551_616.0),
            true,
        );
        check(Double(0.1), Double(0.1), true);
        check(Double(0.1), Double(0.2), false);
    }
}
