//! Searches whose trials are told what to say.

use super::*;
use proptest::prelude::*;

pub(crate) fn settings() -> Settings {
    Settings {
        from: 10.0,
        to: None,
        floor: 0.1,
        precision: 0.05,
        exceed_ratio: 0.5,
        trial_s: 10.0,
        trials_per_load: 5,
        trials_contradicted: 13,
        warmup_s: 1.0,
        around_s: 0.5,
        samples: 0.0,
        confirm_s: 60.0,
        overload_s: 10.0,
        budget_s: 10_000.0,
    }
}

/// Carries out a search in which `says` decides each trial. Its end, and what was tried.
fn search(
    settings: &Settings,
    mut says: impl FnMut(&Planned, usize) -> TrialOutcome,
) -> (SearchEnd, Vec<Taken>) {
    let mut taken = Vec::new();
    loop {
        match next(settings, &taken) {
            Next::End(end) => return (end, taken),
            Next::Trial(planned) => {
                let outcome = says(&planned, taken.len());
                let recovery = match planned.purpose {
                    TrialPurpose::Overload => settings.overload_s,
                    _ => 0.0,
                };
                taken.push(Taken {
                    purpose: planned.purpose,
                    rate_per_s: planned.rate_per_s,
                    seconds: planned.seconds,
                    spent_s: settings.cost_s(planned.seconds + recovery),
                    outcome,
                });
            }
        }
    }
}

fn carries(capacity: f64) -> impl Fn(&Planned, usize) -> TrialOutcome {
    move |planned, _| {
        if planned.rate_per_s <= capacity {
            TrialOutcome::Good
        } else {
            TrialOutcome::Bad
        }
    }
}

fn rates(taken: &[Taken]) -> String {
    let rates = taken.iter().map(|trial| {
        let purpose = match trial.purpose {
            TrialPurpose::Search => "",
            TrialPurpose::Confirmation => "c",
            TrialPurpose::Overload => "o",
        };
        format!("{purpose}{:.4}", trial.rate_per_s)
    });
    let rates: Vec<String> = rates
        .map(|rate| rate.trim_end_matches('0').trim_end_matches('.').to_owned())
        .collect();
    rates.join(" ")
}

/// Both bounds, which must be decided.
fn decided(settings: &Settings, taken: &[Taken]) -> (f64, f64) {
    let (Some((lower, Class::Lower)), Some((upper, Class::Upper))) = bounds(settings, taken) else {
        panic!("{:?}", classes(settings, taken));
    };
    (lower, upper)
}

/// The example of docs/truth.md.
#[test]
fn the_way_there() {
    let (end, taken) = search(&settings(), carries(317.0));
    assert_eq!(end, SearchEnd::Precision);
    insta::assert_snapshot!(rates(&taken), @"10 20 40 80 160 320 226.3 269.1 293.4 306.4 313.1 316.5 310.7 310.7 310.7 325.9 325.9 325.9 c310.7 o403.9");
    let (lower, upper) = decided(&settings(), &taken);
    assert!(lower <= 317.0 && 317.0 < upper && upper / lower <= 1.05);
}

#[test]
fn a_first_rate_that_is_too_high_is_left_downwards() {
    let settings = Settings {
        from: 10_000.0,
        ..settings()
    };
    let (end, taken) = search(&settings, carries(317.0));
    assert_eq!(end, SearchEnd::Precision);
    let (lower, upper) = decided(&settings, &taken);
    assert!(lower <= 317.0 && 317.0 < upper, "{}", rates(&taken));
}

#[test]
fn where_no_rate_is_carried_the_lowest_one_is_made_sure_of() {
    let (end, taken) = search(&settings(), carries(0.0));
    assert_eq!(end, SearchEnd::LowestRate);
    assert_eq!(bounds(&settings(), &taken).0, None);
    insta::assert_snapshot!(rates(&taken), @"10 5 1.25 0.3125 0.1 0.1 0.1 0.1");
}

#[test]
fn where_every_rate_is_carried_the_highest_one_is_confirmed() {
    let settings = Settings {
        to: Some(300.0),
        ..settings()
    };
    let (end, taken) = search(&settings, carries(f64::INFINITY));
    assert_eq!(end, SearchEnd::HighestRate);
    assert_eq!(
        bounds(&settings, &taken),
        (Some((300.0, Class::Lower)), None)
    );
    insta::assert_snapshot!(rates(&taken), @"10 20 40 80 160 300 300 300 300 c300");
}

/// Void trials are no evidence: what the generator cannot offer is an end of the search, and no upper bound.
#[test]
fn the_generators_end_is_not_the_targets() {
    let void_above = |limit: f64| {
        move |planned: &Planned, _: usize| {
            if planned.rate_per_s > limit {
                TrialOutcome::Void
            } else {
                TrialOutcome::Good
            }
        }
    };
    let (end, taken) = search(&settings(), void_above(500.0));
    assert_eq!(end, SearchEnd::Generator);
    let (lower, upper) = bounds(&settings(), &taken);
    let (lower, class) = lower.unwrap();
    assert!(
        (470.0..=500.0).contains(&lower) && class == Class::Lower,
        "{}",
        rates(&taken)
    );
    assert_eq!(upper, None);
    // One that can offer nothing at all.
    let (end, taken) = search(&settings(), void_above(0.0));
    assert_eq!(
        (end, bounds(&settings(), &taken)),
        (SearchEnd::Generator, (None, None))
    );
}

#[test]
fn one_void_trial_is_made_again() {
    let (_, clean) = search(&settings(), carries(317.0));
    for number in 0..clean.len() {
        let mut voided = false;
        let (end, taken) = search(&settings(), |planned, at| {
            if at == number && !voided && planned.purpose != TrialPurpose::Overload {
                voided = true;
                return TrialOutcome::Void;
            }
            carries(317.0)(planned, at)
        });
        assert_eq!(end, SearchEnd::Precision);
        assert_eq!(
            taken.len(),
            clean.len() + usize::from(voided),
            "{}",
            rates(&taken)
        );
        assert_eq!(decided(&settings(), &taken), decided(&settings(), &clean));
    }
}

#[test]
fn a_straddling_trial_is_followed_by_a_longer_one() {
    let mut straddled = None;
    let (_, taken) = search(&settings(), |planned, at| {
        if planned.rate_per_s > 300.0 && straddled.is_none() {
            straddled = Some(at);
            return TrialOutcome::Straddling;
        }
        carries(317.0)(planned, at)
    });
    let at = straddled.unwrap();
    let [first, second] = &taken[at..at + 2] else {
        panic!("{}", rates(&taken));
    };
    assert!(is_same(first.rate_per_s, second.rate_per_s));
    assert_eq!((first.seconds, second.seconds), (5.0, 40.0));
}

/// Whatever one trial says wrongly, the answer holds the truth.
#[test]
fn one_wrong_trial_changes_nothing() {
    let (_, clean) = search(&settings(), carries(317.0));
    for number in 0..clean.len() {
        let (end, taken) = search(&settings(), |planned, at| {
            match (carries(317.0)(planned, at), at == number) {
                (TrialOutcome::Good, true) => TrialOutcome::Bad,
                (TrialOutcome::Bad, true) => TrialOutcome::Good,
                (outcome, _) => outcome,
            }
        });
        assert_eq!(end, SearchEnd::Precision, "{number}: {}", rates(&taken));
        let (lower, upper) = decided(&settings(), &taken);
        assert!(
            lower <= 317.0 && 317.0 < upper,
            "{number}: {}",
            rates(&taken)
        );
    }
}

/// Twice: once may be chance. Then the search narrows below it, and what it knows stands.
#[test]
fn a_lower_bound_that_does_not_hold_for_long_is_none() {
    let (end, taken) = search(&settings(), |planned, _| {
        let leaks = planned.purpose == TrialPurpose::Confirmation && planned.rate_per_s > 200.0;
        if leaks {
            TrialOutcome::Bad
        } else {
            carries(317.0)(planned, 0)
        }
    });
    assert_eq!(end, SearchEnd::Precision);
    let (lower, _) = decided(&settings(), &taken);
    assert!(lower <= 200.0, "{}", rates(&taken));
}

#[test]
fn a_budget_is_kept_and_what_is_known_by_then_is_the_answer() {
    for budget_s in [20.0, 60.0, 150.0, 240.0, 300.0, 400.0] {
        let settings = Settings {
            budget_s,
            ..settings()
        };
        let (_, taken) = search(&settings, carries(317.0));
        let spent: f64 = taken.iter().map(|trial| trial.spent_s).sum();
        assert!(spent <= budget_s, "{budget_s}: {spent}");
        let (lower, upper) = bounds(&settings, &taken);
        assert!(lower.is_none_or(|(lower, _)| lower <= 317.0), "{budget_s}");
        assert!(upper.is_none_or(|(upper, _)| upper > 317.0), "{budget_s}");
    }
}

/// A search goes on from its record as if it had not been interrupted.
#[test]
fn it_is_a_function_of_what_was_taken() {
    let (_, whole) = search(&settings(), carries(317.0));
    for at in 0..whole.len() {
        let Next::Trial(planned) = next(&settings(), &whole[..at]) else {
            panic!("{at}");
        };
        assert!(is_same(planned.rate_per_s, whole[at].rate_per_s));
    }
}

proptest! {
    /// Whatever trials say, it ends, keeps its budget, and its bounds are in order.
    #[test]
    fn it_ends(
        from in 0.5_f64..5_000.0,
        budget_s in 10.0_f64..4_000.0,
        said in prop::collection::vec(0_u8..8, MOST_TRIALS),
    ) {
        let settings = Settings { from, budget_s, floor: from / 1024.0, ..settings() };
        let (_, taken) = search(&settings, |_, at| match said[at] {
            0..=2 => TrialOutcome::Good,
            3..=5 => TrialOutcome::Bad,
            6 => TrialOutcome::Straddling,
            _ => TrialOutcome::Void,
        });
        let spent: f64 = taken.iter().map(|trial| trial.spent_s).sum();
        prop_assert!(spent <= budget_s * (1.0 + 1e-9));
        if let (Some((lower, _)), Some((upper, _))) = bounds(&settings, &taken) {
            prop_assert!(lower < upper);
        }
    }
}
