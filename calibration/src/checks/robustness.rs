//! Clients and targets that behave badly, and what becomes of those that do not.
//!
//! Each server is attacked in one way after another, in turns with being left alone, while a modest load of other clients goes on. Judged
//! are its memory, those others' p99, whether it lives and answers afterwards, and whether it counted what was done to it. The
//! generator is pointed at one bad target after another: each must end as an outcome of its own. One file per case.

mod connections;
mod descriptors;
mod dropped;
mod generator;
mod half_closed;
mod idle;
mod server;
mod slow_bodies;
mod slow_heads;
mod slow_reads;
mod slowhttptest;
mod unread;

use super::Check;
use crate::bar::{Bar, Verdict};
use crate::bench::{Bench, Repetition, Running, Trouble, measure};
use crate::clock;
use crate::witness::{Mark, Seen};
use plimsoll_base::counters::{Counter, Totals};
use serde_json::json;
use server::{Kind, Patience, Server};
use std::time::Duration;

pub const MOCK: Check = Check {
    name: "robust-mock",
    about: "the mock among clients that are slow, silent, half gone or too many",
    run: |bench| attack_all(bench, Kind::Mock),
};

pub const GATEWAY: Check = Check {
    name: "robust-gateway",
    about: "the gateway among clients that are slow, silent, half gone or too many",
    run: |bench| attack_all(bench, Kind::Gateway),
};

/// What the others' p99 makes of the same attacks elsewhere, on the same machine.
pub const NGINX: Check = Check {
    name: "robust-nginx",
    about: "nginx among the same clients, shown beside",
    run: |bench| attack_all(bench, Kind::Nginx),
};

pub const GENERATOR: Check = Check {
    name: "robust-generator",
    about: "the generator against targets that reset, keep silent, close, talk garbage or drip, and without descriptors",
    run: generator::run,
};

/// One way to behave badly.
struct Case {
    what: &'static str,
    /// By how much the server's resident memory may grow, in MiB.
    growth_mib: f64,
    /// Which share of the others' exchanges may fail.
    may_fail: f64,
    when: When,
    patience: Patience,
    begin: Begin,
    /// What must have come of each round.
    told: Told,
}

/// When an attack begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Before the others connect.
    Before,
    /// When they are connected.
    During,
}

type Begin = fn(&Bench, &Server) -> Result<Box<dyn Attack>, Trouble>;

/// Something that is being done to a server.
trait Attack {
    /// Ends it; what came of it, in words.
    ///
    /// # Errors
    /// When it was not what it should be, or the server did not do what it must.
    fn end(self: Box<Self>) -> Result<String, Trouble>;
}

/// What must have come of a round, and who says so.
#[derive(Debug, Clone, Copy)]
enum Told {
    /// The server counted at least so many of this.
    AtLeast(Counter, u64),
    /// The attack saw this: its end fails a round in which it did not.
    Seen(&'static str),
}

const CASES: [Case; 8] = [
    dropped::CASE,
    idle::CASE,
    slow_heads::CASE,
    slow_bodies::CASE,
    slow_reads::CASE,
    unread::CASE,
    half_closed::CASE,
    descriptors::CASE,
];

/// Other clients' arrivals per second, and their length in seconds.
const RATE: u32 = 1_000;
const SECONDS: f64 = 2.0;
/// When the generator's connections are made.
const CONNECTED: Duration = Duration::from_millis(700);
/// How much longer an attack may make the others' p99.
const LONGER: f64 = 0.20;
/// By how much rounds alone may differ; beyond it their p99 says nothing about an attack.
const NOISE: f64 = 0.20;

fn attack_all(bench: &Bench, kind: Kind) -> Result<Vec<Bar>, Trouble> {
    let bars = CASES.iter().flat_map(|case| {
        let name = format!("{}: {}", kind.name(), case.what);
        bench.progress(&name);
        Bar::part(&name, bench.witnessed(|| attack(bench, kind, case)))
    });
    Ok(bars.collect())
}

/// One turn: the others' p99 without the attack and with it, in seconds.
#[derive(Debug, Clone, Copy)]
struct Round {
    alone: f64,
    attacked: f64,
    /// Whether the machine stood still in neither load. What it did while an attack was begun or ended moves no figure.
    quiet: bool,
    /// The share of exchanges that failed during the attack.
    failed: f64,
    /// How much of what the server must count it counted, if anything is asked of it.
    counted: Option<u64>,
}

fn attack(bench: &Bench, kind: Kind, case: &Case) -> Result<Vec<Bar>, Trouble> {
    let server = Server::start(bench, kind, case.patience)?;
    // What a first load needs once is no growth by the attack.
    others(bench, &server)?;
    let memory = server.peak_mib()?;
    let mut words = String::new();
    let round = || {
        let alone = others(bench, &server)?;
        let before = server.totals()?;
        let (attack, attacked) = match case.when {
            When::Before => ((case.begin)(bench, &server)?, others(bench, &server)?),
            When::During => {
                let mark = bench.witness.mark();
                let running = begin_others(bench, &server)?;
                running.generator()?;
                clock::pause(CONNECTED);
                let attack = (case.begin)(bench, &server)?;
                (attack, Others::of(bench, running, &mark)?)
            }
        };
        words = attack.end()?;
        server.settles()?;
        Ok(Round {
            alone: alone.p99,
            attacked: attacked.p99,
            quiet: alone.seen.quiet() && attacked.seen.quiet(),
            failed: attacked.failed,
            counted: (server.totals()?.zip(before))
                .and_then(|(after, before)| case.told.counted(&after.since(&before))),
        })
    };
    let rounds = bench.repeat(case.what, bench.pick(5, 1), round, |round| {
        let stalled = if round.quiet { "" } else { ", stalled" };
        let (alone, attacked) = (round.alone * 1e3, round.attacked * 1e3);
        format!("{alone:.3} → {attacked:.3} ms{stalled}")
    })?;
    let name = format!("{}: {}", kind.name(), case.what);
    let growth = server.peak_mib()? - memory;
    let lives = server.answers().is_ok();
    if kind == Kind::Nginx {
        let others = others_bar(&name, case.may_fail, &rounds);
        server.stop()?;
        return Ok(vec![Bar::shown(others.what, "", others.measured)]);
    }
    let bars = vec![
        Bar::judged(
            format!("{name}: memory"),
            format!("grows by at most {} MiB", case.growth_mib),
            format!("{growth:.1} MiB, from {memory:.1} MiB"),
            growth <= case.growth_mib,
        ),
        others_bar(&name, case.may_fail, &rounds),
        outcome_bar(&name, case.told, &rounds, &words, lives),
    ];
    server.stop()?;
    Ok(bars)
}

/// What the other clients had.
struct Others {
    /// The p99 of their response times in seconds.
    p99: f64,
    /// The share of their exchanges that failed.
    failed: f64,
    /// What the machine did meanwhile.
    seen: Seen,
}

impl Others {
    /// Waits for the end of their load, which began at `mark`.
    fn of(bench: &Bench, running: Running, mark: &Mark) -> Result<Self, Trouble> {
        let outcome = running.finish()?;
        Ok(Self {
            p99: outcome.main("response_time/p99")?,
            failed: outcome.main("failed")? / outcome.main("sent")?,
            seen: bench.witness.since(mark),
        })
    }
}

fn others(bench: &Bench, server: &Server) -> Result<Others, Trouble> {
    let mark = bench.witness.mark();
    Others::of(bench, begin_others(bench, server)?, &mark)
}

fn begin_others(bench: &Bench, server: &Server) -> Result<Running, Trouble> {
    let load = json!({
        "rate": format!("{RATE}/s"), "connections": 20, "duration": format!("{SECONDS}s"),
    });
    bench.start(&measure(server.address, "/json/valid", load), SECONDS)
}

/// The others' p99 with the attack and without, over the rounds in which the machine was quiet. That they fail is nothing that a stall does,
/// so every round counts there.
fn others_bar(name: &str, may_fail: f64, rounds: &[Repetition<Round>]) -> Bar {
    let quiet: Vec<&Round> = (rounds.iter())
        .filter_map(|one| one.found.as_ref().ok())
        .filter(|round| round.quiet)
        .collect();
    let of_quiet =
        |figure: &dyn Fn(&Round) -> f64| median(quiet.iter().map(|round| figure(round)).collect());
    let typical = of_quiet(&|round| round.alone);
    let noise = of_quiet(&|round| (round.alone / typical - 1.0).abs());
    let ratio = of_quiet(&|round| round.attacked / round.alone);
    let attacked = of_quiet(&|round| round.attacked);
    let failed = (rounds.iter())
        .filter_map(|one| one.found.as_ref().ok())
        .map(|round| round.failed)
        .fold(0.0, f64::max);
    let says_something = !quiet.is_empty() && quiet.len() * 2 >= rounds.len() && noise <= NOISE;
    let verdict = if failed > may_fail {
        Verdict::Failed
    } else if says_something {
        Verdict::of(ratio <= 1.0 + LONGER)
    } else {
        Verdict::NotMeasured
    };
    let p99 = if quiet.is_empty() {
        String::new()
    } else {
        format!(
            "{:+.0} %: {:.3} → {:.3} ms; alone they differ by {:.0} %; ",
            (ratio - 1.0) * 100.0,
            typical * 1e3,
            attacked * 1e3,
            noise * 100.0
        )
    };
    let bar = Bar::judged(
        format!("{name}: other clients"),
        format!(
            "p99 at most {:.0} % longer (median of quiet rounds, at least half of all, that differ by at most {:.0} % alone); at most {:.0} % fail",
            LONGER * 100.0,
            NOISE * 100.0,
            may_fail * 100.0
        ),
        format!(
            "{p99}{:.2} % failed; {} of {} rounds quiet",
            failed * 100.0,
            quiet.len(),
            rounds.len()
        ),
        true,
    );
    Bar { verdict, ..bar }
}

/// What came of every round. `words`: of the last one; `lives`: whether the server answers afterwards.
fn outcome_bar(
    name: &str,
    told: Told,
    rounds: &[Repetition<Round>],
    words: &str,
    lives: bool,
) -> Bar {
    let done = rounds.iter().filter_map(|one| one.found.as_ref().ok());
    let fewest = done.filter_map(|round| round.counted).min();
    let failures: Vec<&str> = (rounds.iter())
        .filter_map(|one| one.found.as_ref().err().map(String::as_str))
        .collect();
    let mut found = vec![format!("last round: {words}")];
    found.extend(fewest.map(|fewest| format!("at least {fewest} counted in each")));
    found.push(format!("{} rounds failed", failures.len()));
    found.extend(failures.iter().map(ToString::to_string));
    if !lives {
        found.push("it does NOT answer".to_owned());
    }
    Bar::judged(
        format!("{name}: outcome"),
        format!("in every round {}; it answers afterwards", told.demand()),
        found.join("; "),
        told.is_met(fewest) && lives && failures.is_empty(),
    )
}

impl Told {
    /// What must have come of every round.
    fn demand(self) -> String {
        match self {
            Self::AtLeast(counter, least) => format!("at least {least} counted as {counter:?}"),
            Self::Seen(what) => what.to_owned(),
        }
    }

    /// How much of what it asks for the server counted.
    fn counted(self, totals: &Totals) -> Option<u64> {
        match self {
            Self::AtLeast(counter, _) => Some(totals.get(counter)),
            Self::Seen(_) => None,
        }
    }

    /// Whether the round with the fewest will do. What an attack did not see has failed its round already.
    fn is_met(self, fewest: Option<u64>) -> bool {
        match self {
            Self::AtLeast(_, least) => fewest.is_some_and(|fewest| fewest >= least),
            Self::Seen(_) => true,
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count => (values[(count - 1) / 2] + values[count / 2]) / 2.0,
    }
}

/// Waits for something that another program does, for at most so long.
fn wait_until(
    limit: Duration,
    what: &str,
    mut done: impl FnMut() -> Result<bool, Trouble>,
) -> Result<(), Trouble> {
    let deadline = clock::now() + limit;
    while !done()? {
        if clock::now() > deadline {
            return Err(Trouble::Measured(format!("{what}: not within {limit:?}")));
        }
        clock::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: bool = true;
    const STALLED: bool = false;

    fn round(alone: f64, attacked: f64, quiet: bool) -> Repetition<Round> {
        Repetition {
            found: Ok(Round {
                alone,
                attacked,
                quiet,
                failed: 0.0,
                counted: None,
            }),
            words: String::new(),
            seen: Seen::default(),
        }
    }

    #[test]
    fn the_median_of_quiet_rounds_is_judged_if_they_are_alike_and_enough() {
        let check = |rounds: &[(f64, f64, bool)], expected| {
            let rounds: Vec<_> = (rounds.iter())
                .map(|(alone, attacked, quiet)| round(*alone, *attacked, *quiet))
                .collect();
            let bar = others_bar("x", 0.0, &rounds);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        let (held, failed, unknown) = (Verdict::Held, Verdict::Failed, Verdict::NotMeasured);
        check(
            &[(1.0, 1.2, QUIET), (1.0, 1.1, QUIET), (1.0, 9.0, QUIET)],
            held,
        );
        check(
            &[(1.0, 1.3, QUIET), (1.0, 1.3, QUIET), (1.0, 1.0, QUIET)],
            failed,
        );
        // Each is 30 % longer, however long the others took alone.
        check(
            &[(1.0, 1.3, QUIET), (1.2, 1.56, QUIET), (0.8, 1.04, QUIET)],
            failed,
        );
        check(
            &[(1.0, 1.0, QUIET), (2.0, 2.0, QUIET), (0.5, 0.5, QUIET)],
            unknown,
        );
        check(&[(1.0, 1.3, QUIET), (1.0, 1.0, STALLED)], failed);
        check(&[(1.0, 1.0, QUIET), (1.0, 9.0, STALLED)], held);
        check(
            &[(1.0, 1.0, QUIET), (1.0, 1.0, STALLED), (1.0, 1.0, STALLED)],
            unknown,
        );
        check(&[(1.0, 1.0, STALLED)], unknown);
        check(&[], unknown);
    }

    #[test]
    fn exchanges_that_failed_count_in_every_round() {
        let check = |share, quiet, expected| {
            let mut round = round(1.0, 1.0, quiet);
            round.found = round.found.map(|found| Round {
                failed: share,
                ..found
            });
            assert_eq!(others_bar("x", 0.01, &[round]).verdict, expected);
        };
        check(0.01, QUIET, Verdict::Held);
        check(0.02, QUIET, Verdict::Failed);
        check(0.02, STALLED, Verdict::Failed);
    }

    #[test]
    fn every_round_must_have_been_counted_by_itself() {
        let check = |told: Told, counted: &[Option<u64>], expected| {
            let rounds: Vec<_> = (counted.iter())
                .map(|counted| {
                    let mut round = round(1.0, 1.0, QUIET);
                    round.found = round.found.map(|found| Round {
                        counted: *counted,
                        ..found
                    });
                    round
                })
                .collect();
            let bar = outcome_bar("x", told, &rounds, "", true);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        let told = Told::AtLeast(Counter::TimedOut, 900);
        check(told, &[Some(900), Some(1_000)], true);
        check(told, &[Some(0), Some(5_000)], false);
        check(told, &[], false);
        check(Told::Seen("all answered"), &[None, None], true);
    }

    #[test]
    fn a_round_that_failed_and_a_server_that_does_not_answer_fail_the_outcome() {
        let check = |found: Result<(), &str>, lives, expected| {
            let mut one = round(1.0, 1.0, QUIET);
            if let Err(reason) = found {
                one.found = Err(reason.to_owned());
            }
            let rounds = [round(1.0, 1.0, QUIET), one];
            let bar = outcome_bar("x", Told::Seen("all answered"), &rounds, "", lives);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(Ok(()), true, true);
        check(Ok(()), false, false);
        check(Err("one client more got `HTTP/1.1 200 OK`"), true, false);
    }
}
