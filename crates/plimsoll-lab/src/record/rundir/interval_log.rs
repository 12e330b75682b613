//! The interval logs of a run: their tags, and reading them back with the `hdrhistogram` crate. Their lines are `plimsoll-base`'s.

use crate::error::LabError;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_report::view::ArmTimes;
use std::fmt::Write as _;
use std::path::Path;

/// Remark in the header of a log.
pub(super) const REMARK: &str = "Times in microseconds; starts in seconds since the run began; Interval_Max in milliseconds; without warm-up";

/// Percent-encodes what a tag cannot carry, and the slash that separates its parts.
pub(super) fn escape(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        if matches!(character, ',' | '%' | '/')
            || character.is_whitespace()
            || character.is_control()
        {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                write!(escaped, "%{byte:02X}")
                    .expect("invariant: writing to a String does not fail");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Turns back what [`escape`] did; what it cannot have written stays as it is.
fn unescape(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = rest.get(1..3).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the histogram of a tag belongs; `None` for tags that are not ours.
fn place<'a>(arm: &'a mut ArmTimes, tag: &str) -> Option<&'a mut TimeHistogram> {
    let kind_of = |name: &str| TimeKind::ALL.into_iter().find(|kind| kind.name() == name);
    let mut parts = tag.split('/');
    let times = match (parts.next()?, parts.next(), parts.next(), parts.next()) {
        (kind, None, None, None) => {
            let kind = kind_of(kind)?;
            return Some(arm.times.entry(kind).or_default());
        }
        (step, Some(class), Some(kind), None) => {
            let kind = kind_of(kind)?;
            let class = OutcomeClass::ALL
                .into_iter()
                .find(|known| known.name() == class)?;
            let step = arm.steps.entry(unescape(step)).or_default();
            step.entry(class).or_default().entry(kind)
        }
        _ => return None,
    };
    Some(times.or_default())
}

/// The histograms of a whole arm, merged over all intervals.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<ArmTimes, LabError> {
    let damaged = |what: String| LabError::Input(format!("{}: {what}", path.display()));
    let mut merged = ArmTimes::default();
    for entry in IntervalLogIterator::new(bytes) {
        let entry = entry.map_err(|error| damaged(format!("not an interval log: {error:?}")))?;
        let LogEntry::Interval(interval) = entry else {
            continue;
        };
        let tag = interval
            .tag()
            .map(|tag| tag.as_str().to_owned())
            .unwrap_or_default();
        let Some(own) = place(&mut merged, &tag) else {
            continue;
        };
        let histogram = TimeHistogram::decode(interval.encoded_histogram())
            .map_err(|error| damaged(error.to_string()))?;
        own.merge(&histogram);
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::histogram::LogEncoder;
    use plimsoll_base::interval_log::{header, line};
    use std::time::Duration;

    #[test]
    fn what_is_written_reads_back_merged() {
        let mut histogram = TimeHistogram::new();
        histogram.record(Duration::from_millis(3));
        let series = super::super::series_tag("GET /a, b", "passed", "response_time");
        assert_eq!(series, "GET%20%2Fa%2C%20b/passed/response_time");
        let mut encoder = LogEncoder::default();
        let mut text = header(REMARK);
        for start in [1.0, 2.0] {
            text += &line(
                &mut encoder,
                Some("response_time"),
                (start, 1.0),
                &histogram,
            );
            text += &line(&mut encoder, Some(&series), (start, 1.0), &histogram);
        }
        let merged = read(Path::new("a.hlog"), text.as_bytes()).unwrap();
        let kinds: Vec<_> = merged.times.keys().collect();
        assert_eq!(kinds, [&TimeKind::ResponseTime]);
        assert_eq!(merged.times[&TimeKind::ResponseTime].count(), 2);
        let step = &merged.steps["GET /a, b"][&OutcomeClass::Passed];
        assert_eq!(step[&TimeKind::ResponseTime].count(), 2);
    }
}
