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
use crate::bar::Bar;
use crate::bench::{Bench, Error, Repetition, Running, measure};
use crate::clock;
use crate::rounds::{self, Promise, Round, others_bar};
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

/// Attacks on another server of the same machine, by itself beside the mock, and with a mock behind it beside the gateway: the p99 of its
/// other clients is shown.
pub const NGINX: Check = Check {
    name: "robust-nginx",
    about: "nginx among the same clients, shown beside",
    run: |bench| {
        let mut bars = attack_all(bench, Kind::Nginx)?;
        bars.extend(attack_all(bench, Kind::NginxProxy)?);
        Ok(bars)
    },
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
    /// The condition on each round.
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

type Begin = fn(&Bench, &Server) -> Result<Box<dyn Attack>, Error>;

/// Something that is being done to a server.
trait Attack {
    /// Ends it; what came of it, in words.
    ///
    /// # Errors
    /// When it was not what it should be, or the server did not do what it must.
    fn end(self: Box<Self>) -> Result<String, Error>;
}

/// A condition on a round, and who says that it held.
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

fn attack_all(bench: &Bench, kind: Kind) -> Result<Vec<Bar>, Error> {
    let bars = CASES.iter().flat_map(|case| {
        let name = format!("{}: {}", kind.name(), case.what);
        part(bench, &name, || attack(bench, kind, case))
    });
    Ok(bars.collect())
}

/// The bars of a part of a check, if it is wanted.
fn part(bench: &Bench, name: &str, work: impl FnOnce() -> Result<Vec<Bar>, Error>) -> Vec<Bar> {
    if !bench.wants(name) {
        return Vec::new();
    }
    bench.progress(name);
    Bar::part(name, bench.witnessed(work))
}

/// One turn: the others alone, and with the attack.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Quiet where the machine stood still in neither load: what it did while an attack was begun or ended moves no figure.
    round: Round,
    /// How much of what the server must count it counted, if anything is asked of it.
    counted: Option<u64>,
}

impl Case {
    /// The promise to the others.
    fn promise(&self) -> Promise {
        Promise {
            longer: 0.20,
            noise: 0.20,
            may_fail: self.may_fail,
        }
    }
}

fn attack(bench: &Bench, kind: Kind, case: &Case) -> Result<Vec<Bar>, Error> {
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
        Ok(Turn {
            round: Round {
                without: alone.p99,
                with: attacked.p99,
                quiet: alone.seen.quiet() && attacked.seen.quiet(),
                failed: attacked.failed,
            },
            counted: (server.totals()?.zip(before))
                .and_then(|(after, before)| case.told.counted(&after.since(&before))),
        })
    };
    let describe = |turn: &Turn| turn.round.words();
    let turns = bench.repeat(case.what, bench.pick(5, 1), round, describe)?;
    let done: Vec<Round> = rounds::done(&turns).map(|turn| turn.round).collect();
    let name = format!("{}: {}", kind.name(), case.what);
    let what = format!("{name}: other clients");
    let others = others_bar(what, case.promise(), turns.len(), &done);
    let growth = server.peak_mib()? - memory;
    let lives = server.answers().is_ok();
    if matches!(kind, Kind::Nginx | Kind::NginxProxy) {
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
        others,
        outcome_bar(&name, case.told, &turns, &words, lives),
    ];
    server.stop()?;
    Ok(bars)
}

/// The figures of the other clients.
struct Others {
    /// The p99 of their response times in seconds.
    p99: f64,
    /// The share of their exchanges that failed.
    failed: f64,
    /// The witness's report on that time.
    seen: Seen,
}

impl Others {
    /// Waits for the end of their load, which began at `mark`.
    fn of(bench: &Bench, running: Running, mark: &Mark) -> Result<Self, Error> {
        let outcome = running.finish()?;
        Ok(Self {
            p99: outcome.main("response_time/p99")?,
            failed: outcome.main("failed")? / outcome.main("sent")?,
            seen: bench.witness.since(mark),
        })
    }
}

fn others(bench: &Bench, server: &Server) -> Result<Others, Error> {
    let mark = bench.witness.mark();
    Others::of(bench, begin_others(bench, server)?, &mark)
}

fn begin_others(bench: &Bench, server: &Server) -> Result<Running, Error> {
    let load = json!({
        "rate": format!("{RATE}/s"), "connections": 20, "duration": format!("{SECONDS}s"),
    });
    bench.start(&measure(server.address, "/json/valid", load), SECONDS)
}

/// The bar of every round's outcome. `words`: of the last one; `lives`: whether the server answers afterwards.
fn outcome_bar(
    name: &str,
    told: Told,
    turns: &[Repetition<Turn>],
    words: &str,
    lives: bool,
) -> Bar {
    let fewest = rounds::done(turns).filter_map(|turn| turn.counted).min();
    let failures = rounds::failures(turns);
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
    /// The condition on every round, in words.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    fn turn(counted: Option<u64>) -> Repetition<Turn> {
        let round = Round {
            without: 1.0,
            with: 1.0,
            quiet: true,
            failed: 0.0,
        };
        Repetition {
            found: Ok(Turn { round, counted }),
            words: String::new(),
            seen: Seen::default(),
        }
    }

    #[test]
    fn every_round_must_have_been_counted_by_itself() {
        let check = |told: Told, counted: &[Option<u64>], expected| {
            let turns: Vec<_> = counted.iter().map(|counted| turn(*counted)).collect();
            let bar = outcome_bar("x", told, &turns, "", true);
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
            let mut one = turn(None);
            if let Err(reason) = found {
                one.found = Err(reason.to_owned());
            }
            let turns = [turn(None), one];
            let bar = outcome_bar("x", Told::Seen("all answered"), &turns, "", lives);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(Ok(()), true, true);
        check(Ok(()), false, false);
        check(Err("one client more got `HTTP/1.1 200 OK`"), true, false);
    }
}
