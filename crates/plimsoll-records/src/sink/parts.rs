//! Records that a sink refuses as a whole are tried in halves, until what it objects to is alone.
//!
//! If the sink goes away in between, what has become of the first parts is kept, so that no record of theirs is delivered or counted again.

use super::Failed;
use crate::entry::Entry;
use std::collections::HashMap;

/// Records of interrupted loads that are known at most.
pub(crate) const REMEMBERED: usize = 64 * 1024;

/// Outcome of some records at a sink.
#[derive(Debug)]
pub(crate) enum Tried {
    Taken,
    /// It does not take the last so many of them, however often it is asked.
    Lost {
        records: usize,
        why: String,
    },
    /// It takes none of them together; fewer, perhaps.
    Refused(String),
    /// They may be tried again.
    Away(String),
}

/// Parts of a load on their way to a sink.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Records, by id, of a load that was interrupted, which need not be tried again; whether they were taken.
    settled: HashMap<String, bool>,
    /// The sink's first objection.
    why: Option<String>,
}

impl Parts {
    /// Has the sink `attempt` these records, all together first.
    pub(crate) fn deliver(
        &mut self,
        entries: &[Entry<'_>],
        mut attempt: impl FnMut(&[&Entry<'_>]) -> Tried,
    ) -> Result<(), Failed> {
        if self.settled.len() > REMEMBERED {
            // Those that there was no room for never come again.
            self.settled.clear();
        }
        let interrupted = !self.settled.is_empty();
        let is_open = |e: &&Entry<'_>| !interrupted || !self.settled.contains_key(&e.id());
        let open: Vec<&Entry<'_>> = entries.iter().filter(is_open).collect();
        let mut parts = vec![&open[..]];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            match attempt(part) {
                // As a rule; nothing needs to be remembered.
                Tried::Taken if part.len() == entries.len() => return Ok(()),
                Tried::Taken => self.settle(part, 0),
                Tried::Lost { records, why } => {
                    self.why.get_or_insert(why);
                    self.settle(part, records);
                }
                Tried::Refused(why) if part.len() == 1 => {
                    self.why.get_or_insert(why);
                    self.settle(part, 1);
                }
                Tried::Refused(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Tried::Away(why) => return Err(Failed::Away(why)),
            }
        }
        self.finish(entries)
    }

    fn settle(&mut self, part: &[&Entry<'_>], lost: usize) {
        let taken = part.len().saturating_sub(lost);
        let fates = part.iter().enumerate();
        let fates = fates.map(|(at, entry)| (entry.id(), at < taken));
        self.settled.extend(fates);
    }

    /// Every record of the load is settled.
    fn finish(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let fates = entries.iter().map(|entry| self.settled.remove(&entry.id()));
        let lost = fates.filter(|fate| *fate == Some(false)).count();
        if lost == 0 {
            return Ok(());
        }
        Err(Failed::Lost {
            records: lost as u64,
            why: self.why.take().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(numbers: std::ops::Range<u64>) -> Vec<Entry<'static>> {
        let entry = |number| Entry {
            number,
            ..Entry::default()
        };
        numbers.map(entry).collect()
    }

    /// A sink that takes any records but these numbers, and goes away after so many tries.
    struct Picky {
        bad: &'static [u64],
        tries: usize,
        taken: Vec<u64>,
    }

    impl Picky {
        fn attempt(&mut self, part: &[&Entry<'_>]) -> Tried {
            if self.tries == 0 {
                return Tried::Away("gone".to_owned());
            }
            self.tries -= 1;
            if part.iter().any(|entry| self.bad.contains(&entry.number)) {
                return Tried::Refused("bad".to_owned());
            }
            self.taken.extend(part.iter().map(|entry| entry.number));
            Tried::Taken
        }
    }

    fn lost(delivered: Result<(), Failed>) -> u64 {
        match delivered {
            Ok(()) => 0,
            Err(Failed::Lost { records, .. }) => records,
            Err(Failed::Away(why)) => panic!("{why}"),
        }
    }

    #[test]
    fn what_a_sink_objects_to_costs_nothing_else() {
        let mut parts = Parts::default();
        let mut sink = Picky {
            bad: &[5, 900],
            tries: usize::MAX,
            taken: Vec::new(),
        };
        let load = entries(0..1024);
        assert_eq!(lost(parts.deliver(&load, |part| sink.attempt(part))), 2);
        let good: Vec<u64> = (0..1024).filter(|n| ![5, 900].contains(n)).collect();
        assert_eq!(sink.taken, good);
        assert!(parts.settled.is_empty());
    }

    #[test]
    fn one_that_goes_away_in_between_gets_every_record_once() {
        for tries in 0..12 {
            let mut parts = Parts::default();
            let mut sink = Picky {
                bad: &[2],
                tries,
                taken: Vec::new(),
            };
            let load = entries(0..8);
            let gone = parts.deliver(&load, |part| sink.attempt(part));
            let mut sum = gone.map_or_else(
                |failed| match failed {
                    Failed::Away(_) => 0,
                    Failed::Lost { records, .. } => records,
                },
                |()| 0,
            );
            if sum == 0 {
                sink.tries = usize::MAX;
                // Another load than before.
                for load in [entries(0..3), entries(3..9)] {
                    sum += lost(parts.deliver(&load, |part| sink.attempt(part)));
                }
            }
            let all = if tries < 7 { 9 } else { 8 };
            let good: Vec<u64> = (0..all).filter(|n| *n != 2).collect();
            assert_eq!((sum, &sink.taken), (1, &good), "after {tries}");
            assert!(parts.settled.is_empty());
        }
    }
}
