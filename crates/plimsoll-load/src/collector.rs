//! Adds up the shards: seconds in, fragments and accounts out.
//!
//! A second is complete when every shard has handed it over or has ended. Memory is bounded by how far shards may be apart, which
//! the recorder's channel bounds.

mod accounts;
mod merge;

pub(crate) use accounts::AccountsError;

use crate::arrivals::Arrivals;
use crate::clock::Nanos;
use crate::deal::Deal;
use crate::exchange::Exchanges;
use crate::fragment::{Accounts, Fragment};
use crate::recorder::{Report, SECOND, ShardSecond};
use crate::watchdog::WatchedSecond;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::mpsc::{Receiver, SyncSender};

/// How long the phases of a load last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Phases {
    /// Where the warm-up ends.
    pub(crate) warmup: Nanos,
    /// Where arrivals end.
    pub(crate) end: Nanos,
}

/// Adds up the shards of one run.
#[derive(Debug)]
pub(crate) struct Collector {
    phases: Phases,
    names: Names,
    /// All arrivals of the plan that no fragment has counted as due yet; `None` in the closed model.
    /// By scenario; none where arrivals are not scheduled.
    schedule: Vec<Peekable<Arrivals>>,
    /// By thread, and of the watchdog after them: the first second that it has not handed over; `None` once it has ended.
    progress: Vec<Option<u32>>,
    /// Which thread is the lookout, if there is one.
    lookout: Option<usize>,
    pending: BTreeMap<u32, [Fragment; 2]>,
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
    /// A collector for the threads of a deal and a plan with these names; `schedule` is what they release together.
    pub(crate) fn new(phases: Phases, deal: &Deal, names: Names, schedule: Vec<Arrivals>) -> Self {
        Self {
            phases,
            names,
            schedule: schedule.into_iter().map(Iterator::peekable).collect(),
            progress: vec![Some(0); deal.threads() + 1],
            lookout: deal.lookout(),
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
                    self.progress[thread] = Some(second.second + 1);
                    if let Some(each) = &mut each {
                        each(&second.exchanges);
                    }
                    second.clear();
                    if emptied[thread].try_send(second).is_err() {
                        // The shard has enough of them, or has ended.
                    }
                }
                Report::Watched(seen) => {
                    self.add_stalls(&seen);
                    if let Some(watchdog) = self.progress.last_mut() {
                        *watchdog = Some(seen.second + 1);
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
        let is_lookout = self.lookout == Some(thread);
        let sides = sides(&mut self.pending, second.second, self.names.checks.len());
        for (fragment, side) in sides.iter_mut().zip(&second.sides) {
            fragment.connections += second.connections;
            merge::add(fragment, side, &self.names);
            if is_lookout {
                merge::add_lookout(fragment, side);
            }
        }
    }

    fn add_stalls(&mut self, seen: &WatchedSecond) {
        let sides = sides(&mut self.pending, seen.second, self.names.checks.len());
        for (fragment, stalls) in sides.iter_mut().zip(&seen.sides) {
            fragment.stalls = *stalls;
        }
    }

    fn emit_complete(&mut self, emit: &mut dyn FnMut(Fragment)) -> Result<(), AccountsError> {
        let complete = self.progress.iter().flatten().min().copied();
        while let Some(entry) = self.pending.first_entry()
            && complete.is_none_or(|first_open| *entry.key() < first_open)
        {
            for mut fragment in entry.remove() {
                self.place(&mut fragment);
                accounts::check_fragment(&fragment)?;
                accounts::add(&mut self.accounts, &fragment);
                if fragment.length_s > 0.0 || merge::has_content(&fragment) {
                    emit(fragment);
                }
            }
        }
        Ok(())
    }

    /// Says which part of its second the fragment's side covers, and how many arrivals are due in it. Called in ascending order.
    fn place(&mut self, fragment: &mut Fragment) {
        let start = u64::from(fragment.second) * SECOND;
        let Phases { warmup, end } = self.phases;
        let (from, to) = if fragment.warmup {
            (0, warmup.min(end))
        } else {
            (warmup, end.max(warmup))
        };
        let (from, to) = (
            from.clamp(start, start + SECOND),
            to.clamp(start, start + SECOND),
        );
        fragment.start_s = seconds(from);
        fragment.length_s = seconds(to.saturating_sub(from));
        let due = |schedule: &mut Peekable<Arrivals>| -> u64 {
            std::iter::from_fn(|| schedule.next_if(|arrival| arrival.at < to))
                .map(|_| 1)
                .sum()
        };
        fragment.due = (!self.schedule.is_empty()).then(|| self.schedule.iter_mut().map(due).sum());
    }
}

/// The fragments of a second, both empty at first.
fn sides(
    pending: &mut BTreeMap<u32, [Fragment; 2]>,
    second: u32,
    steps: usize,
) -> &mut [Fragment; 2] {
    pending
        .entry(second)
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
    use crate::arrivals::Part;
    use crate::plan::Profile;
    use crate::recorder::{Ended, Recorder};
    use plimsoll_base::outcome::Outcome;
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    const MS: Nanos = 1_000_000;

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
            response: took,
            connect: None,
            service: Some(took),
            first_byte: None,
            bytes_received: 1,
        });
        recorder.iterated(side, Some(took));
    }

    fn collect(record: impl Fn(usize, &mut Recorder)) -> (Vec<Fragment>, Accounts) {
        let (reports, received) = sync_channel(64);
        let (emptied, give_back): (Vec<_>, Vec<_>) = (0..2).map(|_| sync_channel(4)).unzip();
        for (shard, emptied) in give_back.into_iter().enumerate() {
            let mut recorder = Recorder::new(shard, 1500 * MS, &[0], reports.clone(), emptied);
            record(shard, &mut recorder);
            recorder.finish();
        }
        reports.send(Report::Done(2)).unwrap();
        drop(reports);
        let phases = Phases {
            warmup: 1500 * MS,
            end: 3000 * MS,
        };
        let length = Duration::from_secs(3);
        let profile = [Profile::Constant { rate: 10.0 }.lasting(length)];
        let schedule = Arrivals::new(&profile, 0, length, Part::All);
        let mut fragments = vec![];
        let accounts = Collector::new(
            phases,
            &Deal::without_lookout(2),
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
        second 1 from 1 for 0.5 warmup true: due Some(5) intended 2 ended 2 in flight 0
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
        let mut recorder = Recorder::new(0, 0, &[0], reports.clone(), give_back);
        recorder.intended(0);
        recorder.finish();
        drop(recorder);
        // The watchdog, too, has ended.
        reports.send(Report::Done(1)).unwrap();
        drop(reports);
        let phases = Phases {
            warmup: 0,
            end: SECOND,
        };
        let result = Collector::new(phases, &Deal::without_lookout(1), one_step(), vec![]).collect(
            received,
            &[emptied],
            || None,
            &mut |_| {},
            None,
        );
        assert_eq!(
            result.unwrap_err().to_string(),
            "measured: 1 arrivals were intended, but 0 sent and 0 dropped"
        );
    }
}
