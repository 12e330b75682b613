//! Exchanges as both ends timed them: the service times of the generator's fragments, and the times that the component of ours that is the direct
//! target has timed itself. What other components of ours timed meanwhile, further inside, is read along with it.
//!
//! Both are taken over the whole seconds of the measured time, by when an exchange ends: fragments are of seconds, and the
//! component's counters are read at either end of them. What ends in the moment of a reading may be on different sides of it.
//! The meaning of a gap between the two means is left to the report.

use crate::error::LabError;
use crate::topology::component::Topology;
use indexmap::IndexMap;
use plimsoll_base::counters::Totals;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_experiment::TargetRef;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::record::{BothEnds, OwnTimes};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// Counts of the arm's direct target so far; `None` if it keeps no counters, as a foreign one does.
pub fn counted(target: &TargetRef, topology: &Topology<'_>) -> Result<Option<Totals>, LabError> {
    let mut counted: Option<Totals> = None;
    for file in topology.counters(&target.component) {
        let totals = read(file)?;
        counted = Some(match counted {
            Some(before) => before.plus(&totals),
            None => totals,
        });
    }
    Ok(counted)
}

fn read(path: &Path) -> Result<Totals, LabError> {
    let bytes = std::fs::read(path).map_err(LabError::storage("read the file", path))?;
    Totals::read(&bytes).map_err(|error| LabError::Internal(format!("{}: {error}", path.display())))
}

/// Takes the times of one load at both ends.
#[derive(Debug)]
pub struct EndTimes {
    servers: Vec<Server>,
    /// The component that the load goes to.
    target: String,
    /// Whole seconds of the load.
    window: Range<u32>,
    client: TimeHistogram,
    readings: usize,
}

/// A component of ours that keeps counters.
#[derive(Debug)]
struct Server {
    name: String,
    counters: PathBuf,
    readings: Vec<Totals>,
}

impl EndTimes {
    /// Nothing yet of a load to `target` that is measured in this part of its time; `None` if no component keeps counters or that holds
    /// no whole second. `counters`: the files of components that keep some, by name.
    #[must_use]
    pub fn new(
        measured: Range<Duration>,
        target: &str,
        counters: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> Option<Self> {
        let begin = whole_seconds(measured.start + Duration::from_nanos(999_999_999))?;
        let end = whole_seconds(measured.end)?;
        let server = |(name, counters)| Server {
            name,
            counters,
            readings: Vec::new(),
        };
        let servers: Vec<Server> = counters.into_iter().map(server).collect();
        (begin < end && !servers.is_empty()).then_some(())?;
        Some(Self {
            servers,
            target: target.to_owned(),
            window: begin..end,
            client: TimeHistogram::new(),
            readings: 0,
        })
    }

    /// Takes a fragment into account, of whichever side: the component does not tell them apart.
    pub fn add(&mut self, fragment: &Fragment) {
        if !self.window.contains(&fragment.second) {
            return;
        }
        let classes = fragment.steps.iter().flat_map(|step| &step.classes);
        let answered = classes
            .filter(|(class, _)| matches!(class, OutcomeClass::Passed | OutcomeClass::CheckFailed));
        for (_, data) in answered {
            if let Some(times) = data.times.get(&TimeKind::ServiceTime) {
                self.client.merge(times);
            }
        }
    }

    /// When the components' counters are to be read next, in a load that began at `start`.
    #[must_use]
    pub fn due(&self, start: Instant) -> Option<Instant> {
        let ends = [self.window.start, self.window.end];
        let second = *ends.get(self.readings)?;
        Some(start + Duration::from_secs(second.into()))
    }

    /// Reads them.
    ///
    /// # Errors
    /// [`LabError`] when there is no such file any more.
    pub fn read(&mut self) -> Result<(), LabError> {
        for server in &mut self.servers {
            server.readings.push(read(&server.counters)?);
        }
        self.readings += 1;
        Ok(())
    }

    /// The load has ended as planned: a reading that was due then is made now, if it was not made already.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn close(&mut self) -> Result<(), LabError> {
        match self.readings {
            1 => self.read(),
            _ => Ok(()),
        }
    }

    /// Both ends, where the target keeps counters, and the own times of every component that does; nothing if the load ended before the
    /// second reading.
    #[must_use]
    pub fn conclude(self) -> (Option<BothEnds>, IndexMap<String, OwnTimes>) {
        let seconds = f64::from(self.window.end - self.window.start);
        let mut own_times = IndexMap::new();
        for server in &self.servers {
            if let [begin, end] = server.readings.as_slice() {
                let times = end.since(begin).own_times();
                own_times.insert(server.name.clone(), OwnTimes { seconds, times });
            }
        }
        let server = own_times.get(&self.target);
        let service_time_check = server.map(|own| BothEnds {
            client: self.client,
            server: own.times.clone(),
        });
        (service_time_check, own_times)
    }
}

fn whole_seconds(time: Duration) -> Option<u32> {
    u32::try_from(time.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::counters::{COUNTERS, HEADER_BYTES, bucket_of};
    use plimsoll_base::tally::{ClassTally, StepTally};

    /// Both in milliseconds.
    fn phases(warmup: u64, duration: u64) -> Range<Duration> {
        Duration::from_millis(warmup)..Duration::from_millis(warmup + duration)
    }

    /// One exchange of this class and service time that ended in that second.
    fn fragment(second: u32, class: OutcomeClass, millis: u64) -> Fragment {
        let mut times = TimeHistogram::new();
        times.record(Duration::from_millis(millis));
        let data = ClassTally {
            count: 1,
            times: [(TimeKind::ServiceTime, times)].into(),
            ..ClassTally::default()
        };
        Fragment {
            second,
            warmup: second < 3,
            steps: vec![StepTally {
                classes: [(class, data)].into(),
                ..StepTally::default()
            }],
            ..Fragment::default()
        }
    }

    /// Counts so many exchanges of 1 ms at the component.
    fn count(file: &std::path::Path, exchanges: u8) {
        let mut bytes = Totals::empty_file(1);
        bytes[HEADER_BYTES + (COUNTERS + bucket_of(1_000_000)) * 8] = exchanges;
        std::fs::write(file, bytes).unwrap();
    }

    #[test]
    fn both_ends_are_of_the_same_whole_seconds() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("counters");
        let servers = ["target", "behind"].map(|name| (name.to_owned(), file.clone()));
        let mut ends = EndTimes::new(phases(1_500, 3_000), "target", servers).unwrap();
        let start = Instant::now();
        let due = |ends: &EndTimes| Some(ends.due(start)?.duration_since(start).as_secs());
        assert_eq!(due(&ends), Some(2));
        count(&file, 10);
        ends.read().unwrap();
        assert_eq!(due(&ends), Some(4));
        for second in 0..6 {
            ends.add(&fragment(second, OutcomeClass::Passed, 2));
            ends.add(&fragment(second, OutcomeClass::TimedOut, 1_000));
        }
        count(&file, 13);
        ends.close().unwrap();
        assert_eq!(due(&ends), None);
        let (ends, own_times) = ends.conclude();
        let ends = ends.unwrap();
        assert_eq!(ends.client.count(), 2, "of an end of the warm-up too");
        assert!(ends.client.max().unwrap() < 0.01, "timeouts stay out");
        assert_eq!(ends.server.count(), 3);
        assert_eq!(own_times["behind"].per_s(), Some(1.5));
    }

    #[test]
    fn where_there_is_one_end_only_there_are_none() {
        let file = PathBuf::from("counters");
        let new = |warmup, duration, file: Option<PathBuf>| {
            let servers = file.map(|file| ("target".to_owned(), file));
            EndTimes::new(phases(warmup, duration), "target", servers)
        };
        assert!(new(0, 1_000, None).is_none());
        assert!(new(500, 1_000, Some(file.clone())).is_none());
        let cut_short = new(0, 1_000, Some(file)).unwrap();
        assert_eq!(cut_short.conclude(), (None, IndexMap::new()));
    }
}
