//! `numberFormat number format …`: Java's `DecimalFormat` for the language and customs of the United States: `integer`, `percent`, `currency`, a pattern such as `#,##0.00`, and the
//! options `groupingUsed`, `maximumFractionDigits`, `minimumFractionDigits`, `maximumIntegerDigits`, `minimumIntegerDigits`, `roundingMode`.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

/// Digits that options may ask for.
const MOST_DIGITS: usize = 340;

pub(super) const HELPERS: &[Helper] = &[Helper::new("numberFormat", number_format)];

/// How what is left over of a number moves its last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Up,
    Down,
    Ceiling,
    Floor,
    HalfUp,
    HalfDown,
    HalfEven,
}

/// A format.
#[derive(Debug, Clone)]
struct Format {
    prefix: String,
    suffix: String,
    /// Digits between separators; none without.
    group: Option<usize>,
    whole: (usize, usize),
    fraction: (usize, usize),
    /// By how many places the point moves to the right.
    shift: usize,
    rounding: Rounding,
}

fn number_format<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.argument(0);
    let text = match &subject {
        Value::Integer(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        // What is no number gives the format's name, as in WireMock.
        _ => return Ok(invocation.argument(1)),
    };
    let name = invocation.argument(1).print().into_owned();
    let mut format = Format::of(&name).map_err(Failure::Own)?;
    format.change(&invocation)?;
    Ok(Value::text(format.show(&text)))
}

impl Format {
    fn of(name: &str) -> Result<Self, String> {
        let plain = Self {
            prefix: String::new(),
            suffix: String::new(),
            group: Some(3),
            whole: (1, usize::MAX),
            fraction: (0, 3),
            shift: 0,
            rounding: Rounding::HalfEven,
        };
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "" | "default" => plain,
            "integer" => Self {
                fraction: (0, 0),
                ..plain
            },
            "percent" => Self {
                suffix: "%".to_owned(),
                fraction: (0, 0),
                shift: 2,
                ..plain
            },
            "currency" => Self {
                prefix: "$".to_owned(),
                fraction: (2, 2),
                ..plain
            },
            _ => Self {
                group: None,
                ..plain
            }
            .pattern(name)?,
        })
    }

    /// A pattern of `#`, `0`, `,` and `.`, with what stands before and after it; only the part for positive numbers counts.
    fn pattern(mut self, text: &str) -> Result<Self, String> {
        let text = text.split(';').next().unwrap_or(text);
        let is_digit = |c: char| "#0,.".contains(c);
        let start = text.find(is_digit).unwrap_or(text.len());
        let digits = &text[start..];
        let end = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
        let (digits, after) = digits.split_at(end);
        if after.contains(is_digit) || after.starts_with('E') {
            return Err(format!("`{text}` is no pattern that is available"));
        }
        let literal = |text: &str| text.replace('\'', "");
        (self.prefix, self.suffix) = (literal(&text[..start]), literal(after));
        self.shift = if text.contains('%') { 2 } else { 0 };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        self.group = whole
            .rfind(',')
            .map(|comma| whole.len() - comma - 1)
            .filter(|group| *group > 0);
        let zeros = |text: &str| text.bytes().filter(|byte| *byte == b'0').count();
        // As Java has it: without any `0`, one digit stands before the point.
        let bare = digits.contains('.') && zeros(digits) == 0;
        self.whole.0 = zeros(whole).max(usize::from(bare));
        self.fraction = (zeros(fraction), fraction.len());
        Ok(self)
    }

    fn change(&mut self, invocation: &Invocation<'_, '_>) -> Result<(), Failure> {
        let digits = |name| {
            let given = invocation.option(name).map(integer).transpose()?;
            Ok::<_, Failure>(
                given.map(|count| usize::try_from(count).unwrap_or(0).min(MOST_DIGITS)),
            )
        };
        if let Some(Value::Bool(false)) = invocation.option("groupingUsed") {
            self.group = None;
        } else if let Some(Value::Bool(true)) = invocation.option("groupingUsed") {
            self.group = self.group.or(Some(3));
        }
        if let Some(most) = digits("maximumFractionDigits")? {
            self.fraction = (self.fraction.0.min(most), most);
        }
        if let Some(most) = digits("maximumIntegerDigits")? {
            self.whole = (self.whole.0.min(most), most);
        }
        if let Some(least) = digits("minimumFractionDigits")? {
            self.fraction = (least, self.fraction.1.max(least));
        }
        if let Some(least) = digits("minimumIntegerDigits")? {
            self.whole = (least, self.whole.1.max(least));
        }
        if let Some(mode) = invocation.option("roundingMode") {
            self.rounding = rounding(&mode.print())?;
        }
        Ok(())
    }

    fn show(&self, number: &str) -> String {
        let shifted = moved(number, self.shift);
        let text = rounded(&shifted, self.fraction.1, self.rounding);
        let (sign, unsigned) = text
            .strip_prefix('-')
            .map_or(("", &*text), |unsigned| ("-", unsigned));
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let fraction = fraction.trim_end_matches('0');
        let fraction = format!("{fraction:0<0$}", self.fraction.0);
        let whole = whole.trim_start_matches('0');
        let whole = &whole[whole.len().saturating_sub(self.whole.1)..];
        let mut whole = format!("{whole:0>0$}", self.whole.0);
        if whole.is_empty() && fraction.is_empty() {
            whole.push('0');
        }
        if let Some(size) = self.group {
            whole = grouped(&whole, size);
        }
        let point = if fraction.is_empty() { "" } else { "." };
        format!(
            "{sign}{}{whole}{point}{fraction}{}",
            self.prefix, self.suffix
        )
    }
}

fn rounding(name: &str) -> Result<Rounding, Failure> {
    Ok(match name.trim().to_ascii_lowercase().as_str() {
        "up" => Rounding::Up,
        "down" => Rounding::Down,
        "ceiling" => Rounding::Ceiling,
        "floor" => Rounding::Floor,
        "half_up" => Rounding::HalfUp,
        "half_down" => Rounding::HalfDown,
        "half_even" => Rounding::HalfEven,
        other => return Err(Failure::Own(format!("`{other}` is no rounding"))),
    })
}

/// A decimal number with its point so many places further right.
fn moved(number: &str, places: usize) -> String {
    if places == 0 {
        return number.to_owned();
    }
    let (sign, unsigned) = number
        .strip_prefix('-')
        .map_or(("", number), |unsigned| ("-", unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let fraction = format!("{fraction:0<places$}");
    format!(
        "{sign}{whole}{}.{}",
        &fraction[..places],
        &fraction[places..]
    )
}

/// A decimal number with at most, and padded to, so many digits after the point.
pub(super) fn rounded(number: &str, digits: usize, rounding: Rounding) -> String {
    let (sign, unsigned) = number
        .strip_prefix('-')
        .map_or(("", number), |unsigned| ("-", unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let kept: String = fraction
        .chars()
        .chain(std::iter::repeat('0'))
        .take(digits)
        .collect();
    let rest = fraction.get(digits..).unwrap_or("").trim_end_matches('0');
    let mut all: Vec<u8> = format!("0{whole}{kept}").into_bytes();
    let is_odd = all.last().is_some_and(|digit| (digit - b'0') % 2 == 1);
    let half = rest.cmp("5");
    let up = !rest.is_empty()
        && match rounding {
            Rounding::Up => true,
            Rounding::Down => false,
            Rounding::Ceiling => sign.is_empty(),
            Rounding::Floor => !sign.is_empty(),
            Rounding::HalfUp => half.is_ge(),
            Rounding::HalfDown => half.is_gt(),
            Rounding::HalfEven => half.is_gt() || (half.is_eq() && is_odd),
        };
    if up {
        for digit in all.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
    }
    let text: String = all.into_iter().map(char::from).collect();
    let (whole, fraction) = text.split_at(text.len() - digits);
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let point = if digits == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// The digits before the point in groups.
pub(super) fn grouped(number: &str, size: usize) -> String {
    let (whole, fraction) = number
        .split_once('.')
        .map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(size) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        for (name, number, expected) in [
            ("", "1234.5678", "1,234.568"),
            ("", "1234567", "1,234,567"),
            ("integer", "1234.5", "1,234"),
            ("percent", "0.256", "26%"),
            ("currency", "-1.5", "-$1.50"),
            ("#,##0.00", "1234.5", "1,234.50"),
            ("0.0", "0.25", "0.2"),
            ("000", "7", "007"),
            ("#.##", "0.5", "0.5"),
            ("#0.# kg", "12.34", "12.3 kg"),
            ("0%", "0.5", "50%"),
        ] {
            assert_eq!(
                Format::of(name).unwrap().show(number),
                expected,
                "{name} of {number}"
            );
        }
    }

    #[test]
    fn numbers_are_rounded() {
        for (number, digits, rounding, expected) in [
            ("0.5", 0, Rounding::HalfEven, "0"),
            ("1.5", 0, Rounding::HalfEven, "2"),
            ("9.99", 1, Rounding::HalfUp, "10.0"),
            ("-0.5", 0, Rounding::HalfUp, "-1"),
            ("-1.1", 0, Rounding::Floor, "-2"),
            ("1.1", 0, Rounding::Ceiling, "2"),
            ("1.9", 0, Rounding::Down, "1"),
            ("1", 2, Rounding::Up, "1.00"),
        ] {
            assert_eq!(rounded(number, digits, rounding), expected, "{number}");
        }
    }
}
