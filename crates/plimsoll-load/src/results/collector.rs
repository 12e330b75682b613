//! Adds up the shards: seconds in, fragments and accounts out.
//!
//! A second is complete when every shard has handed it over or has ended. Memory is bounded by how far shards may be apart, which
//! the recorder's channel bounds.

mod accounts;
mod merge;

pub(crate) use accounts::AccountsError;

use crate::arrivals::Arrivals;
use crate::clock::Nanos;
use crate::fragment::{Accounts, Fragment};
use crate::partition::Partition;
use crate::results::exchange::Exchanges;
use crate::results::recorder::{Phases, Report, SECOND, ShardSecond, WatchedSecond};
use plimsoll_base::ignored::Ignored as _;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::mpsc::{Receiver, SyncSender};

/// Adds up the shards of one run.
#[derive(Debug)]
pub(crate) struct Collector {
    phases: Phases,
    names: Names,
    /// All arrivals of the plan that no fragment has counted as due yet; `None` in the closed model.
    /// By scenario; none where arrivals are not scheduled.
    schedule: Vec<Peekable<Arrivals>>,
    /// By thread, and of the watchdog after them: up to where it has handed over what it did; `None` once it has ended.
    progress: Vec<Option<Nanos>>,
    /// Which thread is the canary, if there is one.
    canary: Option<usize>,
    /// By where they begin: seconds, and the pieces of those in which a phase ends.
    pending: BTreeMap<Nanos, [Fragment; 2]>,
    accounts: Accounts,
}

/// The names under which shards' counts and times are added up.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By step: of its checks.
    pub(crate) checks: Vec<Vec<String>>,
    /// Of groups.
    pub(crate) groups: Vec<String>,
    /// The places of the steps with which iterations begin and which are in no iteration twice; none, where that is not certain.
    pub(crate) firsts: Vec<usize>,
}

impl Collector {
    /// A collector for the threads of a partition and a plan with these names; `schedule` is what they release together.
    pub(crate) fn new(
        phases: Phases,
        partition: &Partition,
        names: Names,
        schedule: Vec<Arrivals>,
    ) -> Self {
        Self {
            phases,
            names,
            schedule: schedule.into_iter().map(Iterator::peekable).collect(),
            progress: vec![Some(0); partition.threads() + 1],
            canary: partition.canary(),
            pending: BTreeMap::new(),
            accounts: Accounts::default(),
        }
    }

    /// Takes reports until every shard and the watchdog have ended; `emit` gets the fragments in order. `ended` says where arrivals ended, once they
    /// have. Emptied seconds go back through `emptied`, one sender per thread. `each`, if anybody wants them, gets the exchanges one by one.
    ///
    /// # Errors
    /// When a fragment contradicts itself, or the totals do not add up.
    pub(crate) fn collect(
        mut self,
        reports: Receiver<Report>,
        emptied: &[SyncSender<Box<ShardSecond>>],
        ended: impl Fn() -> Option<Nanos>,
        emit: &mut dyn FnMut(Fragment),
        mut each: Option<&mut dyn FnMut(&Exchanges)>,
    ) -> Result<Accounts, AccountsError> {
        for report in reports {
            match report {
                Report::Second(thread, mut second) => {
                    self.add(thread, &second);
                    self.progress[thread] = Some(second.to);
                    if let Some(each) = &mut each {
                        each(&second.exchanges);
                    }
                    second.clear();
                    emptied[thread]
                        .try_send(second)
                        .ignored("the shard has enough of them, or has ended");
                }
                Report::Watched(seen) => {
                    self.add_stalls(&seen);
                    if let Some(watchdog) = self.progress.last_mut() {
                        *watchdog = Some((u64::from(seen.second) + 1) * SECOND);
                    }
                }
                Report::Done(thread) => self.progress[thread] = None,
            }
            if let Some(stopped) = ended() {
                self.phases.end = stopped;
            }
            self.emit_complete(emit)?;
        }
        self.accounts.stopped = ended().is_some();
        self.accounts.ended_s = seconds(self.phases.end);
        accounts::check(&self.accounts, &self.names.firsts)?;
        Ok(self.accounts)
    }

    fn add(&mut self, thread: usize, second: &ShardSecond) {
        let is_lookout = self.canary == Some(thread);
        let sides = sides(&mut self.pending, second.from, self.names.checks.len());
        for (fragment, side) in sides.iter_mut().zip(&second.sides) {
            fragment.connections += second.connections;
            merge::add(fragment, side, &self.names);
            if is_lookout {
                merge::add_lookout(fragment, side);
            }
        }
    }

    fn add_stalls(&mut self, seen: &WatchedSecond) {
        let second = u64::from(seen.second) * SECOND;
        // Those of the measured side belong to the piece with which it begins.
        let warmup = self.phases.warmup;
        let begun = if (second..second + SECOND).contains(&warmup) {
            warmup
        } else {
            second
        };
        for (side, from) in [second, begun].into_iter().enumerate() {
            let sides = sides(&mut self.pending, from, self.names.checks.len());
            sides[side].stalls = seen.sides[side];
        }
    }

    fn emit_complete(&mut self, emit: &mut dyn FnMut(Fragment)) -> Result<(), AccountsError> {
        let complete = self.progress.iter().flatten().min().copied();
        while let Some(entry) = self.pending.first_entry()
            && complete.is_none_or(|open| *entry.key() < open)
        {
            let from = *entry.key();
            for mut fragment in entry.remove() {
                self.place(&mut fragment, from);
                accounts::check_fragment(&fragment)?;
                accounts::add(&mut self.accounts, &fragment);
                if fragment.length_s > 0.0 || merge::has_content(&fragment) {
                    emit(fragment);
                }
            }
        }
        Ok(())
    }

    /// Says which time the fragment, which begins at `start`, covers, how much of that is of its side's phase, and how many arrivals
    /// are due in it. Called in ascending order.
    fn place(&mut self, fragment: &mut Fragment, start: Nanos) {
        let Phases { warmup, end } = self.phases;
        let piece_end = self.phases.piece_end(start);
        let (from, to) = if fragment.warmup {
            (0, warmup.min(end))
        } else {
            (warmup, end.max(warmup))
        };
        let (from, to) = (from.clamp(start, piece_end), to.clamp(start, piece_end));
        fragment.start_s = seconds(from);
        fragment.length_s = seconds(to.saturating_sub(from));
        fragment.covered_s = seconds(piece_end - start);
        let due = |schedule: &mut Peekable<Arrivals>| -> u64 {
            std::iter::from_fn(|| schedule.next_if(|arrival| arrival.at < to))
                .map(|_| 1)
                .sum()
        };
        fragment.due = (!self.schedule.is_empty()).then(|| self.schedule.iter_mut().map(due).sum());
    }
}

/// The fragments of a second or piece that begins at `from`, both empty at first.
fn sides(
    pending: &mut BTreeMap<Nanos, [Fragment; 2]>,
    from: Nanos,
    steps: usize,
) -> &mut [Fragment; 2] {
    let second = u32::try_from(from / SECOND).unwrap_or(u32::MAX);
    pending
        .entry(from)
        .or_insert_with(|| [true, false].map(|warmup| merge::empty(second, warmup, steps)))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact to a nanosecond for 100 days"
)]
fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::SchedulePart;
    use crate::plan::Profile;
    use crate::results::recorder::{Ended, Recorder};
    use plimsoll_base::outcome::Outcome;
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    const MS: Nanos = 1_000_000;
    const PHASES: Phases = Phases {
        warmup: 1500 * MS,
        end: 3000 * MS,
    };

    /// One exchange that was intended at `at` and took `took`, as the engine would record it.
    fn exchange(recorder: &mut Recorder, at: Nanos, took: Nanos) {
        recorder.roll(at);
        recorder.intended(at);
        let side = recorder.started(at, 0, 0);
        recorder.sent(side, 0);
        recorder.roll(at + took);
        recorder.ended(Ended {
            side,
            step: 0,
            user: 0,
            outcome: Outcome::Answered(200),
            followed: false,
            check: None,
            intended: at,
            late: 0,
            response: took,
            connect: None,
            service: Some(took),
            first_byte: None,
            bytes_received: 1,
        });
        recorder.iterated(side, Some(took));
    }

    fn collect(record: impl Fn(usize, &mut Recorder)) -> (Vec<Fragment>, Accounts) {
        collect_in(PHASES, record)
    }

    fn collect_in(
        phases: Phases,
        record: impl Fn(usize, &mut Recorder),
    ) -> (Vec<Fragment>, Accounts) {
        let (reports, received) = sync_channel(64);
        let (emptied, give_back): (Vec<_>, Vec<_>) = (0..2).map(|_| sync_channel(4)).unzip();
        for (shard, emptied) in give_back.into_iter().enumerate() {
            let mut recorder = Recorder::new(shard, phases, &[0], reports.clone(), emptied);
            record(shard, &mut recorder);
            recorder.finish();
        }
        reports.send(Report::Done(2)).unwrap();
        drop(reports);
        let length = Duration::from_secs(3);
        let profile = [Profile::Constant { rate: 10.0 }.lasting(length)];
        let schedule = Arrivals::new(&profile, 0, length, SchedulePart::All);
        let mut fragments = vec![];
        let accounts = Collector::new(
            phases,
            &Partition::without_lookout(2),
            one_step(),
            vec![schedule],
        )
        .collect(
            received,
            &emptied,
            || None,
            &mut |fragment| fragments.push(fragment),
            None,
        )
        .unwrap();
        (fragments, accounts)
    }

    fn one_step() -> Names {
        Names {
            checks: vec![Vec::new()],
            groups: Vec::new(),
            firsts: vec![0],
        }
    }

    #[test]
    fn seconds_are_split_at_the_warm_up_and_shards_are_added() {
        let (fragments, accounts) = collect(|_, recorder| {
            exchange(recorder, 100 * MS, MS);
            exchange(recorder, 1400 * MS, 200 * MS);
            exchange(recorder, 1600 * MS, 500 * MS);
            exchange(recorder, 2900 * MS, 2000 * MS);
            recorder.roll(4900 * MS);
        });
        let table: Vec<String> = fragments
            .iter()
            .map(|f| {
                format!(
                    "second {} from {} for {} warmup {}: due {:?} intended {} ended {} in flight {}",
                    f.second,
                    f.start_s,
                    f.length_s,
                    f.warmup,
                    f.due,
                    f.intended,
                    f.steps[0].classes.values().map(|c| c.count).sum::<u64>(),
                    f.in_flight
                )
            })
            .collect();
        insta::assert_snapshot!(table.join("\n"), @r"
        second 0 from 0 for 1 warmup true: due Some(10) intended 2 ended 2 in flight 0
        second 1 from 1 for 0.5 warmup true: due Some(5) intended 2 ended 0 in flight 2
        second 1 from 1.5 for 0 warmup true: due Some(0) intended 0 ended 2 in flight 0
        second 1 from 1.5 for 0.5 warmup false: due Some(5) intended 2 ended 0 in flight 2
        second 2 from 2 for 1 warmup false: due Some(10) intended 2 ended 2 in flight 2
        second 3 from 3 for 0 warmup false: due Some(0) intended 0 ended 0 in flight 2
        second 4 from 4 for 0 warmup false: due Some(0) intended 0 ended 2 in flight 0
        ");
        assert_eq!(
            (accounts.warmup.intended, accounts.measured.intended),
            (4, 4)
        );
    }

    #[test]
    fn what_ends_after_the_load_is_apart_from_what_ends_within_it() {
        let phases = Phases {
            warmup: 0,
            end: 1100 * MS,
        };
        let (fragments, _) = collect_in(phases, |_, recorder| {
            exchange(recorder, 900 * MS, 150 * MS);
            exchange(recorder, 1090 * MS, 20 * MS);
            recorder.roll(2000 * MS);
        });
        let ended: Vec<_> = fragments
            .iter()
            .map(|own| {
                let ended: u64 = own.steps[0].classes.values().map(|class| class.count).sum();
                (own.start_s, own.length_s, own.covered_s, ended)
            })
            .collect();
        let expected = [(0.0, 1.0, 1.0, 0), (1.0, 0.1, 0.1, 2), (1.1, 0.0, 0.9, 2)];
        assert_eq!(ended, expected);
    }

    #[test]
    fn a_shard_that_ends_early_holds_nobody_up() {
        let (fragments, accounts) = collect(|shard, recorder| {
            if shard == 1 {
                exchange(recorder, 2100 * MS, MS);
            }
        });
        assert_eq!(fragments.len(), 4);
        assert_eq!(accounts.measured.sent, 1);
    }

    #[test]
    fn accounts_that_do_not_add_up_are_an_error() {
        let (reports, received) = sync_channel(8);
        let (emptied, give_back) = sync_channel(4);
        let phases = Phases {
            warmup: 0,
            end: SECOND,
        };
        let mut recorder = Recorder::new(0, phases, &[0], reports.clone(), give_back);
        recorder.intended(0);
        recorder.finish();
        drop(recorder);
        // The watchdog, too, has ended.
        reports.send(Report::Done(1)).unwrap();
        drop(reports);
        let result = Collector::new(phases, &Partition::without_lookout(1), one_step(), vec![])
            .collect(received, &[emptied], || None, &mut |_| {}, None);
        assert_eq!(
            result.unwrap_err().to_string(),
            "measured: 1 arrivals were intended, but 0 sent and 0 dropped"
        );
    }
}
