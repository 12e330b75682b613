//! Searches of targets whose capacity is known, in virtual time: how often the interval holds the truth, how wide it is, and what it
//! costs beside trying level by level and beside plain binary search. The table is in `docs/truth.md`.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "simulated times and counts"
)]

mod target;

use super::conclude::{CONFIDENCE, contradiction};
use super::judge::{Decide, judge};
use super::search::{Next, Planned, SAME, Settings, Taken, bounds, next, round};
use crate::record::{Class, TrialOutcome, TrialPurpose};
use crate::summarise::figures;
use plimsoll_base::random::{Draw, Stream};
use target::Target;

/// Searches of each target in the tests that always run.
const SHORT: u64 = 16;
/// Searches of each target in those that make the table.
const LONG: u64 = 400;
/// Share of searches whose interval must hold the truth.
const HELD: f64 = CONFIDENCE;
/// Load before the measured time of a trial.
const WARMUP_S: f64 = 1.0;

fn settings() -> Settings {
    Settings {
        from: 10.0,
        to: None,
        floor: 0.1,
        precision: 0.05,
        exceed_ratio: 0.5,
        trial_s: 10.0,
        trials_per_load: 5,
        trials_contradicted: 13,
        warmup_s: WARMUP_S,
        around_s: 0.0,
        samples: 570.0,
        confirm_s: 60.0,
        overload_s: 10.0,
        budget_s: 3_600.0,
    }
}

/// Short trials and a small budget: what `examples/reverse-proxy-capacity` asks for.
fn hasty() -> Settings {
    Settings {
        from: 100.0,
        precision: 0.3,
        trial_s: 3.0,
        around_s: 0.3,
        samples: 60.0,
        confirm_s: 24.0,
        overload_s: 8.0,
        budget_s: 200.0,
        ..settings()
    }
}

/// One target, and the luck of its trials.
struct Bench {
    target: Target,
    draw: Draw,
}

/// Answer of a way of searching.
#[derive(Clone, Copy)]
struct Answer {
    lower: f64,
    upper: f64,
    trial_seconds: f64,
    /// Whether its trials contradict each other nowhere, so that it says how sure it is.
    is_settled: bool,
    /// Whether both ends are decided.
    is_decided: bool,
    /// Whether the lower one held for longer.
    is_confirmed: bool,
}

impl Bench {
    fn trial(&mut self, rate: f64, seconds: f64, decide: Decide) -> TrialOutcome {
        let data = self.target.measured(rate, seconds, &mut self.draw);
        let objective = self.target.objective();
        judge(&data, &figures(&data), &objective, None, decide).outcome
    }

    /// The search itself.
    fn search(&mut self) -> Answer {
        let answer = self.search_with(&settings());
        assert!(answer.is_decided);
        answer
    }

    fn search_with(&mut self, settings: &Settings) -> Answer {
        let mut taken: Vec<Taken> = Vec::new();
        while let Next::Trial(Planned {
            purpose,
            rate_per_s,
            seconds,
            decide,
        }) = next(settings, &taken)
        {
            let overload = purpose == TrialPurpose::Overload;
            let outcome = if overload {
                TrialOutcome::Bad
            } else {
                self.trial(rate_per_s, seconds, decide)
            };
            let spent_s = settings.cost_s(if overload { 2.0 * seconds } else { seconds });
            taken.push(Taken {
                purpose,
                rate_per_s,
                seconds,
                spent_s,
                outcome,
            });
        }
        let (lower, upper) = bounds(settings, &taken);
        let (lower, upper) = (lower.unwrap(), upper.unwrap());
        let is_confirmed = taken.iter().any(|trial| {
            trial.purpose == TrialPurpose::Confirmation
                && trial.outcome == TrialOutcome::Good
                && (trial.rate_per_s / lower.0 - 1.0).abs() < SAME
        });
        let is_decided = (lower.1, upper.1) == (Class::Lower, Class::Upper);
        Answer {
            lower: lower.0,
            upper: upper.0,
            trial_seconds: taken.iter().map(|trial| trial.spent_s).sum(),
            is_settled: contradiction(&taken).is_none(),
            is_decided,
            is_confirmed,
        }
    }

    /// One trial each, and each believed: doubling, then bisection.
    fn binary(&mut self) -> Answer {
        let (mut low, mut high, mut spent) = (10.0, None, 0.0);
        while high.is_none_or(|high: f64| high > low * 1.05) {
            let rate = high.map_or(low * 2.0, |high| round((low * high).sqrt()));
            spent += WARMUP_S + 10.0;
            match self.trial(rate, 10.0, Decide::Figure) {
                TrialOutcome::Good => low = rate,
                _ => high = Some(rate),
            }
        }
        Answer {
            lower: low,
            upper: high.unwrap_or(low),
            trial_seconds: spent,
            is_settled: false,
            is_decided: false,
            is_confirmed: false,
        }
    }

    /// Levels 5 % apart, one trial each, up to the first that fails.
    fn level_by_level(&mut self) -> Answer {
        let (mut rate, mut spent) = (10.0, 0.0);
        loop {
            spent += WARMUP_S + 10.0;
            if self.trial(rate, 10.0, Decide::Figure) != TrialOutcome::Good {
                return Answer {
                    lower: rate / 1.05,
                    upper: rate,
                    trial_seconds: spent,
                    is_settled: false,
                    is_decided: false,
                    is_confirmed: false,
                };
            }
            rate *= 1.05;
        }
    }
}

/// Of many searches: how many held the truth, the widest, and the mean of trial seconds; of those that contradict themselves nowhere how
/// many there are, and how many held the truth.
struct SearchResults {
    held: u64,
    widest: f64,
    trial_seconds: f64,
    settled: u64,
    settled_held: u64,
}

fn found(
    searches: u64,
    make: impl Fn(f64) -> Target,
    way: impl Fn(&mut Bench) -> Answer,
) -> SearchResults {
    let mut found = SearchResults {
        held: 0,
        widest: 0.0,
        trial_seconds: 0.0,
        settled: 0,
        settled_held: 0,
    };
    for number in 0..searches {
        let mut draw = Draw::new(11, Stream::Data, number);
        let target = make(draw.unit());
        let answer = way(&mut Bench { target, draw });
        let truth = target.truth();
        let held = answer.lower <= truth && truth < answer.upper;
        found.held += u64::from(held);
        found.settled += u64::from(answer.is_settled);
        found.settled_held += u64::from(held && answer.is_settled);
        found.widest = found.widest.max(answer.upper / answer.lower - 1.0);
        found.trial_seconds += answer.trial_seconds / searches as f64;
    }
    found
}

/// Searches targets that differ by a number from 0 to 1.
fn search_all(searches: u64, name: &str, make: impl Fn(f64) -> Target) -> SearchResults {
    let search = found(searches, make, Bench::search);
    for (held, of) in [
        (search.held, searches),
        (search.settled_held, search.settled),
    ] {
        // Of few, two standard deviations fewer may hold it by chance.
        let chance = 2.0 * (HELD * (1.0 - HELD) / of.max(1) as f64).sqrt();
        let least = if searches < LONG { HELD - chance } else { HELD };
        assert!(held as f64 >= least * of as f64, "{name}: {held} of {of}");
    }
    assert!(search.widest <= 0.05, "{name}: {}", search.widest);
    search
}

/// This target beside other ways of searching: a row of the table in `docs/truth.md`.
fn row(name: &str, make: impl Fn(f64) -> Target) {
    let search = search_all(LONG, name, &make);
    let binary = found(LONG, &make, Bench::binary);
    let levels = found(LONG, &make, Bench::level_by_level);
    for (way, found) in [
        ("search", &search),
        ("binary", &binary),
        ("levels", &levels),
    ] {
        println!(
            "{name}, {way}: {} of {LONG} hold the truth, at most {:.2} % wide, {:.0} trial seconds; {} of {} that contradict themselves nowhere",
            found.held,
            100.0 * found.widest,
            found.trial_seconds,
            found.settled_held,
            found.settled
        );
    }
    assert!(search.trial_seconds < levels.trial_seconds, "{name}");
    assert!(search.held >= binary.held, "{name}: {}", binary.held);
}

fn token_bucket(at: f64) -> Target {
    Target::TokenBucket(60.0 + 180.0 * at)
}

fn fixed_service_time(at: f64) -> Target {
    Target::FixedServiceTime {
        servers: 4,
        seconds: 0.015 + 0.045 * at,
    }
}

fn exponential_service_time(at: f64) -> Target {
    Target::Exponential {
        per_s: 150.0 + 150.0 * at,
    }
}

fn used_up(at: f64) -> Target {
    Target::UsedUp {
        per_s: 150.0 + 150.0 * at,
    }
}

fn wandering(at: f64) -> Target {
    Target::Wandering {
        per_s: 150.0 + 150.0 * at,
    }
}

fn noise_in_a_fifth_of_trials(at: f64) -> Target {
    Target::Bimodal {
        servers: 4,
        seconds: 0.015 + 0.045 * at,
    }
}

#[test]
fn a_token_bucket_is_found() {
    search_all(SHORT, "token bucket", token_bucket);
}

#[test]
fn servers_with_a_fixed_service_time_are_found() {
    search_all(SHORT, "fixed service time", fixed_service_time);
}

#[test]
fn a_server_that_is_used_up_far_below_its_limit_is_found() {
    search_all(SHORT, "used up", used_up);
}

/// Short trials of what wanders: an answer each time, and none that is far from the truth.
#[test]
fn what_wanders_is_answered_by_short_trials() {
    let mut answered = 0;
    for number in 0..SHORT {
        let mut draw = Draw::new(11, Stream::Data, number);
        let target = wandering(draw.unit());
        let answer = Bench { target, draw }.search_with(&hasty());
        let (lower, upper) = (answer.lower / target.truth(), answer.upper / target.truth());
        assert!(lower < 1.04 && upper > 0.98, "{number}: {lower} to {upper}");
        let is_precise = answer.is_decided && upper / lower <= 1.0 + hasty().precision;
        answered += u64::from(is_precise && answer.is_confirmed);
    }
    assert!(answered + 1 >= SHORT, "{answered} of {SHORT}");
}

#[test]
fn noise_in_a_fifth_of_trials_misleads_no_search() {
    search_all(SHORT, "bimodal noise", noise_in_a_fifth_of_trials);
}

#[test]
#[ignore = "the table of docs/truth.md: minutes; run it with --nocapture"]
fn the_table_at_length() {
    row("token bucket", token_bucket);
    row("fixed service time", fixed_service_time);
    row("used up", used_up);
    row("bimodal noise", noise_in_a_fifth_of_trials);
}

/// A capacity that wanders is found, give or take its wandering in the time of a confirmation.
#[test]
#[ignore = "a row of docs/truth.md: minutes; run it with --nocapture"]
fn wandering_at_length() {
    let found = found(LONG, wandering, Bench::search);
    let (mut held, mut near) = (0, 0);
    for number in 0..LONG {
        let mut draw = Draw::new(11, Stream::Data, number);
        let target = wandering(draw.unit());
        let answer = Bench { target, draw }.search_with(&hasty());
        let holds = |truth: f64| answer.lower <= truth && target.truth() < answer.upper;
        held += u64::from(holds(target.truth()));
        near += u64::from(holds(1.02 * target.truth()));
    }
    println!("wandering, short trials: {held} of {LONG} hold the truth, {near} within 2 %");
    println!(
        "wandering: {} of {LONG} hold the truth, {:.0} trial seconds; {} of {} that contradict themselves nowhere",
        found.held, found.trial_seconds, found.settled_held, found.settled
    );
}

/// Where times near the limit are themselves random, trials of ten seconds do not tell rates apart that differ by a few per cent.
#[test]
#[ignore = "a row of docs/truth.md: minutes; run it with --nocapture"]
fn exponential_service_times_at_length() {
    for trial_s in [10.0, 60.0, 200.0] {
        let found = found(LONG / 4, exponential_service_time, |bench| {
            bench.search_with(&Settings {
                trial_s,
                confirm_s: 6.0 * trial_s,
                budget_s: 360.0 * trial_s,
                ..settings()
            })
        });
        println!(
            "exponential service time, trials of {trial_s} s: {} of {} hold the truth, {:.0} trial seconds; {} of {} that contradict themselves nowhere",
            found.held,
            LONG / 4,
            found.trial_seconds,
            found.settled_held,
            found.settled
        );
    }
}
