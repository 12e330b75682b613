//! `now()`: the time of day. Alone in not following from the seed.
//!
//! `now()` is RFC 3339 in UTC with milliseconds; a first argument is another format (`unix`, `unix_ms`, `http` or one of
//! strftime's), a second an offset such as `'+5m'` or `'-1d'`.

use super::{Arguments, Function};
use crate::scenario::value::number;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::io::Write as _;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Now {
    format: Format,
    offset: SignedDuration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Format {
    Rfc3339,
    Unix,
    UnixMs,
    Http,
    Strftime(String),
}

const FORM: &str = "now()`, `now(unix)`, `now(unix_ms)`, `now(rfc3339)`, `now(http)`, `now('%Y-%m-%d')` or, with an offset, `now(unix, '+5m')";

pub(super) fn compile(arguments: Arguments<'_>) -> Result<Function, String> {
    let count = arguments.count(0, 2, FORM)?;
    let format = match (count > 0).then(|| arguments.word(0)) {
        None => Format::Rfc3339,
        Some(Some("rfc3339")) => Format::Rfc3339,
        Some(Some("unix")) => Format::Unix,
        Some(Some("unix_ms")) => Format::UnixMs,
        Some(Some("http")) => Format::Http,
        Some(Some(format)) if format.contains('%') => {
            let epoch = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
            jiff::fmt::strtime::format(format, &epoch)
                .map_err(|error| format!("`{format}` is no format of a time: {error}"))?;
            Format::Strftime(format.to_owned())
        }
        Some(_) => return Err(format!("there is no such format of a time: write `{FORM}`")),
    };
    let offset = match (count > 1).then(|| arguments.word(1)) {
        None => SignedDuration::ZERO,
        Some(text) => text.and_then(offset).ok_or_else(|| {
            "an offset is a sign, a whole number and one of ms, s, m, h and d: write for instance `'+5m'`".to_owned()
        })?,
    };
    Ok(Function::Now(Now { format, offset }))
}

/// `+5m`, `-1d`, `+250ms`.
fn offset(text: &str) -> Option<SignedDuration> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = rest.split_at(digits);
    let millis: i64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let count: i64 = count.parse().ok()?;
    /// A hundred years: with it no time leaves what can be represented.
    const MOST: i64 = 100 * 366 * 86_400_000;
    let millis = count.checked_mul(millis).filter(|ms| *ms <= MOST)?;
    Some(SignedDuration::from_millis(sign * millis))
}

impl Now {
    pub(super) fn render(&self, out: &mut Vec<u8>) {
        let now = Timestamp::now();
        self.write(now.checked_add(self.offset).unwrap_or(now), out);
    }

    fn write(&self, time: Timestamp, out: &mut Vec<u8>) {
        let whole = |value: i64| u64::try_from(value).unwrap_or(0);
        match &self.format {
            Format::Unix => number(out, whole(time.as_second())),
            Format::UnixMs => number(out, whole(time.as_millisecond())),
            Format::Rfc3339 => append(out, format_args!("{time:.3}")),
            Format::Http => append(out, time.strftime("%a, %d %b %Y %H:%M:%S GMT")),
            Format::Strftime(format) => append(out, time.strftime(format)),
        }
    }
}

fn append(out: &mut Vec<u8>, shown: impl std::fmt::Display) {
    write!(out, "{shown}").expect("invariant: formats were tried, and a vector takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, given: &str, expected: &str) {
        let now = Now {
            format,
            offset: offset(given).unwrap(),
        };
        let time: Timestamp = "2026-11-21T04:05:06.789Z".parse().unwrap();
        let mut out = Vec::new();
        now.write(time.checked_add(now.offset).unwrap(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn times_in_every_format() {
        check(Format::Rfc3339, "+0s", "2026-11-21T04:05:06.789Z");
        check(Format::Unix, "+1h", "1795237506");
        check(Format::UnixMs, "-1ms", "1795233906788");
        check(Format::Http, "+1d", "Sun, 22 Nov 2026 04:05:06 GMT");
        check(
            Format::Strftime("%Y%m%dT%H%M%SZ".to_owned()),
            "-5m",
            "20261121T040006Z",
        );
    }

    #[test]
    fn other_offsets_are_refused() {
        for text in ["5m", "+m", "+5w", "", "+99999999999d"] {
            assert_eq!(offset(text), None, "{text}");
        }
    }
}
