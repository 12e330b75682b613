//! Rounds in which other clients' p99 without something is held against their p99 with it.
//!
//! Each round has a ratio of its own, so that a machine which becomes slower meanwhile moves both sides of it. The median over the quiet
//! rounds is judged, unless there are too few of them, or rounds without it differ by themselves.

use crate::bar::{Bar, Verdict};
use crate::bench::Repetition;

/// A promise to the others, and how much rounds may differ to say something about it.
#[derive(Debug, Clone, Copy)]
pub struct Promise {
    /// How much longer it may make their p99.
    pub longer: f64,
    /// By how much rounds without it may differ; beyond that their p99 says nothing.
    pub noise: f64,
    /// Which share of their exchanges may fail.
    pub may_fail: f64,
}

/// One turn: the others' p99 without it and with it, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub without: f64,
    pub with: f64,
    /// Whether the machine moved neither.
    pub quiet: bool,
    /// The share of exchanges that failed.
    pub failed: f64,
}

impl Round {
    /// The round in a few words.
    pub fn words(&self) -> String {
        let stalled = if self.quiet { "" } else { ", stalled" };
        let (without, with) = (self.without * 1e3, self.with * 1e3);
        format!("{without:.3} → {with:.3} ms{stalled}")
    }
}

/// The findings of the rounds that were carried out.
pub fn done<T>(rounds: &[Repetition<T>]) -> impl Iterator<Item = &T> {
    rounds.iter().filter_map(|one| one.found.as_ref().ok())
}

/// Why the others were not.
pub fn failures<T>(rounds: &[Repetition<T>]) -> Vec<&str> {
    let failures = rounds.iter().filter_map(|one| one.found.as_ref().err());
    failures.map(String::as_str).collect()
}

/// The others' p99 with it and without, over the rounds in which the machine was quiet. That they fail is nothing that a stall does, so
/// every round counts there. `tried`: how many rounds were begun.
pub fn others_bar(what: String, promise: Promise, tried: usize, rounds: &[Round]) -> Bar {
    let quiet: Vec<&Round> = rounds.iter().filter(|round| round.quiet).collect();
    let of_quiet =
        |figure: &dyn Fn(&Round) -> f64| median(quiet.iter().map(|round| figure(round)).collect());
    let typical = of_quiet(&|round| round.without);
    let noise = of_quiet(&|round| (round.without / typical - 1.0).abs());
    let ratio = of_quiet(&|round| round.with / round.without);
    let with = of_quiet(&|round| round.with);
    let failed = rounds.iter().map(|round| round.failed).fold(0.0, f64::max);
    let says_something = !quiet.is_empty() && quiet.len() * 2 >= tried && noise <= promise.noise;
    let verdict = if failed > promise.may_fail {
        Verdict::Failed
    } else if says_something {
        Verdict::of(ratio <= 1.0 + promise.longer)
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
            with * 1e3,
            noise * 100.0
        )
    };
    let bar = Bar::judged(
        what,
        format!(
            "p99 at most {:.0} % longer (median of quiet rounds, at least half of all, that differ by at most {:.0} % alone); at most {:.0} % fail",
            promise.longer * 100.0,
            promise.noise * 100.0,
            promise.may_fail * 100.0
        ),
        format!(
            "{p99}{:.2} % failed; {} of {tried} rounds quiet",
            failed * 100.0,
            quiet.len(),
        ),
        true,
    );
    Bar { verdict, ..bar }
}

/// The middle one, or what lies between the middle two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count => (values[(count - 1) / 2] + values[count / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: bool = true;
    const STALLED: bool = false;
    const PROMISE: Promise = Promise {
        longer: 0.2,
        noise: 0.2,
        may_fail: 0.01,
    };

    fn round((without, with, quiet): (f64, f64, bool)) -> Round {
        Round {
            without,
            with,
            quiet,
            failed: 0.0,
        }
    }

    fn judged(rounds: &[(f64, f64, bool)], promise: Promise) -> Verdict {
        let rounds: Vec<Round> = rounds.iter().copied().map(round).collect();
        others_bar("x".to_owned(), promise, rounds.len(), &rounds).verdict
    }

    #[test]
    fn the_median_of_quiet_rounds_is_judged_if_they_are_alike_and_enough() {
        let check = |rounds: &[(f64, f64, bool)], expected| {
            assert_eq!(judged(rounds, PROMISE), expected, "{rounds:?}");
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
    fn each_check_has_its_own_promise() {
        let check = |with, promise, expected| {
            assert_eq!(judged(&[(1.0, with, QUIET)], promise), expected);
        };
        let narrow = Promise {
            longer: 0.1,
            ..PROMISE
        };
        check(1.15, PROMISE, Verdict::Held);
        check(1.15, narrow, Verdict::Failed);
        let alike = Promise {
            noise: 0.1,
            ..PROMISE
        };
        let rounds = [(0.85, 0.85, QUIET), (1.0, 1.0, QUIET), (1.15, 1.15, QUIET)];
        assert_eq!(judged(&rounds, PROMISE), Verdict::Held);
        assert_eq!(judged(&rounds, alike), Verdict::NotMeasured);
    }

    #[test]
    fn rounds_that_were_not_carried_out_are_not_quiet_ones() {
        let rounds = [round((1.0, 1.0, QUIET))];
        let check = |tried, expected| {
            let bar = others_bar("x".to_owned(), PROMISE, tried, &rounds);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(2, Verdict::Held);
        check(3, Verdict::NotMeasured);
    }

    #[test]
    fn exchanges_that_failed_count_in_every_round() {
        let check = |failed, quiet, expected| {
            let round = Round {
                failed,
                ..round((1.0, 1.0, quiet))
            };
            let bar = others_bar("x".to_owned(), PROMISE, 1, &[round]);
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(0.01, QUIET, Verdict::Held);
        check(0.02, QUIET, Verdict::Failed);
        check(0.02, STALLED, Verdict::Failed);
    }
}
