//! Recorded runs held against each other, and over time.

use crate::fixture::{self, Behaviour, DIRECT, GATEWAY};
use plimsoll_report::across::{self, Across, Entry, compare, needed};
use plimsoll_report::history::{History, Recorded, history, html, text};
use plimsoll_report::metric::Metric;
use plimsoll_report::record::{
    Difference, DifferenceVerdict, Reservation, Statistic, Summary, VerdictResult,
};
use plimsoll_report::summarise::Method;

fn entry(label: &str, arm: &str, run: &str, summary: &Summary) -> Entry {
    let began = "2026-01-01T12:00:00Z".to_owned();
    Entry::new(label, Some(arm), run.to_owned(), began, summary.clone()).unwrap()
}

/// The arms of one run, as `plimsoll compare RUN` takes them.
fn arms_of(summary: &Summary) -> Across {
    let names = ["direct", "gateway", "everything"];
    let entries: Vec<Entry> = names
        .iter()
        .map(|arm| entry(arm, arm, "one", summary))
        .collect();
    compare(&entries)
}

/// Runs of one arm, several blocks each, made one after the other.
fn run_of(arm: Behaviour, blocks: u32) -> Summary {
    let name = arm.name;
    let method = Method::Compare {
        baseline: name.to_owned(),
    };
    let view = fixture::view("e", &method, &[arm], blocks, &[]);
    view.summary
}

#[test]
fn arms_of_one_run_differ_as_its_summary_says() {
    let summary = &fixture::COMPARE.summary;
    let across = arms_of(summary);
    assert_eq!(across.others.len(), 2);
    for other in &across.others {
        assert!(other.paired);
        let added = summary.arms[&other.label].added.as_ref().unwrap();
        assert_eq!(other.differences.len(), across::FIGURES.len());
        for (figure, found) in &other.differences {
            assert_eq!(
                added.get(*figure),
                Some(found),
                "{} {figure:?}",
                other.label
            );
        }
    }
    assert!(across.is_decided());
    insta::assert_snapshot!("across_paired", across::text::render(&across));
}

#[test]
fn runs_one_after_the_other_are_samples_that_share_nothing() {
    let (slow, fast) = (run_of(GATEWAY, 6), run_of(DIRECT, 5));
    let across = compare(&[
        entry("a", "direct", "1", &fast),
        entry("b", "gateway", "2", &slow),
    ]);
    let other = &across.others[0];
    assert!(!other.paired);
    let (_, p50) = other
        .differences
        .iter()
        .find(|(f, _)| *f == Statistic::P50)
        .unwrap();
    assert_eq!((p50.verdict, p50.blocks), (DifferenceVerdict::Worse, 5));
    assert!(
        across.notes[0].contains("one after the other"),
        "{across:?}"
    );
}

#[test]
fn single_runs_say_nothing_of_a_difference() {
    let summary = &fixture::MEASURE.summary;
    let across = compare(&[
        entry("a", "direct", "1", summary),
        entry("b", "direct", "2", summary),
    ]);
    assert!(!across.is_decided());
    assert!(
        across.others[0]
            .why_not
            .as_ref()
            .unwrap()
            .contains("fewer than two blocks")
    );
    insta::assert_snapshot!("across_single", across::text::render(&across));
}

/// Levels are loads of their own, not blocks of one.
#[test]
fn levels_and_trials_are_no_blocks() {
    for (view, arm) in [
        (&*fixture::LEVELS, "gateway"),
        (&*fixture::CAPACITY, "direct"),
    ] {
        let entries = [
            entry("a", "direct", "1", &view.summary),
            entry("b", arm, "2", &view.summary),
        ];
        let across = compare(&entries);
        assert_eq!(across.others[0].differences, []);
        let why = across.others[0].why_not.as_ref().unwrap();
        assert!(why.contains("each at a rate of its own"), "{why}");
        assert_eq!(needed(&entries, 1e-3), []);
    }
}

fn found(across: &Across, wanted: Statistic) -> Difference {
    let mut found = across.others[0].differences.iter();
    found.find(|(figure, _)| *figure == wanted).unwrap().1
}

/// A block that a run's own comparison rules out is not concluded on here either.
#[test]
fn too_few_blocks_of_those_that_were_made_are_no_sample() {
    let mut summary = fixture::COMPARE.summary.clone();
    for block in &mut summary.arms["gateway"].by_block[..4] {
        block.void_for = vec![Statistic::P99];
    }
    let single = entry("c", "direct", "two", &run_of(DIRECT, 6));
    for baseline in [entry("a", "direct", "one", &summary), single] {
        let across = compare(&[baseline, entry("b", "gateway", "one", &summary)]);
        let p99 = found(&across, Statistic::P99);
        assert_eq!(
            (p99.verdict, p99.blocks, p99.planned_blocks),
            (DifferenceVerdict::Invalid, 2, 6)
        );
        let p50 = found(&across, Statistic::P50);
        assert_eq!((p50.verdict, p50.blocks), (DifferenceVerdict::Worse, 6));
    }
}

#[test]
fn runs_that_do_not_fail_alike_are_reserved() {
    let fails = Behaviour {
        failing_share: 0.05,
        ..DIRECT
    };
    let across = compare(&[
        entry("a", "direct", "1", &run_of(DIRECT, 6)),
        entry("b", "direct", "2", &run_of(fails, 6)),
    ]);
    for figure in across::FIGURES {
        let found = found(&across, figure);
        assert_eq!(found.reservation, Some(Reservation::Failures));
        assert_eq!(found.verdict, DifferenceVerdict::Inconclusive, "{figure:?}");
    }
}

#[test]
fn an_arm_that_is_not_there_is_named_with_those_that_are() {
    let summary = fixture::COMPARE.summary.clone();
    let new = |arm| Entry::new("run", arm, String::new(), String::new(), summary.clone());
    let refused = |arm| new(arm).unwrap_err().to_string();
    insta::assert_snapshot!(refused(Some("gatway")), @"run: it has no arm `gatway`: write one of direct, gateway, everything");
    insta::assert_snapshot!(refused(None), @"run: it has several arms: write `run:ARM` with one of direct, gateway, everything");
}

/// Blocks that an effect takes find that effect.
#[test]
fn blocks_for_an_effect_are_the_inverse_of_what_blocks_find() {
    let summary = &fixture::COMPARE.summary;
    let entries = ["direct", "gateway"].map(|arm| entry(arm, arm, "one", summary));
    let found = needed(&entries, 1e-3);
    let p99 = found
        .iter()
        .find(|one| one.figure == Statistic::P99)
        .unwrap();
    let again = needed(&entries, p99.minimum_detectable * (1.0 + 1e-9));
    let again = again
        .iter()
        .find(|one| one.figure == Statistic::P99)
        .unwrap();
    assert_eq!(again.blocks, Some(6));
    let added = summary.arms["gateway"].added.as_ref().unwrap();
    let of_run = added.p99.unwrap().minimum_detectable;
    assert!((p99.minimum_detectable / of_run - 1.0).abs() < 1e-9);
    assert_eq!(needed(&entries[..1], 1e-3).len(), across::FIGURES.len());
}

/// Runs of which the last eight are slower, as `plimsoll history` takes them, in no order.
fn twenty_runs() -> Vec<Recorded> {
    let mut runs: Vec<Recorded> = (0..20)
        .map(|run| {
            let arm = Behaviour {
                median_us: if run < 12 { 200.0 } else { 260.0 } + f64::from(run % 3),
                ..DIRECT
            };
            let summary = fixture::view("e", &Method::Measure, &[arm], 1, &[]).summary;
            Recorded {
                location: format!("runs/{run:02}"),
                started_at: format!("2026-01-{:02}T12:00:00Z", run + 1),
                summary,
            }
        })
        .collect();
    runs.swap(3, 15);
    runs
}

fn of_p50(runs: &[Recorded]) -> History {
    let metric = Metric::parse("response_time.p50").unwrap();
    history(runs, "e", "direct", &metric)
}

#[test]
fn a_history_finds_where_a_figure_changed() {
    let mut runs = twenty_runs();
    let found = of_p50(&runs);
    assert_eq!(found.points.len(), 20);
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    assert_eq!(found.changes[0].started_at, "2026-01-13T12:00:00Z");
    assert!(found.changes[0].share > 0.2);
    assert!(text::render(&found).contains("changed with the run of 2026-01-13"));
    let page = html::render(&found);
    assert!(page.contains("default-src 'none'") && !page.contains("<script"));
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(directory.join("history.html"), &page).unwrap();
    runs.truncate(5);
    assert_eq!(of_p50(&runs).changes, [], "too few");
    runs[0].summary.arms.shift_remove("direct");
    let found = of_p50(&runs);
    assert_eq!((found.points.len(), found.left_out.len()), (4, 1));
}

#[test]
fn a_history_is_of_one_load_at_a_time() {
    let recorded = |summary: &Summary| {
        vec![Recorded {
            location: "runs/00".to_owned(),
            started_at: "2026-01-01T12:00:00Z".to_owned(),
            summary: summary.clone(),
        }]
    };
    let check = |summary: &Summary, metric: &str, left_out: Option<&str>| {
        let metric = Metric::parse(metric).unwrap();
        let runs = recorded(summary);
        let found = history(&runs, &summary.experiment, "direct", &metric);
        let why = found.left_out.first().map(String::as_str);
        assert_eq!(found.points.len(), usize::from(left_out.is_none()));
        let left_out = left_out.map(|why| format!("runs/00: {why}"));
        assert_eq!(why, left_out.as_deref());
    };
    let levels = &fixture::LEVELS.summary;
    check(levels, "levels.200/s.response_time.p99", None);
    check(
        levels,
        "response_time.p99",
        Some(
            "its figure is of all levels together: name one, such as `levels.50/s.response_time.p99`",
        ),
    );
    let capacity = &fixture::CAPACITY.summary;
    check(capacity, "capacity", None);
    check(
        capacity,
        "achieved_per_s",
        Some(
            "its figure is of one trial of a search, whose rate was found there: write `capacity`",
        ),
    );
    // A component died: no criterion says so.
    let mut died = fixture::MEASURE.summary.clone();
    died.verdict.result = VerdictResult::Invalid;
    died.verdict.reasons = vec!["component `upstream` died".to_owned()];
    check(
        &died,
        "response_time.p99",
        Some("it is invalid: component `upstream` died"),
    );
}
