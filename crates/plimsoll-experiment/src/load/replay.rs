//! A file of arrival times.
//!
//! One time a line, ascending: seconds (`12.25`) or a duration with its unit (`12s250ms`), from the start of the stage. What follows a
//! `#` is a comment, and lines without a time are passed over.

use std::time::Duration;

use plimsoll_base::document::Path as Pointer;
use plimsoll_base::units::parse_duration;

use crate::loader::Loader;

/// The times in nanoseconds; `None`, with a problem noted, when the file has none or one that is not sound.
pub(super) fn read(loader: &mut Loader<'_>, at: &Pointer, file: &str) -> Option<Vec<u64>> {
    let problems = loader.problem_count();
    let bytes = loader.read(at, file);
    if loader.problem_count() > problems {
        return None;
    }
    let Ok(text) = String::from_utf8(bytes) else {
        loader.refuse(at, format!("`{file}` is not UTF-8 text"));
        return None;
    };
    match parse(&text) {
        Ok(times) if times.is_empty() => {
            let message = format!("`{file}` has no arrival time: write one a line, such as `0.25`");
            loader.refuse(at, message);
            None
        }
        Ok(times) => Some(times),
        Err((line, message)) => {
            loader.refuse(at, format!("`{file}`, line {line}: {message}"));
            None
        }
    }
}

/// All times of the text, or the first line that is none, counted from 1, and what is wrong with it.
fn parse(text: &str) -> Result<Vec<u64>, (usize, String)> {
    let mut times: Vec<u64> = Vec::new();
    // Some programs mark UTF-8 so.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let time = time(text).map_err(|message| (line, message))?;
        if let Some(before) = times.last().filter(|before| **before > time) {
            let before = Duration::from_nanos(*before);
            let message = format!(
                "`{text}` is earlier than the time before it, {before:?}: write them in ascending order"
            );
            return Err((line, message));
        }
        times.push(time);
    }
    Ok(times)
}

/// Nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let has_unit = text.ends_with(|c: char| c.is_alphabetic());
    let time = if has_unit {
        parse_duration(text)
    } else {
        parse_duration(&format!("{text}s"))
    };
    let nanos = time
        .ok()
        .and_then(|time| u64::try_from(time.as_nanos()).ok());
    nanos.ok_or_else(|| {
        format!("`{text}` is not a time: write seconds from the start of the stage, such as `12.25`, or a duration such as `250ms`")
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_seconds_or_have_a_unit() {
        let text = "\u{feff}0\n# a night in March\n0\n0.25\n\n250ms  # the same moment\n1.000000001\n1m0.5s\r\n86400";
        let second = 1_000_000_000;
        assert_eq!(
            parse(text).unwrap(),
            [
                0,
                0,
                second / 4,
                second / 4,
                second + 1,
                60 * second + second / 2,
                86_400 * second
            ]
        );
        assert!(parse("# nothing\n\n").unwrap().is_empty());
    }

    #[test]
    fn the_first_line_that_is_no_time_is_named() {
        let check = |text: &str, line: usize, message: &str| {
            let refused = parse(text).unwrap_err();
            assert_eq!((refused.0, refused.1.as_str()), (line, message), "{text}");
        };
        let not = |text: &str| {
            format!(
                "`{text}` is not a time: write seconds from the start of the stage, such as `12.25`, or a duration such as `250ms`"
            )
        };
        check("time\n0.5", 1, &not("time"));
        check("0.5\n-1", 2, &not("-1"));
        check("0.5\n1e3", 2, &not("1e3"));
        check("1,5", 1, &not("1,5"));
        check("2026-03-01T00:00:00Z", 1, &not("2026-03-01T00:00:00Z"));
        // Seconds since 1970.
        check("1772323200.5", 1, &not("1772323200.5"));
        check(
            "1\n\n0.5 # late",
            3,
            "`0.5` is earlier than the time before it, 1s: write them in ascending order",
        );
    }
}
