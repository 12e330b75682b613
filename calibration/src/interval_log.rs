//! Response times second by second, from the interval log that a run leaves behind.

use crate::bench::Error;
use plimsoll_base::histogram::TimeHistogram;

/// The answers of one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Where it begins, in seconds since the load did, its warm-up left out.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// The times of what was answered.
    pub times: TimeHistogram,
}

impl Interval {
    /// How many were answered.
    #[expect(
        clippy::cast_precision_loss,
        reason = "answers of one second are far below 2^52"
    )]
    pub fn count(&self) -> f64 {
        self.times.count() as f64
    }

    /// The second of the load in which it begins, to the nearest.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a run has few seconds, and none before its first"
    )]
    pub fn second(&self) -> usize {
        self.start_s.round() as usize
    }

    /// Their times together, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.count() * self.times.mean().unwrap_or(0.0)
    }
}

/// The intervals of an arm's response times.
pub fn response_times(log: &str) -> Result<Vec<Interval>, Error> {
    tagged(log, "response_time")
}

/// The intervals of an arm's service times.
pub fn service_times(log: &str) -> Result<Vec<Interval>, Error> {
    tagged(log, "service_time")
}

/// The intervals of a tag. A line is `Tag=<tag>,<start>,<length>,<maximum>,<histogram>`, and there is none for an interval without such a time.
fn tagged(log: &str, tag: &str) -> Result<Vec<Interval>, Error> {
    let begin = format!("Tag={tag},");
    let lines = log.lines().filter_map(|line| line.strip_prefix(&begin));
    let mut intervals = lines.map(interval).collect::<Result<Vec<_>, _>>()?;
    let begun = begun_s(log);
    for interval in &mut intervals {
        interval.start_s -= begun;
    }
    Ok(intervals)
}

/// Where the load began: something was sent in its first second, though it may be answered later.
fn begun_s(log: &str) -> f64 {
    let starts = log.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("Tag=")?.split_once(',')?;
        rest.split(',').next()?.parse().ok()
    });
    starts.reduce(f64::min).unwrap_or(0.0)
}

fn interval(line: &str) -> Result<Interval, Error> {
    let strange = || Error::Measured(format!("an interval log with `{line}`"));
    let fields: Vec<&str> = line.split(',').collect();
    let [start, length, _, histogram] = fields[..] else {
        return Err(strange());
    };
    let number = |text: &str| text.parse().map_err(|_| strange());
    Ok(Interval {
        start_s: number(start)?,
        length_s: number(length)?,
        times: TimeHistogram::decode(histogram).map_err(|_| strange())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn response_times_are_taken_and_others_left() {
        let mut times = TimeHistogram::new();
        times.record(Duration::from_millis(1));
        times.record(Duration::from_millis(3));
        let text = times.encode();
        let log = format!(
            "#[comment]\nTag=pacing_lag,0.100,1.000,3.0,{text}\nTag=response_time,0.100,1.000,3.0,{text}\nTag=response_time,1.100,0.500,3.0,{text}\n"
        );
        let intervals = response_times(&log).unwrap();
        assert_eq!(intervals.len(), 2);
        let second = &intervals[1];
        assert!((second.start_s - 1.0).abs() < 1e-9 && (second.length_s - 0.5).abs() < 1e-9);
        assert!((second.count() - 2.0).abs() < 1e-9 && (second.sum_s() - 0.004).abs() < 1e-5);
    }

    #[test]
    fn a_load_begins_before_its_first_answer() {
        let mut times = TimeHistogram::new();
        times.record(Duration::from_millis(1_000));
        let text = times.encode();
        let log = format!(
            "Tag=pacing_lag,5.100,1.000,1.0,{text}\nTag=service_time,6.100,1.000,1.0,{text}\nTag=pacing_lag,6.100,1.000,1.0,{text}\n"
        );
        let intervals = service_times(&log).unwrap();
        assert_eq!(intervals.len(), 1);
        assert!((intervals[0].start_s - 1.0).abs() < 1e-9);
    }
}
