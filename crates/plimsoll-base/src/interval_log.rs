//! The text of HdrHistogram interval logs (format version 1.3 of HdrHistogram's `HistogramLogWriter`), line by line: a log grows over
//! a run.
//!
//! Values are microseconds, the maximum of a line is in milliseconds. Reading is left to who needs it.

use crate::histogram::{LogEncoder, TimeHistogram};

/// Header of a log; `remark` says on one line what it is about.
#[must_use]
pub fn header(remark: &str) -> String {
    format!(
        "#[Histogram log format version 1.3]\n#[{remark}]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    )
}

/// One line: times of one kind, if they have a tag, over `length_s` seconds from `start_s` on.
#[must_use]
pub fn line(
    encoder: &mut LogEncoder,
    tag: Option<&str>,
    (start_s, length_s): (f64, f64),
    histogram: &TimeHistogram,
) -> String {
    let tag = tag.map_or_else(String::new, |tag| format!("Tag={tag},"));
    let max_ms = histogram.max().unwrap_or(0.0) * 1e3;
    let encoded = encoder.encode(histogram);
    format!("{tag}{start_s:.3},{length_s:.3},{max_ms:.3},{encoded}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_says_when_how_long_and_how_much() {
        let mut histogram = TimeHistogram::new();
        histogram.record(Duration::from_millis(3));
        let mut encoder = LogEncoder::default();
        let plain = line(&mut encoder, None, (1.0, 0.5), &histogram);
        let (start, encoded) = plain.rsplit_once(',').unwrap();
        assert!(start.starts_with("1.000,0.500,3."), "{start}");
        let decoded = TimeHistogram::decode(encoded.trim()).unwrap();
        assert_eq!(decoded.count(), 1);
        assert_eq!(
            line(&mut encoder, Some("a"), (1.0, 0.5), &histogram),
            format!("Tag=a,{plain}")
        );
        assert!(header("x").contains("\n#[x]\n\"StartTimestamp\""));
    }
}
