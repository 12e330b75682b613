//! `"replay": {"file": "latency.hlog", "tag": "…"}`: delays drawn from the times of an HdrHistogram interval log below `__files`, such as a run
//! directory of Plimsoll holds, in microseconds.

use crate::reader::body_files::BodyFiles;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::random::Draw;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Times and how many are at most that long, ascending.
#[derive(Debug, Clone)]
pub struct Replay(Arc<[(Duration, u64)]>);

impl Replay {
    pub(super) fn read(
        node: &Node<'_>,
        files: &BodyFiles,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut object = node.object(problems)?;
        let file = object.required("file", problems);
        let tag = object.get("tag");
        let tag = tag.and_then(|node| node.string(problems));
        object.finish(&[], problems);
        let file = file?;
        let name = file.string(problems)?;
        let read = files
            .read(&name)
            .and_then(|bytes| Self::of_log(&String::from_utf8_lossy(&bytes), tag.as_deref()));
        read.map_err(|message| problems.push(StubProblem::invalid(&file.pointer, message)))
            .ok()
    }

    /// The times of a log's lines with this tag.
    fn of_log(log: &str, tag: Option<&str>) -> Result<Self, String> {
        let mut times: BTreeMap<&str, TimeHistogram> = BTreeMap::new();
        for line in log.lines() {
            if line.starts_with(['#', '"']) || line.trim().is_empty() {
                continue;
            }
            let own = line.strip_prefix("Tag=");
            let own = own.and_then(|rest| rest.split_once(','));
            let own = own.map_or("", |(own, _)| own);
            let encoded = line.rsplit(',').next().unwrap_or_default();
            let histogram = TimeHistogram::decode(encoded).map_err(|error| error.to_string())?;
            times.entry(own).or_default().merge(&histogram);
        }
        let chosen = match tag {
            Some(tag) => times.get(tag),
            None if times.len() < 2 => times.values().next(),
            None => None,
        };
        let Some(chosen) = chosen.filter(|histogram| !histogram.is_empty()) else {
            let tags: Vec<&str> = times.keys().copied().collect();
            return Err(format!(
                "no times: write \"tag\", one of {}",
                tags.join(", ")
            ));
        };
        let mut below = 0;
        let steps = chosen.buckets().map(|(seconds, count)| {
            below += count;
            (Duration::from_secs_f64(seconds), below)
        });
        Ok(Self(steps.collect()))
    }

    /// One of the times, each as likely as it was frequent.
    pub fn sample(&self, draw: &mut Draw) -> Duration {
        let all = self.0.last().map_or(0, |(_, below)| *below);
        let rank = draw.below(all.max(1));
        let place = self.0.partition_point(|(_, below)| *below <= rank);
        self.0.get(place).map_or(Duration::ZERO, |(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    fn log() -> String {
        let mut histogram = TimeHistogram::new();
        for millis in 1..=1000 {
            histogram.record(Duration::from_millis(millis));
        }
        let encoded = histogram.encode();
        format!(
            "#[x]\n\"StartTimestamp\"\nTag=a,0.000,1.000,9.000,{encoded}\nTag=b,0,1,9,{encoded}\n"
        )
    }

    #[test]
    fn times_are_as_frequent_as_they_were() {
        let replay = Replay::of_log(&log(), Some("a")).unwrap();
        let mut times: Vec<Duration> = (0..20_000)
            .map(|index| replay.sample(&mut Draw::new(5, Stream::Delays, index)))
            .collect();
        times.sort();
        for (place, millis) in [(2_000, 100), (10_000, 500), (19_800, 990)] {
            let actual = times[place].as_secs_f64() * 1e3;
            assert!(
                (actual - f64::from(millis)).abs() < 15.0,
                "{actual} for {millis}"
            );
        }
    }

    #[test]
    fn a_tag_must_be_chosen() {
        let error = Replay::of_log(&log(), None).unwrap_err();
        assert_eq!(error, "no times: write \"tag\", one of a, b");
        assert!(Replay::of_log("x,y", None).is_err());
    }
}
