//! Levels of targets in virtual time: one queue in front of servers whose work takes longer or shorter with time, or always as long.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "simulated times and counts"
)]

use super::{Held, judge};
use crate::analysis::bearing;
use crate::record::{Backlog, Drift, DriftDirection, GeneratorHealth, Halves, PARTS};
use plimsoll_base::random::{Draw, Stream};

const WARMUP_S: f64 = 2.0;

/// How long a server works for one request.
#[derive(Clone, Copy)]
enum Work {
    Fixed,
    Exponential,
    /// With the deviation of its logarithm: many are quick, some take long.
    Lognormal(f64),
}

/// How work changes, as a factor at a time of the run.
#[derive(Clone, Copy)]
enum Change {
    Not,
    /// So much more every second.
    Leaks(f64),
    /// So much more at first, which dwindles: by a factor of e in so many seconds.
    Warms(f64, f64),
}

#[derive(Clone, Copy)]
struct Target {
    servers: usize,
    mean_s: f64,
    work: Work,
    change: Change,
}

impl Target {
    const STABLE: Self = Self {
        servers: 1,
        mean_s: 0.002,
        work: Work::Exponential,
        change: Change::Not,
    };

    fn takes(self, t: f64, draw: &mut Draw) -> f64 {
        let chance = match self.work {
            Work::Fixed => 1.0,
            Work::Exponential => draw.exponential(),
            Work::Lognormal(sigma) => (sigma * draw.normal() - sigma * sigma / 2.0).exp(),
        };
        let factor = match self.change {
            Change::Not => 1.0,
            Change::Leaks(share) => 1.0 + share * t,
            Change::Warms(share, lasting) => 1.0 + share * (-t / lasting).exp(),
        };
        self.mean_s * chance * factor
    }

    /// The measured time of one level that begins at `start`.
    fn level(self, load: Load, seconds: f64, start: f64, draw: &mut Draw) -> Seen {
        let mut seen = Seen::new(seconds);
        let end = WARMUP_S + seconds;
        let mut free = vec![0.0_f64; self.servers];
        let mut server = |at: f64, draw: &mut Draw| {
            let first = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b]));
            let first = &mut free[first.unwrap()];
            *first = first.max(at) + self.takes(start + at, draw);
            *first
        };
        match load {
            Load::Rate(rate) => {
                let mut at = 0.0;
                while at < end {
                    let done = server(at, draw);
                    seen.take(at, done);
                    at += draw.exponential() / rate;
                }
            }
            Load::Users(users) => {
                let mut due = vec![0.0_f64; users as usize];
                loop {
                    let next = (0..due.len()).min_by(|a, b| due[*a].total_cmp(&due[*b]));
                    let at = due[next.unwrap()];
                    if at >= end {
                        break;
                    }
                    let done = server(at, draw);
                    seen.take(at, done);
                    due[next.unwrap()] = done;
                }
            }
        }
        seen
    }
}

#[derive(Clone, Copy)]
enum Load {
    Rate(f64),
    Users(u32),
}

/// Facts of a level.
struct Seen {
    seconds: f64,
    parts: Vec<Vec<f64>>,
    halves: Halves,
    arrivals: Vec<f64>,
    ends: Vec<f64>,
}

impl Seen {
    fn new(seconds: f64) -> Self {
        let parts = (seconds as usize).min(PARTS as usize);
        Self {
            seconds,
            parts: vec![Vec::new(); parts],
            halves: Halves::default(),
            arrivals: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn take(&mut self, at: f64, done: f64) {
        self.arrivals.push(at);
        self.ends.push(done);
        if at < WARMUP_S {
            return;
        }
        let nanos = ((done - at) * 1e9) as u64;
        let share = ((done - WARMUP_S) / self.seconds).min(0.999_999);
        let part = (share * self.parts.len() as f64) as usize;
        self.parts[part].push(done - at);
        let half = match share < 0.5 {
            true => &mut self.halves.first,
            false => &mut self.halves.second,
        };
        half.record_nanos(nanos);
    }

    /// Whether the rate was sustained, and what is known of halves and parts.
    fn judged(mut self, load: Load) -> (bool, GeneratorHealth) {
        let behind = |t: f64| {
            let before = |times: &[f64]| times.iter().filter(|at| **at < t).count();
            (before(&self.arrivals) - before(&self.ends)) as u64
        };
        let backlog = Backlog {
            middle: behind(WARMUP_S + self.seconds / 2.0),
            end: behind(WARMUP_S + self.seconds),
            seconds: self.seconds / 2.0,
            dropped: 0,
        };
        let sustained = match load {
            Load::Rate(rate) => !bearing::grows(&backlog, rate),
            Load::Users(_) => true,
        };
        let median = |part: &mut Vec<f64>| {
            part.sort_unstable_by(f64::total_cmp);
            part.get(part.len() / 2).copied()
        };
        let health = GeneratorHealth {
            medians: self.parts.iter_mut().filter_map(median).collect(),
            halves: Some(self.halves),
            ..GeneratorHealth::default()
        };
        (sustained, health)
    }
}

/// A run of levels, in this order of their places.
fn run(target: Target, loads: &[Load], turns: &[usize], seconds: f64, seed: u64) -> Option<Drift> {
    let mut draw = Draw::new(seed, Stream::Data, 0);
    let levels: Vec<(String, usize, (bool, GeneratorHealth))> = loads
        .iter()
        .enumerate()
        .map(|(place, load)| {
            let turn = turns.iter().position(|turn| *turn == place).unwrap();
            let start = turn as f64 * (WARMUP_S + seconds);
            let seen = target.level(*load, seconds, start, &mut draw);
            let name = match load {
                Load::Rate(rate) => format!("{rate}/s"),
                Load::Users(users) => format!("{users} users"),
            };
            (name, turn, seen.judged(*load))
        })
        .collect();
    let held: Vec<Held> = levels
        .iter()
        .zip(loads)
        .map(|((name, turn, (stands, health)), load)| Held {
            name,
            turn: Some(*turn as u32 + 1),
            offered_per_s: match load {
                Load::Rate(rate) => Some(*rate),
                Load::Users(_) => None,
            },
            seconds,
            stands: *stands,
            health,
        })
        .collect();
    judge(&held)
}

fn rates<const N: usize>(rates: [f64; N]) -> Vec<Load> {
    rates.into_iter().map(Load::Rate).collect()
}

/// How many of so many runs are said to drift, and which way.
fn told(target: Target, loads: &[Load], turns: &[usize], seconds: f64, runs: u64) -> [usize; 2] {
    let found = (0..runs).filter_map(|seed| run(target, loads, turns, seconds, seed));
    let found: Vec<DriftDirection> = found.map(|drift| drift.direction).collect();
    let count = |wanted| found.iter().filter(|found| **found == wanted).count();
    [DriftDirection::Slower, DriftDirection::Faster].map(count)
}

/// Stable targets: used by a tenth to nine tenths, by one server and several, with work of every kind.
fn stable() -> Vec<(&'static str, Target, Vec<Load>)> {
    let target = |servers, mean_s, work| Target {
        servers,
        mean_s,
        work,
        change: Change::Not,
    };
    vec![
        (
            "exponential",
            Target::STABLE,
            rates([50.0, 150.0, 250.0, 350.0, 450.0]),
        ),
        (
            "exponential, half at least",
            Target::STABLE,
            rates([225.0, 240.0, 480.0]),
        ),
        ("two levels", Target::STABLE, rates([240.0, 485.0])),
        (
            "not sustained",
            Target::STABLE,
            rates([100.0, 250.0, 600.0]),
        ),
        (
            "fixed",
            target(1, 0.002, Work::Fixed),
            rates([50.0, 150.0, 250.0, 350.0, 450.0]),
        ),
        (
            "eight servers",
            target(8, 0.02, Work::Exponential),
            rates([40.0, 120.0, 200.0, 320.0, 380.0]),
        ),
        (
            "long tail",
            target(4, 0.01, Work::Lognormal(1.5)),
            rates([40.0, 120.0, 190.0, 380.0]),
        ),
        (
            "slow",
            target(1, 0.03, Work::Exponential),
            rates([8.0, 12.0, 16.0, 32.0]),
        ),
        (
            "users",
            target(2, 0.003, Work::Exponential),
            [1, 2, 4, 8].map(Load::Users).to_vec(),
        ),
        (
            "users of even work",
            target(2, 0.003, Work::Lognormal(0.2)),
            [1, 3, 9].map(Load::Users).to_vec(),
        ),
    ]
}

#[test]
fn a_stable_target_is_never_said_to_drift() {
    // Each computes for seconds.
    std::thread::scope(|scope| {
        for (name, target, loads) in stable() {
            scope.spawn(move || {
                let turns: Vec<usize> = (0..loads.len()).collect();
                assert_eq!(told(target, &loads, &turns, 10.0, 200), [0, 0], "{name}");
            });
        }
    });
}

/// `cargo test -p plimsoll-report --lib drift::tests::at_length -- --ignored --nocapture`
#[test]
#[ignore = "minutes"]
fn at_length() {
    for seconds in [6.0, 10.0, 30.0] {
        for (name, target, loads) in stable() {
            let turns: Vec<usize> = (0..loads.len()).collect();
            let found = told(target, &loads, &turns, seconds, 1_000);
            println!("{name}, {seconds} s: {found:?} of 1000");
        }
    }
}

/// So many servers that a queue is rare; what they take differs by a third.
const ROOMY: Target = Target {
    servers: 8,
    mean_s: 0.005,
    work: Work::Lognormal(0.3),
    change: Change::Not,
};

/// Of 200 runs at least 190 are said to drift this way, and none the other.
fn check(change: Change, loads: &[Load], turns: &[usize], wanted: DriftDirection) {
    let target = Target { change, ..ROOMY };
    let [slower, faster] = told(target, loads, turns, 10.0, 200);
    let [right, wrong] = match wanted {
        DriftDirection::Slower => [slower, faster],
        DriftDirection::Faster => [faster, slower],
    };
    assert!(right >= 190, "{right} of 200, {turns:?}");
    assert_eq!(wrong, 0, "{turns:?}");
}

fn sentence(change: Change, loads: &[Load], turns: &[usize]) -> String {
    let target = Target { change, ..ROOMY };
    run(target, loads, turns, 10.0, 7).unwrap().sentence
}

/// Five hundredths more each second, whatever the order.
#[test]
fn a_leak_is_named_with_the_remedy() {
    let leak = Change::Leaks(0.05);
    let loads = rates([50.0, 100.0, 150.0, 200.0, 300.0]);
    for turns in [[0, 1, 2, 3, 4], [3, 0, 4, 2, 1]] {
        check(leak, &loads, &turns, DriftDirection::Slower);
    }
    let users = [1, 2, 4].map(Load::Users);
    check(leak, &users, &[0, 1, 2], DriftDirection::Slower);
    insta::assert_snapshot!(sentence(leak, &loads, &[0, 1, 2, 3, 4]), @"the target got slower with time, not with its load: from the first half of a level to the second the median grew by 1.15 ms at 50/s (5.95 ms to 7.09 ms), by 960 µs at 100/s (8.85 ms to 9.81 ms), by 1.24 ms at 150/s (11.7 ms to 12.9 ms); at half of the 300/s that were sustained, or less, no queue lasts that would explain it. Something fills or leaks, in the target, behind it or on its host; levels ran in ascending order, so what differs between them may be time's doing and not the load's: another order (`order: random` in `levels`) spreads it over them");
    insta::assert_snapshot!(sentence(leak, &loads, &[3, 0, 4, 2, 1]), @"the target got slower with time, not with its load: from the first half of a level to the second the median grew by 1.14 ms at 50/s (8.89 ms to 10.0 ms), by 1.21 ms at 150/s (14.6 ms to 15.8 ms); at half of the 300/s that were sustained, or less, no queue lasts that would explain it. Something fills or leaks, in the target, behind it or on its host; levels ran in random order, so it is spread over them");
    insta::assert_snapshot!(sentence(leak, &users, &[0, 1, 2]), @"the target got slower with time, not with its load: from the first half of a level to the second the median grew by 1.02 ms at 1 users (5.97 ms to 6.99 ms), by 1.03 ms at 2 users (8.72 ms to 9.76 ms), by 1.26 ms at 4 users (11.6 ms to 12.8 ms). Something fills or leaks, in the target, behind it or on its host; levels ran in ascending order, so what differs between them may be time's doing and not the load's: another order (`order: random` in `levels`) spreads it over them");
}

/// Three times as long at first.
#[test]
fn a_warm_up_is_named_with_the_remedy() {
    let warm_up = Change::Warms(2.0, 8.0);
    let loads = rates([50.0, 100.0, 200.0]);
    for turns in [[0, 1, 2], [1, 0, 2]] {
        check(warm_up, &loads, &turns, DriftDirection::Faster);
    }
    insta::assert_snapshot!(sentence(warm_up, &loads, &[0, 1, 2]), @"the target got faster with time, not with its load: from the first half of a level to the second the median shrank by 2.45 ms at 50/s (10.4 ms to 7.97 ms), by 976 µs at 100/s (6.22 ms to 5.24 ms); at half of the 200/s that were sustained, or less, no queue lasts that would explain it. Something warms up, in the target, behind it or on its host; levels ran in ascending order, so what differs between them may be time's doing and not the load's: another order (`order: random` in `levels`) spreads it over them, and a `warmup` that is 10 s longer may leave it out");
    insta::assert_snapshot!(sentence(warm_up, &loads, &[1, 0, 2]), @"the target got faster with time, not with its load: from the first half of a level to the second the median shrank by 3.21 ms at 100/s (10.8 ms to 7.55 ms); at half of the 200/s that were sustained, or less, no queue lasts that would explain it. Something warms up, in the target, behind it or on its host; levels ran in random order, so it is spread over them, and a `warmup` that is 10 s longer may leave it out");
}

/// A rate beyond what is carried makes times grow for as long as it lasts. That is the rate's doing.
#[test]
fn a_queue_is_no_drift() {
    let loads = rates([300.0, 600.0, 900.0]);
    assert_eq!(told(Target::STABLE, &loads, &[0, 1, 2], 10.0, 20), [0, 0]);
    // Nor is it told of a rate that may be near what is carried, whatever changes there.
    let leaking = Target {
        change: Change::Leaks(0.05),
        ..Target::STABLE
    };
    let loads = rates([100.0, 110.0]);
    assert_eq!(told(leaking, &loads, &[0, 1], 10.0, 20), [0, 0]);
}
