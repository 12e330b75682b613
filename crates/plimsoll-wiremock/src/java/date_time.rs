//! Dates and times as WireMock's `before`, `after` and `equalToDateTime` have them: formats, offsets from now, truncation. Pure: now is an
//! argument. Java takes the machine's time zone where none is written; here it is UTC.

use crate::java::date_format;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit, Zoned};
use std::cmp::Ordering;

/// A date and time, with a place on the time line or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    Zoned(Zoned),
    Local(DateTime),
}

impl Moment {
    /// By their places on the time line, or by what stands on the clock if one of them has none.
    pub fn compare(one: &Self, other: &Self) -> Ordering {
        match (one, other) {
            (Self::Zoned(one), Self::Zoned(other)) => one.cmp(other),
            _ => one.on_the_clock().cmp(&other.on_the_clock()),
        }
    }

    fn on_the_clock(&self) -> DateTime {
        match self {
            Self::Zoned(zoned) => zoned.datetime(),
            Self::Local(local) => *local,
        }
    }

    /// The moment so much later; `None` beyond the calendar.
    pub fn plus(&self, span: Span) -> Option<Self> {
        self.with(|at| at.checked_add(span).ok())
    }

    /// The moment with another reading of the clock.
    fn with(&self, change: impl FnOnce(DateTime) -> Option<DateTime>) -> Option<Self> {
        let changed = change(self.on_the_clock())?;
        Some(match self {
            Self::Zoned(zoned) => Self::Zoned(changed.to_zoned(zoned.time_zone().clone()).ok()?),
            Self::Local(_) => Self::Local(changed),
        })
    }
}

/// How a moment in a request is written.
#[derive(Debug, Clone, Default)]
pub enum Format {
    /// ISO 8601, with or without a zone or a time, or one of the formats of HTTP.
    #[default]
    Known,
    /// Seconds since 1970.
    Unix,
    /// Milliseconds since 1970.
    Epoch,
    /// `strptime`'s directives.
    Pattern(String),
}

impl Format {
    /// `unix`, `epoch` or a Java date pattern.
    pub fn compile(text: &str) -> Result<Self, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "unix" => Self::Unix,
            "epoch" => Self::Epoch,
            _ => Self::Pattern(date_format::directives(text)?),
        })
    }

    /// The moment that `text` says in this format.
    pub fn parse(&self, text: &str) -> Option<Moment> {
        let at = |timestamp: Result<Timestamp, jiff::Error>| {
            Some(Moment::Zoned(timestamp.ok()?.to_zoned(TimeZone::UTC)))
        };
        match self {
            Self::Known => parse_known(text),
            Self::Unix => at(Timestamp::from_second(text.trim().parse().ok()?)),
            Self::Epoch => at(Timestamp::from_millisecond(text.trim().parse().ok()?)),
            Self::Pattern(directives) => {
                let parts = jiff::fmt::strtime::parse(directives, text).ok()?;
                // Java wants as many digits as there are letters; a zone has several spellings.
                let zoned = ["%z", "%:z", "%Q"]
                    .iter()
                    .any(|zone| directives.contains(zone));
                if !zoned && parts.to_string(directives).ok()? != text {
                    return None;
                }
                if let Ok(zoned) = parts.to_zoned() {
                    return Some(Moment::Zoned(zoned));
                }
                let local = parts.to_datetime();
                let local = local.or_else(|_| parts.to_date().map(Date::into));
                local.ok().map(Moment::Local)
            }
        }
    }
}

fn parse_known(text: &str) -> Option<Moment> {
    // An offset or a zone says where on the time line it is.
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        let offset = jiff::fmt::temporal::Pieces::parse(text)
            .ok()?
            .to_numeric_offset();
        let zone = offset.map_or(TimeZone::UTC, TimeZone::fixed);
        return Some(Moment::Zoned(timestamp.to_zoned(zone)));
    }
    if let Ok(zoned) = rfc2822::parse(text) {
        return Some(Moment::Zoned(zoned));
    }
    for directives in ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"] {
        if let Ok(local) = DateTime::strptime(directives, text) {
            return Some(Moment::Zoned(local.to_zoned(TimeZone::UTC).ok()?));
        }
    }
    if text.contains('[') {
        // A zone without an offset.
        return None;
    }
    text.parse().ok().map(Moment::Local)
}

/// Unit that a moment is cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    FirstSecondOfMinute,
    FirstMinuteOfHour,
    FirstHourOfDay,
    FirstDayOfMonth,
    FirstDayOfNextMonth,
    LastDayOfMonth,
    FirstDayOfYear,
    FirstDayOfNextYear,
    LastDayOfYear,
}

const TRUNCATIONS: &[(&str, Truncation)] = &[
    ("first second of minute", Truncation::FirstSecondOfMinute),
    ("first minute of hour", Truncation::FirstMinuteOfHour),
    ("first hour of day", Truncation::FirstHourOfDay),
    ("first day of month", Truncation::FirstDayOfMonth),
    ("first day of next month", Truncation::FirstDayOfNextMonth),
    ("last day of month", Truncation::LastDayOfMonth),
    ("first day of year", Truncation::FirstDayOfYear),
    ("first day of next year", Truncation::FirstDayOfNextYear),
    ("last day of year", Truncation::LastDayOfYear),
];

impl Truncation {
    /// By its name, in any case, with spaces or underscores.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase().replace('_', " ");
        let known = TRUNCATIONS.iter().find(|(own, _)| *own == name);
        known.map(|(_, truncation)| *truncation).ok_or_else(|| {
            let names: Vec<&str> = TRUNCATIONS.iter().map(|(own, _)| *own).collect();
            format!(
                "\"{text}\" is no truncation: write one of {}",
                names.join(", ")
            )
        })
    }

    /// The moment cut; `None` beyond the calendar. As in WireMock, one without a zone stays as it is.
    pub fn apply(self, moment: &Moment) -> Option<Moment> {
        if matches!(moment, Moment::Local(_)) {
            return Some(moment.clone());
        }
        moment.with(|at| {
            let day = at.date();
            let rounded = |unit| {
                let round = jiff::civil::DateTimeRound::new();
                at.round(round.smallest(unit).mode(jiff::RoundMode::Trunc))
                    .ok()
            };
            let next = |span: Span| day.checked_add(span).ok();
            Some(
                match self {
                    Self::FirstSecondOfMinute => return rounded(Unit::Minute),
                    Self::FirstMinuteOfHour => return rounded(Unit::Hour),
                    Self::FirstHourOfDay => day,
                    Self::FirstDayOfMonth => day.first_of_month(),
                    Self::FirstDayOfNextMonth => next(Span::new().months(1))?.first_of_month(),
                    Self::LastDayOfMonth => day.last_of_month(),
                    Self::FirstDayOfYear => day.first_of_year(),
                    Self::FirstDayOfNextYear => next(Span::new().years(1))?.first_of_year(),
                    Self::LastDayOfYear => day.last_of_year(),
                }
                .into(),
            )
        })
    }
}

/// Whether a truncation comes before or after an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruncationOrder {
    First,
    Last,
}

impl From<bool> for TruncationOrder {
    fn from(last: bool) -> Self {
        if last { Self::Last } else { Self::First }
    }
}

/// The moment that a pattern compares with.
#[derive(Debug, Clone)]
pub struct Expected {
    /// `None` is now.
    start: Option<Moment>,
    offset: Span,
    truncation: Option<(Truncation, TruncationOrder)>,
}

impl Expected {
    /// A date and time, `now`, `now +3 days` or `3 days`; `offset` is one that is written beside it.
    pub fn parse(text: &str, offset: Option<&str>) -> Result<Self, String> {
        let (start, inner) = if text.eq_ignore_ascii_case("now") {
            (None, None)
        } else if let Some(moment) = parse_known(text) {
            (Some(moment), None)
        } else {
            let rest = match text.get(..4) {
                Some(now) if now.eq_ignore_ascii_case("now ") => &text[4..],
                _ => text,
            };
            (None, Some(span(rest).ok_or_else(|| no_moment(text))?))
        };
        let offset = match (inner, offset) {
            (Some(inner), _) => inner,
            (None, Some(offset)) => span(offset).ok_or_else(|| no_moment(offset))?,
            (None, None) => Span::new(),
        };
        Ok(Self {
            start,
            offset,
            truncation: None,
        })
    }

    /// This moment, cut.
    pub fn truncated(self, truncation: Option<Truncation>, order: TruncationOrder) -> Self {
        Self {
            truncation: truncation.map(|truncation| (truncation, order)),
            ..self
        }
    }

    /// The moment, where `now` says what time it is; `None` beyond the calendar. As in WireMock, one that is written out is neither
    /// shifted nor cut.
    pub fn at(&self, now: impl FnOnce() -> Timestamp) -> Option<Moment> {
        let mut moment = match &self.start {
            Some(moment) => return Some(moment.clone()),
            None => Moment::Zoned(now().to_zoned(TimeZone::UTC)),
        };
        if let Some((truncation, TruncationOrder::First)) = self.truncation {
            moment = truncation.apply(&moment)?;
        }
        moment = moment.with(|at| at.checked_add(self.offset).ok())?;
        if let Some((truncation, TruncationOrder::Last)) = self.truncation {
            moment = truncation.apply(&moment)?;
        }
        Some(moment)
    }
}

fn no_moment(text: &str) -> String {
    format!(
        "\"{text}\" is not a date, a time or an offset from now: write it like 2021-05-01T12:00:00Z or \"now +3 days\""
    )
}

/// `+3 days`: a whole number and one of Java's units.
pub fn span(text: &str) -> Option<Span> {
    let (amount, unit) = text.trim().split_once(' ')?;
    let amount: i64 = amount.parse::<i32>().ok()?.into();
    let span = Span::new();
    match unit.trim().to_ascii_lowercase().as_str() {
        "seconds" => span.try_seconds(amount),
        "minutes" => span.try_minutes(amount),
        "hours" => span.try_hours(amount),
        "half_days" => span.try_hours(amount.checked_mul(12)?),
        "days" => span.try_days(amount),
        "weeks" => span.try_weeks(amount),
        "months" => span.try_months(amount),
        "years" => span.try_years(amount),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let check = |format: &str, text: &str, expected: Option<&str>| {
            let format = match format {
                "" => Format::Known,
                format => Format::compile(format).unwrap(),
            };
            let shown = format.parse(text).map(|moment| match moment {
                Moment::Zoned(zoned) => zoned.timestamp().to_string(),
                Moment::Local(local) => local.to_string(),
            });
            assert_eq!(shown.as_deref(), expected, "{text}");
        };
        check(
            "",
            "2021-05-01T02:00:00+02:00",
            Some("2021-05-01T00:00:00Z"),
        );
        check("", "2021-05-01T02:00:00.5Z", Some("2021-05-01T02:00:00.5Z"));
        check("", "2021-05-01T02:00", Some("2021-05-01T02:00:00"));
        check("", "2021-05-01", Some("2021-05-01T00:00:00"));
        check(
            "",
            "Tue, 01 Jun 2021 15:16:17 GMT",
            Some("2021-06-01T15:16:17Z"),
        );
        check(
            "",
            "Tuesday, 01-Jun-21 15:16:17 GMT",
            Some("2021-06-01T15:16:17Z"),
        );
        check("", "Tue Jun  1 15:16:17 2021", Some("2021-06-01T15:16:17Z"));
        check("", "01/06/2021", None);
        check("unix", "1000000000", Some("2001-09-09T01:46:40Z"));
        check("epoch", "1000000000000", Some("2001-09-09T01:46:40Z"));
        check("dd/MM/yyyy", "01/06/2021", Some("2021-06-01T00:00:00"));
        check(
            "dd/MM/yyyy HH:mm:ss Z",
            "01/06/2021 10:00:00 +0100",
            Some("2021-06-01T09:00:00Z"),
        );
        check("dd/MM/yyyy", "2021-06-01", None);
    }

    #[test]
    fn offsets_and_truncations() {
        let now = "2024-02-10T13:14:15Z".parse::<Timestamp>().unwrap();
        let check = |text: &str, truncation: &str, last: bool, expected: &str| {
            let truncation =
                (!truncation.is_empty()).then(|| Truncation::parse(truncation).unwrap());
            let moment = Expected::parse(text, None)
                .unwrap()
                .truncated(truncation, last.into())
                .at(|| now);
            let Some(Moment::Zoned(zoned)) = moment else {
                panic!("{text}: {moment:?}");
            };
            assert_eq!(zoned.timestamp().to_string(), expected, "{text}");
        };
        check("now", "", false, "2024-02-10T13:14:15Z");
        check("now +3 days", "", false, "2024-02-13T13:14:15Z");
        check("-2 months", "", false, "2023-12-10T13:14:15Z");
        check("now", "first minute of hour", false, "2024-02-10T13:00:00Z");
        check("now", "LAST_DAY_OF_MONTH", false, "2024-02-29T00:00:00Z");
        check(
            "now",
            "first day of next year",
            false,
            "2025-01-01T00:00:00Z",
        );
        check(
            "now +25 days",
            "first day of month",
            false,
            "2024-02-26T00:00:00Z",
        );
        check(
            "now +25 days",
            "first day of month",
            true,
            "2024-03-01T00:00:00Z",
        );
    }
}
