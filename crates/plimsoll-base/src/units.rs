//! Quantities with units as people write them: `250ms`, `3m`, `5000/s`, `0.1%`, `10KiB`.
//!
//! Parsing is strict (a number without its unit is refused, and the message says what to write instead);
//! the formatting functions are the only ones that outputs for people use.

use std::fmt;
use std::time::Duration;

/// Why a quantity was refused. The text is written for the author of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a finite, non-negative number followed by a unit.
    #[error("`{text}` is not a {kind}: write {example}")]
    Malformed {
        /// The text as it was written.
        text: String,
        /// The kind of text that was expected, in words.
        kind: &'static str,
        /// An example of a valid spelling.
        example: &'static str,
    },
    /// A number whose unit is missing.
    #[error("`{text}` has no unit: write {example}")]
    NoUnit {
        /// The text as it was written.
        text: String,
        /// An example of a valid spelling.
        example: &'static str,
    },
}

/// Parses a duration: a number and one of `ns`, `us`, `µs`, `ms`, `s`, `m`, `h`; parts may be joined (`1m30s`). A bare `0` is allowed.
///
/// # Errors
/// [`UnitError`] for anything else, and for durations of more than 10,000 hours.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    const EXAMPLE: &str = "`250ms`, `2s` or `1m30s`";
    let malformed = || UnitError::Malformed {
        text: text.to_owned(),
        kind: "duration",
        example: EXAMPLE,
    };
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, after) = split_number(rest).ok_or_else(malformed)?;
        let end = after
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        seconds += number
            * match unit {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "" => {
                    return Err(UnitError::NoUnit {
                        text: text.to_owned(),
                        example: EXAMPLE,
                    });
                }
                _ => return Err(malformed()),
            };
        rest = next;
    }
    if text.is_empty() || seconds > 3.6e7 {
        return Err(malformed());
    }
    // Round to the nanosecond: 0.1 + 0.2 in binary must not print as 300.000001 ms.
    Duration::try_from_secs_f64((seconds * 1e9).round() / 1e9).map_err(|_| malformed())
}

/// An arrival rate or a limit: events per second, written `5000/s`, `90/min` or `10/h`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// A rate of `value` events per second; `None` unless finite and positive.
    #[must_use]
    pub fn per_second(value: f64) -> Option<Self> {
        (value.is_finite() && value > 0.0).then_some(Self(value))
    }

    /// Events per second.
    #[must_use]
    pub fn as_per_second(self) -> f64 {
        self.0
    }

    /// Parses `5000/s`, `90/min` (or `/m`) and `10/h`.
    ///
    /// # Errors
    /// [`UnitError`] when the unit is missing or unknown, or the number is not positive.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        const EXAMPLE: &str = "`5000/s`, `90/min` or `10/h`";
        let rate = Self::per_second(parse_per_second(text, EXAMPLE)?);
        rate.ok_or_else(|| no_rate(text, EXAMPLE))
    }
}

/// Parses a rate that may be zero, where one begins or ends: `0/s`, `5000/s` or a bare `0`; the result is events per second.
///
/// # Errors
/// [`UnitError`] when the unit is missing or unknown, or the number is negative.
pub fn parse_edge_rate(text: &str) -> Result<f64, UnitError> {
    const EXAMPLE: &str = "`5000/s`, `90/min` or `0/s`";
    if text == "0" {
        return Ok(0.0);
    }
    let rate = parse_per_second(text, EXAMPLE)?;
    let is_sound = rate.is_finite();
    is_sound
        .then_some(rate)
        .ok_or_else(|| no_rate(text, EXAMPLE))
}

/// A number and its unit, as so many per second.
fn parse_per_second(text: &str, example: &'static str) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text).ok_or_else(|| no_rate(text, example))?;
    let scale = match unit {
        "/s" => 1.0,
        "/m" | "/min" => 1.0 / 60.0,
        "/h" => 1.0 / 3600.0,
        "" => {
            return Err(UnitError::NoUnit {
                text: text.to_owned(),
                example,
            });
        }
        _ => return Err(no_rate(text, example)),
    };
    Ok(number * scale)
}

fn no_rate(text: &str, example: &'static str) -> UnitError {
    UnitError::Malformed {
        text: text.to_owned(),
        kind: "rate",
        example,
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", trim_zeros(&format!("{:.3}", self.0)))
    }
}

/// Parses a share, written `0.1%` or as a plain fraction `0.001`; the result is the fraction, 0 to 1.
///
/// # Errors
/// [`UnitError`] when it is not a number or lies outside 0 to 1 (0 % to 100 %).
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let malformed = || UnitError::Malformed {
        text: text.to_owned(),
        kind: "share",
        example: "`0.1%` or `0.001`",
    };
    let (number, unit) = split_number(text).ok_or_else(malformed)?;
    let share = match unit {
        "%" => number / 100.0,
        "" => number,
        _ => return Err(malformed()),
    };
    (share <= 1.0).then_some(share).ok_or_else(malformed)
}

/// Parses a size in bytes: `512`, `512B`, `64KiB`, `10MiB`, `1GiB`, or decimal `64KB`, `10MB`, `1GB`.
///
/// # Errors
/// [`UnitError`] when it is not a whole number of bytes below 2⁵³.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let malformed = || UnitError::Malformed {
        text: text.to_owned(),
        kind: "size",
        example: "`32KiB`, `10MB` or `512`",
    };
    let (number, unit) = split_number(text).ok_or_else(malformed)?;
    let scale = match unit {
        "" | "B" => 1.0,
        "KB" | "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(malformed()),
    };
    let bytes = number * scale;
    if bytes.fract() != 0.0 || bytes >= 9_007_199_254_740_992.0 {
        return Err(malformed());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above: whole, non-negative, below 2^53"
    )]
    Ok(bytes as u64)
}

/// Formats seconds for people with three significant digits: `1.23 ms`, `45.6 µs`, `12.0 s`. Negative values keep their sign.
#[must_use]
pub fn format_seconds(seconds: f64) -> String {
    let magnitude = seconds.abs();
    let (value, unit) = if magnitude >= 1.0 {
        (seconds, "s")
    } else if magnitude >= 1e-3 {
        (seconds * 1e3, "ms")
    } else {
        (seconds * 1e6, "µs")
    };
    format!("{} {unit}", significant(value))
}

/// Formats a count or a rate with thousands separators and at most one decimal below 100: `75,000`, `12.5`.
#[must_use]
pub fn format_number(value: f64) -> String {
    let text = if value.abs() < 100.0 {
        trim_zeros(&format!("{value:.1}"))
    } else {
        format!("{value:.0}")
    };
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits
        .find('.')
        .map_or((digits, ""), |dot| digits.split_at(dot));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{fraction}")
}

/// Formats bytes for people in binary units: `512 B`, `1.5 MiB`.
#[must_use]
pub fn format_bytes(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["B", "KiB", "MiB"] {
        if value.abs() < 1024.0 {
            return format!("{} {unit}", trim_zeros(&format!("{value:.1}")));
        }
        value /= 1024.0;
    }
    format!("{value:.2} GiB")
}

/// Three significant digits, without an exponent.
fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 100.0 || magnitude == 0.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn trim_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// Splits a leading decimal number (digits, optionally a point and digits) from what follows it.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.ends_with('.') {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |text: &str, expected: Result<u64, &str>| {
            let actual = parse_duration(text)
                .map(|d| u64::try_from(d.as_nanos()).unwrap())
                .map_err(|e| e.to_string());
            assert_eq!(actual, expected.map_err(str::to_owned), "{text}");
        };
        check("250ms", Ok(250_000_000));
        check("1m30s", Ok(90_000_000_000));
        check("0.2s", Ok(200_000_000));
        check("200us", Ok(200_000));
        check("200µs", Ok(200_000));
        check("0", Ok(0));
        check("5", Err("`5` has no unit: write `250ms`, `2s` or `1m30s`"));
        for bad in [
            "", "s", "-1s", "1.s", "1e3s", "5 s", "1d", "1s2", "99999h", "∞s",
        ] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_shares_sizes() {
        assert_eq!(Rate::parse("5000/s").unwrap().as_per_second(), 5000.0);
        assert_eq!(Rate::parse("90/min").unwrap().as_per_second(), 1.5);
        assert_eq!(
            Rate::parse("5000").unwrap_err().to_string(),
            "`5000` has no unit: write `5000/s`, `90/min` or `10/h`"
        );
        assert!(Rate::parse("0/s").is_err());
        assert_eq!(parse_edge_rate("0/s"), Ok(0.0));
        assert_eq!(parse_edge_rate("0"), Ok(0.0));
        assert_eq!(parse_edge_rate("90/min"), Ok(1.5));
        assert_eq!(
            parse_edge_rate("-1/s").unwrap_err().to_string(),
            "`-1/s` is not a rate: write `5000/s`, `90/min` or `0/s`"
        );
        assert_eq!(parse_share("0.1%").unwrap(), 0.001);
        assert!(parse_share("101%").is_err());
        assert_eq!(parse_bytes("32KiB").unwrap(), 32 * 1024);
        assert_eq!(parse_bytes("1.5MB").unwrap(), 1_500_000);
        assert!(parse_bytes("1.5").is_err());
    }

    #[test]
    fn formats() {
        for (seconds, expected) in [
            (0.001_234, "1.23 ms"),
            (0.000_045_6, "45.6 µs"),
            (12.0, "12.0 s"),
            (0.0, "0 µs"),
            (-0.000_3, "-300 µs"),
        ] {
            assert_eq!(format_seconds(seconds), expected);
        }
        for (value, expected) in [
            (75_000.4, "75,000"),
            (12.5, "12.5"),
            (3.0, "3"),
            (1_234_567.0, "1,234,567"),
            (-1_000.0, "-1,000"),
        ] {
            assert_eq!(format_number(value), expected);
        }
        assert_eq!(format_bytes(1_572_864.0), "1.5 MiB");
    }
}
