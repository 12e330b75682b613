//! The text of HdrHistogram interval logs (format version 1.3 of HdrHistogram's `HistogramLogWriter`).
//!
//! Written line by line here because the log grows over a run; read by the `hdrhistogram` crate.

use crate::error::LabError;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What a log begins with. Values are microseconds; the maximum of a line is in milliseconds; warm-up is left out.
pub(super) const HEADER: &str = "#[Histogram log format version 1.3]\n\
    #[Times in microseconds; starts in seconds since the run began; Interval_Max in milliseconds; without warm-up]\n\
    \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// One line.
pub(super) fn line(tag: &str, start_s: f64, length_s: f64, histogram: &TimeHistogram) -> String {
    let max_ms = histogram.max().unwrap_or(0.0) * 1e3;
    let encoded = histogram.encode();
    format!("Tag={tag},{start_s:.3},{length_s:.3},{max_ms:.3},{encoded}\n")
}

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

/// The histograms of a whole arm by kind, merged over all intervals.
pub(super) fn read(
    path: &Path,
    bytes: &[u8],
) -> Result<BTreeMap<TimeKind, TimeHistogram>, LabError> {
    let damaged = |what: String| LabError::Input(format!("{}: {what}", path.display()));
    let mut merged: BTreeMap<TimeKind, TimeHistogram> = BTreeMap::new();
    for entry in IntervalLogIterator::new(bytes) {
        let entry = entry.map_err(|error| damaged(format!("not an interval log: {error:?}")))?;
        let LogEntry::Interval(interval) = entry else {
            continue;
        };
        let tag = interval
            .tag()
            .map(|tag| tag.as_str().to_owned())
            .unwrap_or_default();
        let Some(kind) = TimeKind::ALL.into_iter().find(|kind| kind.name() == tag) else {
            continue;
        };
        let histogram = TimeHistogram::decode(interval.encoded_histogram())
            .map_err(|error| damaged(error.to_string()))?;
        merged.entry(kind).or_default().merge(&histogram);
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_written_reads_back_merged() {
        let mut histogram = TimeHistogram::new();
        histogram.record(Duration::from_millis(3));
        let series = super::super::series_tag("GET /a, b", "passed", "response_time");
        assert_eq!(series, "GET%20%2Fa%2C%20b/passed/response_time");
        let mut text = HEADER.to_owned();
        for start in [1.0, 2.0] {
            text += &line("response_time", start, 1.0, &histogram);
            text += &line(&series, start, 1.0, &histogram);
        }
        let merged = read(Path::new("a.hlog"), text.as_bytes()).unwrap();
        assert_eq!(merged.keys().collect::<Vec<_>>(), [&TimeKind::ResponseTime]);
        assert_eq!(merged[&TimeKind::ResponseTime].count(), 2);
    }
}
