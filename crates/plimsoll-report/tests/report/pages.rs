//! Every output of a synthetic run, as people see it.

use crate::fixture::{self, Behaviour, DIRECT, GATEWAY};
use plimsoll_report::capacity::{Search, conclude};
use plimsoll_report::record::{
    Added, Effect, EventKind, EventRow, SearchEnd, SeriesRow, Trial, TrialOutcome, TrialPurpose,
};
use plimsoll_report::render;
use plimsoll_report::summarise::Method;
use plimsoll_report::view::RunView;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// A run in which the generator was late, an arm failed to answer, and every name is hostile.
pub fn troubled() -> RunView {
    let arm = Behaviour {
        name: HOSTILE,
        lag_us: 400.0,
        failing_share: 0.2,
        ..GATEWAY
    };
    let method = Method::Compare {
        baseline: "direct".to_owned(),
    };
    let mut view = fixture::view("troubled", &method, &[DIRECT, arm], 3, &[]);
    view.manifest.id = HOSTILE.to_owned();
    view.manifest.started_at = HOSTILE.to_owned();
    view.manifest
        .versions
        .insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    view.manifest.inputs[0].path = HOSTILE.to_owned();
    view.summary.experiment = HOSTILE.to_owned();
    view.location = HOSTILE.to_owned();
    let step = view.summary.arms[HOSTILE].by_step[0].clone();
    view.summary.arms[HOSTILE]
        .by_step
        .insert(HOSTILE.to_owned(), step);
    let group = view.summary.arms[HOSTILE].by_group[0].clone();
    view.summary.arms[HOSTILE]
        .by_group
        .insert(HOSTILE.to_owned(), group);
    view.events.push(EventRow {
        t: 3.5,
        kind: EventKind::Warning,
        message: HOSTILE.to_owned(),
        component: None,
        arm: None,
        block: None,
    });
    view
}

#[test]
fn terminal() {
    let text = render::terminal::render(&fixture::COMPARE);
    assert!(text.lines().count() <= 40);
    insta::assert_snapshot!("terminal_compare", text);
    insta::assert_snapshot!(
        "terminal_measure",
        render::terminal::render(&fixture::MEASURE)
    );
    let narrow = render::terminal::render_within(&troubled(), 80);
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
    insta::assert_snapshot!("terminal_troubled_narrow", narrow);
    insta::assert_snapshot!("terminal_troubled", render::terminal::render(&troubled()));
}

#[test]
fn levels_and_capacity() {
    for (name, view) in [
        ("levels", &*fixture::LEVELS),
        ("capacity", &*fixture::CAPACITY),
    ] {
        insta::assert_snapshot!(format!("terminal_{name}"), render::terminal::render(view));
        insta::assert_snapshot!(format!("markdown_{name}"), render::markdown::render(view));
        insta::assert_snapshot!(format!("junit_{name}"), render::junit::render(view));
        insta::assert_snapshot!(format!("csv_{name}"), render::csv::render(view));
    }
}

/// A level is a load of its own: its steps are not mixed with those of another.
#[test]
fn steps_and_groups_of_levels_stand_level_by_level() {
    let mut view = fixture::LEVELS.clone();
    let group = fixture::COMPARE.summary.arms["direct"].by_group[0].clone();
    for arm in view.summary.arms.values_mut() {
        let step = arm.by_step[0].clone();
        arm.by_step.insert("second".to_owned(), step);
        for level in &mut arm.levels {
            let step = level.by_step[0].clone();
            level.by_step.insert("second".to_owned(), step);
            level.by_group.insert("visit".to_owned(), group.clone());
        }
    }
    let markdown = render::markdown::render(&view);
    for row in [
        "| GET / | direct | 50/s | 500 |",
        "| second | gateway | 300/s | 3,000 |",
    ] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
    assert!(
        markdown.contains("| visit | gateway | 300/s |"),
        "{markdown}"
    );
    let csv = render::csv::render(&view);
    assert!(csv.contains(",gateway,3,second,"), "{csv}");
    assert!(!csv.contains(",gateway,,second,"), "{csv}");
    assert_eq!(csv.matches(",visit,duration,").count(), 6, "{csv}");
}

#[test]
fn markdown() {
    insta::assert_snapshot!(
        "markdown_compare",
        render::markdown::render(&fixture::COMPARE)
    );
}

#[test]
fn junit_and_csv() {
    insta::assert_snapshot!("junit_compare", render::junit::render(&fixture::COMPARE));
    insta::assert_snapshot!("csv_compare", render::csv::render(&fixture::COMPARE));
}

/// The pages are also left in the build directory, to be looked at.
#[test]
fn html_is_one_small_page_that_loads_nothing() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, view) in [
        ("compare", &*fixture::COMPARE),
        ("measure", &*fixture::MEASURE),
        ("levels", &*fixture::LEVELS),
        ("capacity", &*fixture::CAPACITY),
        ("troubled", &troubled()),
    ] {
        let page = render::html::render(view);
        std::fs::write(directory.join(format!("{name}.html")), &page).unwrap();
        assert!(page.len() < 300_000, "{name}: {} bytes", page.len());
        assert!(page.contains("default-src 'none'"));
        for forbidden in [
            "<script",
            "<link",
            "<img",
            "url(",
            "@import",
            "http://www",
            "https://",
        ] {
            assert!(!page.contains(forbidden), "{name}: {forbidden}");
        }
        assert_eq!(
            page,
            render::html::render(view),
            "{name}: the same run gives the same bytes"
        );
    }
}

/// A run of an hour still makes a page that can be mailed.
#[test]
fn a_long_run_makes_a_page_that_can_be_mailed() {
    let mut view = fixture::COMPARE.clone();
    let (rows, length) = (view.series.clone(), 157.0);
    for round in 1..23 {
        view.series.extend(rows.iter().cloned().map(|mut row| {
            match &mut row {
                SeriesRow::Load(row) => {
                    (row.t, row.block) = (row.t + f64::from(round) * length, row.block + 6 * round)
                }
                SeriesRow::Step(row) => row.t += f64::from(round) * length,
                SeriesRow::Group(row) => {
                    (row.t, row.block) = (row.t + f64::from(round) * length, row.block + 6 * round)
                }
                SeriesRow::Component(row) => row.t += f64::from(round) * length,
                SeriesRow::Host(row) => row.t += f64::from(round) * length,
            }
            row
        }));
    }
    let page = render::html::render(&view);
    assert!(page.len() < 1_250_000, "{} bytes", page.len());
}

#[test]
fn what_a_target_supplied_is_escaped() {
    let view = troubled();
    for (name, text) in [
        ("html", render::html::render(&view)),
        ("markdown", render::markdown::render(&view)),
        ("junit", render::junit::render(&view)),
    ] {
        assert!(!text.contains("<img"), "{name}");
        assert!(!text.contains("</script"), "{name}");
    }
}

/// A comparison that was interrupted in its first block compares nothing, and says so instead of showing an empty table.
#[test]
fn a_comparison_of_one_block_compares_nothing() {
    let mut view = fixture::COMPARE.clone();
    let comparison = view.summary.comparison.as_mut().unwrap();
    (comparison.blocks, comparison.interval) = (1, None);
    for arm in view.summary.arms.values_mut() {
        arm.added = arm.added.take().map(|_| Added::default());
    }
    for (name, text) in [
        ("terminal", render::terminal::render(&view)),
        ("markdown", render::markdown::render(&view)),
        ("html", render::html::render(&view)),
    ] {
        assert!(text.contains("1 block"), "{name}");
        assert!(!text.contains("1 blocks"), "{name}");
        assert!(text.contains("Fewer than two blocks"), "{name}: {text}");
        assert!(!text.contains("conclusion"), "{name}: no empty table");
    }
}

/// A mark beyond the p99 breaks no criterion, and is not passed over either.
#[test]
fn marks_beyond_the_p99_are_told() {
    let mut view = fixture::MEASURE.clone();
    for row in &mut view.summary.validity {
        (row.ok, row.effect) = (true, Effect::None);
    }
    let told = |view: &RunView| render::terminal::render(view).contains("up to the p99");
    assert!(!told(&view));
    view.summary.validity[0].effect = Effect::Invalid;
    assert!(told(&view));
    assert!(render::markdown::render(&view).contains("up to the p99"));
    assert!(render::html::render(&view).contains("up to the p99"));
}

#[test]
fn a_confirmation_that_failed_below_the_lower_bound_is_not_passed_over() {
    let found = fixture::CAPACITY.summary.arms["direct"].capacity.clone();
    let found = found.unwrap();
    let mut trials = found.trials;
    let confirms = |trial: &&mut Trial| trial.purpose == TrialPurpose::Confirmation;
    let held = trials.iter_mut().find(confirms).unwrap();
    let mut failed = held.clone();
    held.purpose = TrialPurpose::Search;
    failed.rate_per_s *= 0.95;
    // Trials enough have carried that rate before.
    let carried = Trial {
        purpose: TrialPurpose::Search,
        ..failed.clone()
    };
    trials.extend(std::iter::repeat_n(carried, 9));
    failed.outcome = TrialOutcome::Bad;
    trials.push(failed);
    let concluded = conclude(Search {
        settings: fixture::held::settings(),
        objective: found.objective,
        trials: &trials,
        ended_by: SearchEnd::Budget,
        overload: None,
        notes: Vec::new(),
        seed: 1,
    });
    assert_eq!(concluded.lower_per_s, found.lower_per_s);
    assert_eq!(concluded.confirmation.unwrap().held, Some(false));
    assert!(
        concluded.sentence.contains("did not hold"),
        "{}",
        concluded.sentence
    );
}
