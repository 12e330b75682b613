//! Redis is taken away from a gateway of Tyk's files under load: it hangs, or is killed and comes back.
//!
//! It must never be on the way of a request: the clients' p99 without it is that with it, keys and limits hold all the same, and records of
//! requests wait. A round has four loads, with Redis, without, without, with, so that what drifts meanwhile moves both sides alike; Redis
//! leaves under the second one, so that its leaving is measured, too. As in `lognormal`, a load's times are those of the seconds that no
//! stall of the machine reaches.

mod limits;
mod setting;

use super::{
    Check,
    lognormal::{UNDER_WAY_S, undisturbed},
};
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Repetition, measure};
use crate::clock;
use crate::interval_log::response_times;
use crate::rounds::{self, Promise, Round, others_bar};
use crate::witness::Mark;
use serde_json::{Value, json};
use setting::{KEY, Manner, PATH, Records, Said, Setting};
use std::time::{Duration, Instant};

pub const CHECK: Check = Check {
    name: "redis-away",
    about: "a gateway of Tyk's files whose Redis hangs or is killed under load",
    run,
};

/// Arrivals per second. A load has 12,000 in six seconds, 10,000 of them behind its first: a hundred lie beyond its p99, where a thousand a
/// second for two would leave ten. With response times as they are here that is a standard error of about 2 % for each p99, and of
/// 1 % for the median of ten ratios of two by two.
const RATE: u32 = 2_000;
/// The time in which connections are made.
const WARM_UP: Duration = Duration::from_secs(1);
/// When Redis leaves, in the time that is measured.
const LEAVES: Duration = Duration::from_millis(1_500);
/// The promise to clients. Rounds that differ by more than what is to be told apart say nothing.
const PROMISE: Promise = Promise {
    longer: 0.10,
    noise: 0.10,
    may_fail: 0.0,
};

/// The findings of one load.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// In seconds.
    p99: f64,
    /// Whether enough of it was undisturbed.
    quiet: bool,
    /// The share of exchanges that failed.
    failed: f64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let bars = [Manner::Hangs, Manner::Killed]
        .into_iter()
        .flat_map(|manner| {
            let name = manner.name();
            bench.progress(name);
            Bar::part(name, bench.witnessed(|| takes_away(bench, manner)))
        });
    Ok(bars.collect())
}

fn takes_away(bench: &Bench, manner: Manner) -> Result<Vec<Bar>, Error> {
    let mut setting = Setting::start(bench, manner)?;
    // What a first load needs once belongs to no side.
    load(bench, &mut setting, |_| Ok(()))?;
    setting.settles()?;
    let once = || round(bench, &mut setting);
    let repeated = bench.repeat(manner.name(), bench.pick(10, 1), once, Round::words)?;
    let done: Vec<Round> = rounds::done(&repeated).copied().collect();
    let what = "clients of the gateway".to_owned();
    let mut bars = vec![
        others_bar(what, PROMISE, repeated.len(), &done),
        rounds_bar(&repeated),
    ];
    match limits::bars(&mut setting) {
        Ok(found) => bars.extend(found),
        Err(error) => bars.push(Bar::error("limits", &error)),
    }
    let (records, told) = setting.stop()?;
    bars.push(records_bar(records, &told));
    let name = manner.name();
    let named = bars.into_iter().map(|bar| Bar {
        what: format!("{name}: {}", bar.what),
        ..bar
    });
    Ok(named.collect())
}

/// One round: what Redis' absence makes of the p99. In the end Redis is there, whatever went wrong.
fn round(bench: &Bench, setting: &mut Setting) -> Result<Round, Error> {
    let first = load(bench, setting, |_| Ok(()))?;
    let away = without_redis(bench, setting);
    setting.back()?;
    let settled = setting.settles();
    let [second, third] = away?;
    settled?;
    let fourth = load(bench, setting, |_| Ok(()))?;
    setting.settles()?;
    Ok(Round {
        without: middle(first, fourth),
        with: middle(second, third),
        quiet: [first, second, third, fourth].iter().all(|load| load.quiet),
        failed: [first, second, third, fourth]
            .map(|load| load.failed)
            .into_iter()
            .fold(0.0, f64::max),
    })
}

/// The load in which Redis leaves, and one more.
fn without_redis(bench: &Bench, setting: &mut Setting) -> Result<[Load; 2], Error> {
    let leaving = load(bench, setting, |setting| {
        setting.leave()?;
        setting.waits_for(Said::Fail)
    })?;
    let away = load(bench, setting, |setting| setting.expect(Said::Fail))?;
    setting.expect(Said::Fail)?;
    Ok([leaving, away])
}

/// The geometric mean: a drift that lengthens each load by the same share moves that of the outer two as much as that of the inner two.
fn middle(one: Load, other: Load) -> f64 {
    (one.p99 * other.p99).sqrt()
}

/// One load of the key's clients, with something done to Redis in its midst.
fn load(
    bench: &Bench,
    setting: &mut Setting,
    meanwhile: impl FnOnce(&mut Setting) -> Result<(), Error>,
) -> Result<Load, Error> {
    let seconds = bench.pick(6, 2);
    let before = setting.received()?;
    let mark = bench.witness.mark();
    let length = WARM_UP.as_secs_f64() + f64::from(seconds);
    let running = bench.start(&experiment(setting, seconds), length)?;
    let first = setting.begins(before)? + WARM_UP;
    clock::pause((first + LEAVES).saturating_duration_since(clock::now()));
    let done = meanwhile(setting);
    let outcome = running.finish()?;
    done?;
    found(bench, &outcome, (first, seconds), &mark)
}

/// `measured`: when what is measured began, and its length in seconds.
fn found(
    bench: &Bench,
    outcome: &Outcome,
    (first, seconds): (Instant, u32),
    mark: &Mark,
) -> Result<Load, Error> {
    let stalls = bench.witness.stalls_since(mark);
    let intervals = response_times(&outcome.log)?;
    let times = undisturbed(&intervals, f64::from(seconds), first, UNDER_WAY_S, &stalls);
    // Half of the seconds behind the first.
    let enough = u64::from(RATE * (seconds - 1)) / 2;
    let seen = bench.witness.since(mark);
    let whole = outcome.main("response_time/p99")?;
    Ok(Load {
        p99: times.quantile(0.99).unwrap_or(whole),
        quiet: times.count() >= enough && seen.quiet_but_for_stalls(),
        failed: outcome.main("failed")? / outcome.main("sent")?,
    })
}

fn experiment(setting: &Setting, seconds: u32) -> Value {
    let load = json!({
        "rate": format!("{RATE}/s"),
        "connections": 20,
        "warmup": format!("{}s", WARM_UP.as_secs()),
        "duration": format!("{seconds}s"),
    });
    let mut experiment = measure(setting.address, PATH, load);
    experiment["scenario"][0]["headers"] = json!({ "Authorization": KEY });
    experiment
}

/// Whether every round was carried out, in which `/hello` must have said where Redis was.
fn rounds_bar(repeated: &[Repetition<Round>]) -> Bar {
    let failures = rounds::failures(repeated);
    let done = repeated.len() - failures.len();
    let mut words = vec![format!("{done} of {}", repeated.len())];
    words.extend(failures.iter().map(ToString::to_string));
    Bar::judged(
        "rounds",
        "in each, `/hello` says `fail` of Redis while it is away, and `pass` when it is back",
        words.join("; "),
        failures.is_empty() && done > 0,
    )
}

/// `told`: what the gateway had to say of records in the end.
fn records_bar(records: Records, told: &str) -> Bar {
    let Records { found, answered } = records;
    let mut words = vec![format!("{found} of {answered}")];
    let lost = told.lines().filter(|line| line.contains("were lost"));
    words.extend(lost.map(str::to_owned));
    Bar::judged(
        "records of requests in Redis",
        "one of every request that was answered, with Redis or without",
        words.join("; "),
        found == answered && answered > 0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::witness::Seen;

    fn of(p99: f64) -> Load {
        Load {
            p99,
            quiet: true,
            failed: 0.0,
        }
    }

    #[test]
    fn what_drifts_moves_both_sides_alike() {
        let [first, second, third, fourth] = [1.0, 1.1, 1.21, 1.331].map(of);
        let ratio = middle(second, third) / middle(first, fourth);
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn every_round_must_have_been_carried_out() {
        let repetition = |found: Result<(), &str>| Repetition {
            found: found.map_err(ToOwned::to_owned).map(|()| Round {
                without: 1.0,
                with: 1.0,
                quiet: true,
                failed: 0.0,
            }),
            words: String::new(),
            seen: Seen::default(),
        };
        let check = |found: &[Result<(), &str>], expected| {
            let repeated: Vec<_> = found.iter().copied().map(repetition).collect();
            let bar = rounds_bar(&repeated);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(&[Ok(()), Ok(())], true);
        check(&[Ok(()), Err("`/hello` says Pass")], false);
        check(&[], false);
    }

    #[test]
    fn there_is_one_record_of_every_request() {
        let check = |found, answered, expected| {
            let told = "redis: 3 records were lost";
            let bar = records_bar(Records { found, answered }, told);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
            assert!(bar.measured.contains("3 records were lost"));
        };
        check(10, 10, true);
        check(9, 10, false);
        check(11, 10, false);
        check(0, 0, false);
    }
}
