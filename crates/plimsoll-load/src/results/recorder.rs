//! Results of one shard: counted and timed per second, handed over when the second is over.
//!
//! One [`Recorder`] belongs to one shard and takes no lock. The seconds that it hands over come back, emptied, to be filled again.
//! Adding shards up is the collector's.

mod dialled;
mod second;
mod series;

pub(crate) use dialled::Dialled;
pub(crate) use second::{Phases, SECOND, ShardSecond, Side, SideSecond, StepSecond};
pub(crate) use series::Series;

use crate::clock::Nanos;
use crate::fragment::Stalls;
use crate::results::exchange::Exchange;
use crate::scenario::Pass;
use plimsoll_base::outcome::Outcome;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::time::Duration;

/// A shard's message to the collector.
#[derive(Debug)]
pub(crate) enum Report {
    /// One of its seconds is over.
    Second(usize, Box<ShardSecond>),
    /// A second of the watchdog is over.
    Watched(WatchedSecond),
    /// It, or the watchdog as the one after the last thread, has ended; there will be no further second of it.
    Done(usize),
}

/// Observations of the watchdog in one second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WatchedSecond {
    /// Which, from the start of the load.
    pub(crate) second: u32,
    /// By [`Side`]: that of the moment in which the stall was seen.
    pub(crate) sides: [Stalls; 2],
}

/// One exchange that ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) side: Side,
    pub(crate) step: usize,
    /// The number of the virtual user.
    pub(crate) user: usize,
    pub(crate) outcome: Outcome,
    /// Whether another exchange follows the redirect that this one was answered by.
    pub(crate) followed: bool,
    /// Whether the plan's check held; `None` when it has none.
    pub(crate) check: Option<bool>,
    /// Since the start of the load.
    pub(crate) intended: Nanos,
    /// From there to its release.
    pub(crate) late: Nanos,
    pub(crate) response: Nanos,
    /// `None` when there was a connection already, or none could be made.
    pub(crate) connect: Option<Nanos>,
    /// `None` when nothing was sent.
    pub(crate) service: Option<Nanos>,
    /// Of `service`, until the first byte of the answer; `None` when all of it came at once, or nothing.
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) bytes_received: u64,
}

impl Ended {
    /// Its record when exchanges are handed over one by one.
    fn singly(self, class: OutcomeClass) -> Exchange {
        Exchange {
            step: self.step,
            user: self.user,
            warmup: self.side == Side::Warmup,
            intended: Duration::from_nanos(self.intended),
            outcome: self.outcome,
            class,
            followed: self.followed,
            late: Duration::from_nanos(self.late),
            response: Duration::from_nanos(self.response),
            connect: self.connect.map(Duration::from_nanos),
            service: self.service.map(Duration::from_nanos),
            first_byte: self.first_byte.map(Duration::from_nanos),
            body_bytes: self.bytes_received,
        }
    }
}

/// Why a second could not be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nobody took the ones before it.
    NotTaken,
    /// The collector has given up; it says why.
    NoCollector,
}

/// Gauges that live across seconds, of one side.
#[derive(Debug, Clone, Default)]
struct Gauges {
    waiting: u64,
    iterations: u64,
    exchanges: Vec<u64>,
}

/// Counts and times of one shard.
#[derive(Debug)]
pub(crate) struct Recorder {
    shard: usize,
    phases: Phases,
    live: Box<ShardSecond>,
    live_until: Nanos,
    /// Up to where gauges have been integrated.
    integrated: Nanos,
    gauges: [Gauges; 2],
    connections: u64,
    reports: SyncSender<Report>,
    emptied: Receiver<Box<ShardSecond>>,
    lost: Option<Lost>,
    /// Whether each exchange is kept by itself, too.
    singly: bool,
    /// Values taken out of the answer of the exchange that ends next.
    extracted: Vec<Option<String>>,
}

impl Recorder {
    /// A recorder at the start of the load; `steps` has for each step of the plan how many checks are counted apart from its status.
    pub(crate) fn new(
        shard: usize,
        phases: Phases,
        steps: &[usize],
        reports: SyncSender<Report>,
        emptied: Receiver<Box<ShardSecond>>,
    ) -> Self {
        let gauges = Gauges {
            exchanges: vec![0; steps.len()],
            ..Gauges::default()
        };
        Self {
            shard,
            phases,
            live: Box::new(ShardSecond::new(steps)),
            live_until: phases.piece_end(0),
            integrated: 0,
            gauges: [gauges.clone(), gauges],
            connections: 0,
            reports,
            emptied,
            lost: None,
            singly: false,
            extracted: Vec::new(),
        }
    }

    /// From now on each exchange is handed over by itself, too.
    pub(crate) fn keep_exchanges(&mut self) {
        self.singly = true;
    }

    /// The side of an iteration, by its intended start.
    pub(crate) fn side(&self, intended: Nanos) -> Side {
        if intended < self.phases.warmup {
            Side::Warmup
        } else {
            Side::Measured
        }
    }

    /// Arrivals end at `at`, before the plan's end. What this shard has done since then, if it learns of it late, counts as before.
    pub(crate) fn end_at(&mut self, at: Nanos) {
        self.phases.end = at;
        self.live_until = self.phases.piece_end(self.live.from);
    }

    /// Hands over every second that ended before `now`. Called with the time of whatever is recorded next.
    pub(crate) fn roll(&mut self, now: Nanos) {
        // Several seconds at once are those of a shard that was kept from running, probably with the collector: then it may wait
        // for it, with the last of them too. One that is on time must not.
        let is_late = now >= self.live_until + SECOND;
        while now >= self.live_until {
            self.integrate(self.live_until);
            let report = self.close_second(self.live_until);
            self.live_until = self.phases.piece_end(self.live_until);
            self.lost = if is_late {
                let sent = self.reports.send(report);
                sent.err().map(|_| Lost::NoCollector)
            } else {
                match self.reports.try_send(report) {
                    Ok(()) => None,
                    Err(TrySendError::Full(_)) => Some(Lost::NotTaken),
                    Err(TrySendError::Disconnected(_)) => Some(Lost::NoCollector),
                }
            }
            .or(self.lost);
        }
        self.integrate(now);
    }

    /// Adds the time until `now` to the integrals of gauges, which have not changed since this was last called.
    fn integrate(&mut self, now: Nanos) {
        let time = now.saturating_sub(self.integrated);
        self.integrated += time;
        for (side, gauges) in self.live.sides.iter_mut().zip(&self.gauges) {
            side.in_flight_ns += gauges.iterations * time;
        }
    }

    /// Where the second being filled ends.
    pub(crate) fn next_roll(&self) -> Nanos {
        self.live_until
    }

    /// Why a second had to be thrown away, and the run with it.
    pub(crate) fn lost(&self) -> Option<Lost> {
        self.lost
    }

    /// Hands over what is left, and says that this was all.
    pub(crate) fn finish(&mut self) {
        let last = self.close_second(self.integrated);
        for report in [last, Report::Done(self.shard)] {
            if self.reports.send(report).is_err() {
                // The collector is gone, and with it whoever wanted to know.
                return;
            }
        }
    }

    /// The arrival intended for `at` came due; returns its side.
    pub(crate) fn intended(&mut self, at: Nanos) -> Side {
        let side = self.side(at);
        self.gauges[side as usize].waiting += 1;
        self.live(side).intended += 1;
        side
    }

    /// An arrival found the queue full.
    pub(crate) fn dropped(&mut self, side: Side) {
        self.gauges[side as usize].waiting -= 1;
        self.live(side).dropped += 1;
    }

    /// An arrival found the queue full through our fault.
    pub(crate) fn dropped_late(&mut self, side: Side) {
        self.live(side).dropped_late += 1;
        self.dropped(side);
    }

    /// So many arrivals, of which the last was intended for `at`, had piled up until now.
    pub(crate) fn behind(&mut self, at: Nanos, arrivals: u64) {
        let side = self.side(at);
        let behind = &mut self.live(side).behind;
        *behind = arrivals.max(*behind);
    }

    /// The arrival intended for `at` still waits `now`, when the load has ended.
    pub(crate) fn unstarted(&mut self, at: Nanos, now: Nanos) {
        let side = self.side(at);
        let live = self.live(side);
        live.unstarted += 1;
        live.time(TimeKind::UnstartedTime, now.saturating_sub(at));
        self.dropped(side);
    }

    /// The iteration intended for `at` started, after waiting so long for us and so long for a virtual user; returns its side.
    pub(crate) fn started(&mut self, at: Nanos, pacing_lag: Nanos, connection_wait: Nanos) -> Side {
        let side = self.side(at);
        let gauges = &mut self.gauges[side as usize];
        gauges.waiting -= 1;
        gauges.iterations += 1;
        let live = self.live(side);
        live.sent += 1;
        live.time(TimeKind::PacingLag, pacing_lag);
        live.time(TimeKind::ConnectionWait, connection_wait);
        side
    }

    /// An iteration ended; `None` when we ended it.
    pub(crate) fn iterated(&mut self, side: Side, time: Option<Nanos>) {
        self.gauges[side as usize].iterations -= 1;
        if let Some(time) = time {
            self.live(side).time(TimeKind::IterationTime, time);
        }
    }

    /// A connection was established.
    pub(crate) fn connected(&mut self, side: Side, dialled: Dialled) {
        self.connections += 1;
        let live = self.live(side);
        live.connected += 1;
        live.time(TimeKind::ConnectTime, dialled.total());
        for (kind, time) in [
            (TimeKind::DnsTime, dialled.lookup),
            (TimeKind::TcpTime, Some(dialled.connect)),
            (TimeKind::TlsTime, dialled.tls),
        ] {
            if let Some(time) = time {
                live.time(kind, time);
            }
        }
    }

    /// A connection was closed, by whichever end.
    pub(crate) fn disconnected(&mut self) {
        self.connections -= 1;
    }

    /// An idle connection turned out to be closed by the server.
    pub(crate) fn reconnected(&mut self, side: Side) {
        self.live(side).reconnected += 1;
    }

    /// A connection could not be made for want of a port or descriptor.
    pub(crate) fn exhausted(&mut self, side: Side) {
        self.live(side).exhausted += 1;
    }

    /// An exchange began.
    pub(crate) fn sent(&mut self, side: Side, step: usize) {
        self.gauges[side as usize].exchanges[step] += 1;
        self.live(side).steps[step].sent += 1;
    }

    /// An exchange's request goes out.
    pub(crate) fn written(&mut self, side: Side, step: usize, bytes: u64) {
        self.live(side).steps[step].bytes_sent += bytes;
    }

    /// An exchange ended; returns how it counts.
    pub(crate) fn ended(&mut self, ended: Ended) -> OutcomeClass {
        self.gauges[ended.side as usize].exchanges[ended.step] -= 1;
        let step = &mut self.live(ended.side).steps[ended.step];
        let mut passed = true;
        match ended.outcome {
            Outcome::Answered(status) => {
                *step.statuses.entry(status).or_default() += 1;
                passed = ended.check.unwrap_or(status < 400);
                match ended.check {
                    Some(true) => step.check.passed += 1,
                    Some(false) => step.check.failed += 1,
                    None => {}
                }
            }
            Outcome::Unanswered(reason) => *step.reasons.entry(reason).or_default() += 1,
            Outcome::Aborted => {}
        }
        step.bytes_received += ended.bytes_received;
        let class = ended.outcome.class(passed);
        let series = step.class(class);
        series.record(ended.response, ended.service);
        if let (Outcome::Answered(_), Some(first), Some(service)) =
            (ended.outcome, ended.first_byte, ended.service)
        {
            series.record_parts(first, service);
        }
        if self.singly {
            let extracted = std::mem::take(&mut self.extracted);
            self.live.exchanges.push(ended.singly(class), extracted);
        }
        class
    }

    /// A pass through a group ended at `end`.
    pub(crate) fn grouped(&mut self, side: Side, pass: Pass, end: Nanos) {
        let groups = &mut self.live(side).groups;
        if groups.len() <= pass.group {
            groups.resize_with(pass.group + 1, || None);
        }
        let tally = groups[pass.group].get_or_insert_default();
        tally.count += 1;
        tally.failed += u64::from(pass.failed);
        tally.duration.record_nanos(end.saturating_sub(pass.begun));
        tally.response_time.record_nanos(pass.response);
    }

    /// The checks of an exchange that has more than its status came out so, in the order of the plan.
    pub(crate) fn checked(&mut self, side: Side, step: usize, results: &[bool]) {
        let counts = &mut self.live(side).steps[step].further;
        for (count, passed) in counts.iter_mut().zip(results) {
            if *passed {
                count.passed += 1;
            } else {
                count.failed += 1;
            }
        }
    }

    /// Keeps what was taken out of the answer of the exchange that ends next, if exchanges are handed over by themselves.
    pub(crate) fn extracted(&mut self, values: impl Iterator<Item = Option<String>>) {
        if self.singly {
            self.extracted.extend(values);
        }
    }

    /// An exchange was ended by us: its intended start, and how long after that it was released and ended.
    pub(crate) fn aborted(
        &mut self,
        side: Side,
        step: usize,
        (intended, late, response): (Nanos, Nanos, Nanos),
    ) {
        self.gauges[side as usize].exchanges[step] -= 1;
        self.live(side).steps[step]
            .class(OutcomeClass::Aborted)
            .record(response, None);
        if self.singly {
            self.live.exchanges.cut_off(step, intended, late, response);
        }
    }

    fn live(&mut self, side: Side) -> &mut SideSecond {
        &mut self.live.sides[side as usize]
    }

    fn close_second(&mut self, to: Nanos) -> Report {
        let mut next = self.emptied.try_recv().unwrap_or_else(|_| {
            let steps = self.live.sides[0].steps.iter();
            let checks: Vec<usize> = steps.map(|step| step.further.len()).collect();
            Box::new(ShardSecond::new(&checks))
        });
        next.from = to;
        let mut full = std::mem::replace(&mut self.live, next);
        full.to = to;
        full.connections = self.connections;
        for (side, gauges) in full.sides.iter_mut().zip(&self.gauges) {
            side.waiting = gauges.waiting;
            side.in_flight = gauges.iterations;
            for (step, in_flight) in side.steps.iter_mut().zip(&gauges.exchanges) {
                step.in_flight = *in_flight;
            }
        }
        Report::Second(self.shard, full)
    }
}

#[cfg(test)]
mod tests;
