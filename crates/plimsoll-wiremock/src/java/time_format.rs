//! How a moment is shown: in a Java date pattern, as seconds or milliseconds since 1970, or in the format of WireMock's `now`.

use crate::java::date_format;
use crate::java::date_time::Moment;
use jiff::Zoned;
use jiff::tz::TimeZone;

/// The text of a moment; the error says what of the pattern is not known. A moment without a zone is in UTC.
pub fn show(moment: &Moment, pattern: Option<&str>) -> Result<String, String> {
    let zoned = match moment {
        Moment::Zoned(zoned) => zoned.clone(),
        Moment::Local(local) => local
            .to_zoned(TimeZone::UTC)
            .map_err(|error| error.to_string())?,
    };
    match pattern {
        None => Ok(default(&zoned)),
        Some("unix") => Ok(zoned.timestamp().as_second().to_string()),
        Some("epoch") => Ok(zoned.timestamp().as_millisecond().to_string()),
        Some(pattern) if zoned.offset().is_zero() => strftime(&zoned, &with_z(pattern)),
        Some(pattern) => strftime(&zoned, pattern),
    }
}

fn strftime(zoned: &Zoned, pattern: &str) -> Result<String, String> {
    let directives = date_format::directives(pattern)?;
    Ok(zoned.strftime(&directives).to_string())
}

/// `X` is `Z` where there is no offset.
fn with_z(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let (mut is_quoted, mut previous) = (false, ' ');
    for c in pattern.chars() {
        is_quoted ^= c == '\'';
        match (c, previous) {
            ('X', 'X') if !is_quoted => {}
            ('X', _) if !is_quoted => out.push_str("'Z'"),
            _ => out.push(c),
        }
        previous = c;
    }
    out
}

/// Whole seconds, with `Z` for UTC.
fn default(zoned: &Zoned) -> String {
    let zone = if zoned.offset().is_zero() { "Z" } else { "%:z" };
    zoned
        .strftime(&format!("%Y-%m-%dT%H:%M:%S{zone}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_java() {
        let check = |text: &str, pattern: Option<&str>, expected: &str| {
            let moment = crate::java::date_time::Format::default()
                .parse(text)
                .unwrap();
            assert_eq!(show(&moment, pattern).unwrap(), expected, "{pattern:?}");
        };
        let utc = "2020-02-03T04:05:06.789Z";
        check(utc, None, "2020-02-03T04:05:06Z");
        check(
            "2020-02-03T04:05:06+02:00",
            None,
            "2020-02-03T04:05:06+02:00",
        );
        check(
            utc,
            Some(concat!("yyyy-MM-dd'T'HH:mm:ss", "X", "XX")),
            "2020-02-03T04:05:06Z",
        );
        check(utc, Some("'X'XX"), "XZ");
        check(
            "2020-02-03T04:05:06+02:00",
            Some(concat!("HH", "X", "XX")),
            "04+02:00",
        );
        check(utc, Some("unix"), "1580702706");
        check(utc, Some("epoch"), "1580702706789");
    }

    #[test]
    fn letters_that_are_not_known_are_told() {
        let moment = crate::java::date_time::Format::default().parse("2020-02-03T04:05:06Z");
        assert!(show(&moment.unwrap(), Some("QQQQQQ")).is_err());
    }
}
