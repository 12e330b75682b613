//! The ceiling that `plimsoll doctor --calibrate` found: how much generator and a mock that answers at once reach together on this host.
//!
//! A lower bound of what the generator reaches, so it never refuses a plan. What the generator did is judged after the run.

use super::Subject;
use super::ceiling::{Ceiling, Of, Source};
use super::host::HostFacts;
use super::stated::demand;
use crate::ceiling;
use plimsoll_base::units::format_number;
use plimsoll_experiment::{Arm, Body, ComponentKind, Experiment, Placement, Step};
use plimsoll_load::plan::{Connections, Pacing};

/// Of the ceiling, what a plan may ask for without a word: beyond it lateness begins to show in high percentiles.
const EASY: f64 = 0.5;
/// The largest request body in bytes that costs about what none costs, which is what the ceiling was measured with.
const SMALL_BODY: usize = 16 * 1024;

/// The ceiling of an arm, with a warning where it offers more than half of it. `None` without one, in the closed model, which offers what
/// is answered, and where it was measured with another kind of load: it says nothing of that.
pub(super) fn ceiling(subject: &Subject<'_>, host: &HostFacts) -> Option<Ceiling> {
    let calibrated = host.calibrated.as_deref()?;
    if !is_placed_as_measured(subject.experiment, calibrated) || !is_as_measured(subject.arm) {
        return None;
    }
    let offered = demand(subject, Of::Exchanges)?;
    let elsewhere = is_external(subject.experiment, subject.arm);
    let value = calibrated.open.holds_per_s;
    Some(Ceiling {
        source: Source::Calibration,
        scenario: None,
        of: Of::Exchanges,
        value,
        sentence: "generator and mock reach that together on this host".to_owned(),
        formula: "measured by `plimsoll doctor --calibrate`",
        slack_per_s: 0.0,
        held_s: 0.0,
        warning: sentence(offered, value, elsewhere),
    })
}

/// Whether generator and components share the host as in the calibration: as many threads, nobody pinned or under a quota.
fn is_placed_as_measured(experiment: &Experiment, ceiling: &ceiling::Ceiling) -> bool {
    let generator = &experiment.generator;
    let free = Placement::default();
    generator.shards == ceiling.shards
        && generator.cpus.is_empty()
        && experiment
            .components
            .iter()
            .all(|component| component.placement == free)
}

/// Whether an arm's load is of the kind that the calibration used.
fn is_as_measured(arm: &Arm) -> bool {
    let settings = &arm.settings;
    settings.pacing == Pacing::default()
        && settings.connections == Connections::default()
        && arm.steps.iter().all(|step| body_bytes(step) <= SMALL_BODY)
}

/// The length of a step's body; of one with substitutions, as it is written.
fn body_bytes(step: &Step) -> usize {
    fn length(body: &Body) -> usize {
        match body {
            Body::Empty => 0,
            Body::Inline(template) => template.source().len(),
            Body::File { bytes, .. } => bytes.len(),
            Body::Parts(parts) => parts.iter().map(length).sum(),
        }
    }
    length(&step.exchange.body)
}

fn is_external(experiment: &Experiment, arm: &Arm) -> bool {
    let target = experiment.component(&arm.target.component);
    target.is_some_and(|component| matches!(component.kind, ComponentKind::External(_)))
}

/// Sentence on a peak, after the arm's name; `None` when it is easy.
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
    let judged = "the run's validity criteria will decide";
    let remedy = "lower the rate, or use more processors or a second host";
    Some(match (share > 1.0, elsewhere) {
        (false, _) => {
            format!("{offer}, so the generator may distort high percentiles: {remedy}; {judged}")
        }
        (true, false) => format!("{offer}, so it cannot be reached here: {remedy}; {judged}"),
        (true, true) => {
            format!(
                "{offer}, and even a generator alone is unlikely to reach it: {remedy}; {judged}"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::{ClosedThroughput, OpenCeiling};
    use crate::preflight::{Warning, look};
    use plimsoll_experiment::memory::{Memory, with_load};

    /// A host with a ceiling of 10,000 exchanges per second.
    fn ceiling(shards: usize) -> HostFacts {
        let closed = ClosedThroughput {
            users: 50,
            achieved_per_s: 12_000.0,
        };
        let open = OpenCeiling {
            connections: 50,
            holds_per_s: 10_000.0,
            fails_per_s: None,
            gives_way: None,
            doubt: None,
            pacing_lag_p50_s: None,
            pacing_lag_p99_s: None,
        };
        let ceiling = ceiling::Ceiling::new(String::new(), shards, closed, open);
        HostFacts {
            calibrated: Some(Box::new(ceiling)),
            ..HostFacts::default()
        }
    }

    /// Warnings of an experiment, a line each.
    fn said_of(experiment: &Memory) -> String {
        let experiment = experiment.load(&[]).unwrap();
        let outlooks = look(&experiment, &ceiling(1));
        let warnings = outlooks.iter().flat_map(|outlook| &outlook.warnings);
        let lines: Vec<String> = warnings.map(Warning::to_string).collect();
        lines.join("\n")
    }

    fn said(load: &str) -> String {
        said_of(&with_load(load, ""))
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
        insta::assert_snapshot!(said("{ rate: 6200/s, duration: 5s }"), @"arm `main` offers up to 6,200/s, 62 % of the 10,000/s that generator and mock reach together on this host, so the generator may distort high percentiles: lower the rate, or use more processors or a second host; the run's validity criteria will decide");
        insta::assert_snapshot!(said("{ ramp: { from: 20000/s, to: 1/s }, duration: 5s }"), @"arm `main` offers up to 20,000/s, 200 % of the 10,000/s that generator and mock reach together on this host, so it cannot be reached here: lower the rate, or use more processors or a second host; the run's validity criteria will decide");
        assert_ne!(
            said("{ staircase: { from: 1000/s, step: 1000/s, every: 1s }, duration: 6s }"),
            ""
        );
    }

    #[test]
    fn a_target_elsewhere_leaves_room_for_doubt() {
        insta::assert_snapshot!(sentence(20_000.0, 10_000.0, true).unwrap(), @"offers up to 20,000/s, 200 % of the 10,000/s that generator and mock reach together on this host, and even a generator alone is unlikely to reach it: lower the rate, or use more processors or a second host; the run's validity criteria will decide");
    }

    #[test]
    fn a_ceiling_says_nothing_of_other_generators() {
        let experiment = with_load("{ rate: 60000/s, duration: 5s }", "");
        let experiment = experiment.load(&[]).unwrap();
        let outlooks = look(&experiment, &ceiling(2));
        assert_eq!(outlooks[0].warnings, []);
    }

    #[test]
    fn a_ceiling_says_nothing_of_other_kinds_of_load() {
        let check = |load: &str, rest: &str, silent: bool| {
            let load = format!("{{ rate: 60000/s, duration: 5s{load} }}");
            let said = said_of(&with_load(&load, rest));
            assert_eq!(said.is_empty(), silent, "{load} {rest}: {said}");
        };
        check("", "", false);
        check(", keep_alive: true, connections: 1000", "", false);
        check(", pacing: precise", "", true);
        check(", pacing: 1ms", "", true);
        check(", pacing: 200us", "", false);
        check(", keep_alive: false", "", true);
        check("", "generator: { cpus: [0] }", true);
    }

    /// An experiment whose mock has these further keys, and whose one step has them too, at a rate that is warned of.
    fn with(mock: &str, step: &str) -> Memory {
        let body = "x".repeat(SMALL_BODY + 1);
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}}{mock} }} }}\nscenario: [{{ post: /a{step} }}]\nload: {{ rate: 60000/s, duration: 5s }}\n"
        );
        Memory::new(
            &text,
            &[("e/large", &body), ("e/small", &body[..SMALL_BODY])],
        )
    }

    #[test]
    fn components_in_other_places_and_large_bodies_pass_in_silence() {
        let check = |mock: &str, step: &str, silent: bool| {
            let said = said_of(&with(mock, step));
            assert_eq!(said.is_empty(), silent, "{mock} {step:.40}: {said}");
        };
        check("", "", false);
        check(", cpus: [1]", "", true);
        check(", cpu_quota: 0.5", "", true);
        check("", ", body: small", false);
        check("", ", body_file: small", false);
        check("", ", body_file: large", true);
        let inline = format!(", body: {}", "x".repeat(SMALL_BODY + 1));
        check("", &inline, true);
    }

    #[test]
    fn each_arm_is_judged_by_its_own_load() {
        let arms = "arms: { plain: {}, exact: { load: { pacing: precise } }, calm: { load: { rate: 10/s } } }";
        let said = said_of(&with_load("{ rate: 60000/s, duration: 5s }", arms));
        assert!(said.starts_with("arm `plain` offers"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
