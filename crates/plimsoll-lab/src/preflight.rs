//! Before anything is sent: what the plan asks of the generator, held against its ceiling on this host.
//!
//! A warning and nothing more. What the generator did is judged after the run, from what was measured. Pure.

use crate::doctor::Ceiling;
use crate::experiment::{Arm, ComponentKind, Experiment};
use plimsoll_base::units::format_number;
use plimsoll_load::plan::{Load, Profile};
use std::time::Duration;

/// Of the ceiling, what a plan may ask for without a word: beyond it lateness begins to show in high percentiles.
const EASY: f64 = 0.5;

/// A sentence for each arm that offers more than half of the ceiling at its peak. None for the closed model, which offers what is
/// answered, nor for a generator of another number of threads than the ceiling was measured with.
#[must_use]
pub fn warnings(experiment: &Experiment, ceiling: &Ceiling) -> Vec<String> {
    let Some(open) = &ceiling.open else {
        return Vec::new();
    };
    if experiment.generator.shards != ceiling.shards {
        return Vec::new();
    }
    let arms = experiment.arms.iter();
    arms.filter_map(|arm| {
        let peak = peak_per_s(arm)?;
        let elsewhere = is_external(experiment, arm);
        let sentence = sentence(peak, open.holds_per_s, elsewhere)?;
        Some(format!("arm `{}` {sentence}", arm.name))
    })
    .collect()
}

/// The most exchanges per second that an arm plans at any moment; `None` in the closed model.
#[expect(clippy::cast_precision_loss, reason = "a number of steps")]
fn peak_per_s(arm: &Arm) -> Option<f64> {
    let settings = &arm.settings;
    let Load::Open { profile, .. } = settings.load else {
        return None;
    };
    let iterations = peak(profile, settings.warmup + settings.duration);
    Some(iterations * arm.steps.len() as f64)
}

fn peak(profile: Profile, total: Duration) -> f64 {
    match profile {
        Profile::Constant { rate } | Profile::Poisson { rate } => rate,
        Profile::Ramp { from, to } => from.max(to),
        Profile::Staircase { from, step, every } => {
            // A level that would begin at the very end does not.
            let levels = (total.as_secs_f64() / every.as_secs_f64()).ceil();
            from.max(from + step * (levels - 1.0).max(0.0))
        }
    }
}

fn is_external(experiment: &Experiment, arm: &Arm) -> bool {
    let target = experiment.component(&arm.target.component);
    target.is_some_and(|component| matches!(component.kind, ComponentKind::External(_)))
}

/// What to say of a peak, after the arm's name; `None` when it is easy.
fn sentence(peak: f64, ceiling: f64, elsewhere: bool) -> Option<String> {
    let share = peak / ceiling;
    if share <= EASY {
        return None;
    }
    let offer = format!(
        "offers up to {}/s, {:.0} % of the {}/s that generator and mock reach together on this host",
        format_number(peak),
        share * 100.0,
        format_number(ceiling)
    );
    let judged = "the run's own criteria will judge";
    let remedy = "lower the rate, or use more processors or a second host";
    Some(match (share > 1.0, elsewhere) {
        (false, _) => {
            format!("{offer}, so high percentiles may be the generator's: {remedy}; {judged}")
        }
        (true, false) => format!("{offer}, so it can not be reached here: {remedy}; {judged}"),
        (true, true) => {
            format!("{offer}, and a generator alone can hardly reach it either: {remedy}; {judged}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{ClosedCeiling, OpenCeiling};
    use crate::experiment::memory::with_load;

    /// A host with a ceiling of 10,000 exchanges per second.
    fn ceiling(shards: usize) -> Ceiling {
        let closed = ClosedCeiling {
            users: 50,
            achieved_per_s: 12_000.0,
        };
        let open = OpenCeiling {
            connections: 50,
            holds_per_s: 10_000.0,
            fails_per_s: None,
            gives_way: None,
            pacing_lag_p50_s: None,
            pacing_lag_p99_s: None,
        };
        Ceiling::new(String::new(), shards, closed, Some(open))
    }

    fn said(load: &str) -> String {
        let experiment = with_load(load, "").load(&[]).unwrap();
        warnings(&experiment, &ceiling(1)).join("\n")
    }

    #[test]
    fn up_to_half_and_the_closed_model_pass_in_silence() {
        let check = |load| assert_eq!(said(load), "", "{load}");
        check("{ rate: 5000/s, duration: 5s }");
        check("{ users: 5000, duration: 5s }");
        check("{ ramp: { from: 1/s, to: 5000/s }, duration: 5s }");
        check("{ staircase: { from: 1000/s, step: 1000/s, every: 1s }, duration: 5s }");
    }

    #[test]
    fn beyond_half_there_is_a_sentence() {
        insta::assert_snapshot!(said("{ rate: 6200/s, duration: 5s }"), @"arm `main` offers up to 6,200/s, 62 % of the 10,000/s that generator and mock reach together on this host, so high percentiles may be the generator's: lower the rate, or use more processors or a second host; the run's own criteria will judge");
        insta::assert_snapshot!(said("{ ramp: { from: 20000/s, to: 1/s }, duration: 5s }"), @"arm `main` offers up to 20,000/s, 200 % of the 10,000/s that generator and mock reach together on this host, so it can not be reached here: lower the rate, or use more processors or a second host; the run's own criteria will judge");
        assert_ne!(
            said("{ staircase: { from: 1000/s, step: 1000/s, every: 1s }, duration: 6s }"),
            ""
        );
    }

    #[test]
    fn a_target_elsewhere_leaves_room_for_doubt() {
        insta::assert_snapshot!(sentence(20_000.0, 10_000.0, true).unwrap(), @"offers up to 20,000/s, 200 % of the 10,000/s that generator and mock reach together on this host, and a generator alone can hardly reach it either: lower the rate, or use more processors or a second host; the run's own criteria will judge");
    }

    #[test]
    fn a_ceiling_says_nothing_of_other_generators() {
        let load = "{ rate: 60000/s, duration: 5s }";
        let experiment = with_load(load, "").load(&[]).unwrap();
        assert_eq!(warnings(&experiment, &ceiling(2)), Vec::<String>::new());
        let nothing = Ceiling {
            open: None,
            ..ceiling(1)
        };
        assert_eq!(warnings(&experiment, &nothing), Vec::<String>::new());
    }

    #[test]
    fn levels_that_do_not_fit_do_not_count() {
        let staircase = |step| Profile::Staircase {
            from: 100.0,
            step,
            every: Duration::from_secs(2),
        };
        let check = |step, seconds, expected: f64| {
            let peak = peak(staircase(step), Duration::from_secs(seconds));
            assert!((peak - expected).abs() < 1e-9, "{step}, {seconds}: {peak}");
        };
        check(10.0, 4, 110.0);
        check(10.0, 5, 120.0);
        check(-10.0, 5, 100.0);
    }
}
