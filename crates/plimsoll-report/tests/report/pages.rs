//! Every output of a synthetic run, as people see it.

use crate::fixture::{self, Behaviour, DIRECT, GATEWAY};
use plimsoll_report::capacity::{Search, conclude};
use plimsoll_report::record::{
    Added, Effect, EventKind, EventRow, Manner, SearchEnd, SeriesRow, Trial, TrialOutcome,
    TrialPurpose,
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
    let mut step = view.summary.arms[HOSTILE].by_step[0].clone();
    // Only its name counts: rates and throughput go on as before.
    step.sent = 0;
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
fn levels_capacity_sensitivity_and_availability() {
    for (name, view) in [
        ("levels", &*fixture::LEVELS),
        ("capacity", &*fixture::CAPACITY),
        ("sensitivity", &*fixture::SENSITIVITY),
        ("availability", &*fixture::AVAILABILITY),
    ] {
        insta::assert_snapshot!(format!("terminal_{name}"), render::terminal::render(view));
        insta::assert_snapshot!(format!("markdown_{name}"), render::markdown::render(view));
        insta::assert_snapshot!(format!("junit_{name}"), render::junit::render(view));
        insta::assert_snapshot!(format!("csv_{name}"), render::csv::render(view));
    }
}

/// The run with iterations of three exchanges each, all of them answered as its only step was.
fn of_three_steps(view: &RunView) -> RunView {
    let mut view = view.clone();
    for arm in view.summary.arms.values_mut() {
        let three = |per_s: &mut Option<f64>| *per_s = per_s.map(|per_s| 3.0 * per_s);
        for name in ["second", "third"] {
            let step = arm.by_step[0].clone();
            arm.by_step.insert(name.to_owned(), step);
            for level in &mut arm.levels {
                let step = level.by_step[0].clone();
                level.by_step.insert(name.to_owned(), step);
            }
        }
        arm.levels.iter_mut().for_each(|level| {
            three(&mut level.good_per_s);
        });
        let found = arm.capacity.iter_mut();
        found.flat_map(|found| &mut found.trials).for_each(|trial| {
            three(&mut trial.good_per_s);
        });
        three(&mut arm.good_per_s);
        three(&mut arm.achieved_per_s);
    }
    view
}

/// A rate counts iterations and throughput exchanges: nowhere do two figures stand side by side of which one is the one and one the other.
#[test]
fn what_was_offered_stands_in_the_unit_of_what_was_good() {
    let shown = |view: &RunView, wanted: &[&str]| {
        let view = of_three_steps(view);
        let text = render::terminal::render(&view);
        let lines = text.lines();
        let lines = lines.filter(|line| wanted.iter().any(|start| line.starts_with(start)));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    insta::assert_snapshot!(shown(&fixture::MEASURE, &["arm", "direct", "  direct"]), @r#"
    arm     offered exchanges/s  good/s  failed  time          min    mean     p50     p90     p95     p99    p99.9      max
    direct                3,000   3,000       0  response  57.0 µs  254 µs  225 µs  379 µs  436 µs  609 µs  3.31 ms  8.62 ms
      direct: a rate counts iterations, of 3 exchanges each on the mean; throughput counts exchanges: 1,000 iterations/s are 3,000 exchanges/s
    "#);
    insta::assert_snapshot!(shown(&fixture::LEVELS, &["level ", "300/s", "  direct: a rate"]), @r#"
    level  arm      bearing   offered exchanges/s  good/s  failed      min     mean      p50      p90      p95      p99      max  CPU generator  CPU upstream  CPU plain
    300/s  direct   sustains                  900     900       0   975 µs  4.58 ms  4.24 ms  6.99 ms  8.27 ms  11.0 ms  16.5 ms           0.23          0.17          –
      direct: a rate counts iterations, of 3 exchanges each on the mean; throughput counts exchanges
    "#);
    insta::assert_snapshot!(shown(&fixture::CAPACITY, &["arm", "trial", "direct", "4  ", "  direct"]), @r#"
    arm     found  carried, iterations/s  too much, iterations/s   width  confidence  confirmed  above it  recovery  trials
    direct  found                  392.7                   411.9  4.89 %     92.00 %  yes        queues      2.00 s      19
    direct
    trial  outcome  iterations/s     for  offered exchanges/s  good/s  failed      p99
    4      good              400  5.00 s                1,200   1,201       0  11.1 ms
    arm     offered exchanges/s  good/s  failed  time         min     mean      p50      p90      p95      p99    p99.9      max
    direct                1,178   1,178       0  response  802 µs  4.55 ms  4.19 ms  7.01 ms  8.14 ms  10.7 ms  14.0 ms  19.2 ms
      direct: a rate counts iterations, of 3 exchanges each on the mean; throughput counts exchanges: 393 iterations/s are 1,178 exchanges/s
    "#);

    let page = |view: &RunView| render::html::render(&of_three_steps(view));
    let measured = page(&fixture::MEASURE);
    for said in [
        "offered exchanges/s",
        "3,000/s<small>exchanges; offered 3,000/s (1,000 iterations/s)</small>",
        "a rate counts iterations, of 3 exchanges each on the mean",
    ] {
        assert!(measured.contains(said), "{said}");
    }
    for searched in [page(&fixture::LEVELS), page(&fixture::CAPACITY)] {
        assert!(searched.contains("Across: iterations offered per second"));
        assert!(searched.contains("offered exchanges/s"));
    }
    let markdown = |view: &RunView| render::markdown::render(&of_three_steps(view));
    for view in [&fixture::MEASURE, &fixture::LEVELS, &fixture::CAPACITY] {
        let said = "direct: a rate counts iterations, of 3 exchanges each on the mean";
        assert!(markdown(view).contains(said));
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
        ("sensitivity", &*fixture::SENSITIVITY),
        ("availability", &*fixture::AVAILABILITY),
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
            // Code in a sentence is set as code.
            "`",
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

#[test]
fn code_in_sentences_is_set_as_code_wherever_they_stand() {
    let mut view = fixture::AVAILABILITY.clone();
    let sentence = |place: &str| format!("see `{place}`");
    view.summary.verdict.reasons.push(sentence("reason"));
    view.summary.thresholds[0].reason = sentence("threshold");
    for arm in view.summary.arms.values_mut() {
        arm.notes.push(sentence("note"));
        if let Some(found) = &mut arm.availability {
            found.notes.push(sentence("availability"));
            found.trials[0].void_reasons.push(sentence("trial"));
            let annual = found.annual.as_mut().unwrap();
            annual.sentences.push(sentence("year"));
        }
    }
    let page = render::html::render(&view);
    for place in [
        "reason",
        "threshold",
        "note",
        "availability",
        "trial",
        "year",
    ] {
        let code = format!("see <code>{place}</code>");
        assert!(page.contains(&code), "{place}");
    }
    assert!(!page.contains('`'));
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
    let told = |view: &RunView| render::terminal::render(view).contains("up to p99");
    assert!(!told(&view));
    view.summary.validity[0].effect = Effect::Invalid;
    assert!(told(&view));
    assert!(render::markdown::render(&view).contains("up to p99"));
    assert!(render::html::render(&view).contains("up to p99"));
}

/// There is nothing to recover from.
#[test]
fn what_was_kept_up_with_is_no_overload_in_the_table_either() {
    let mut view = fixture::CAPACITY.clone();
    let found = view.summary.arms["direct"].capacity.as_mut().unwrap();
    let seen = found.confirmation.as_mut().unwrap();
    let overload = seen.overload.as_mut().unwrap();
    overload.bearing.manner = Manner::Sustains;
    overload.recovered_after_s = Some(2.0);
    let text = render::terminal::render(&view);
    let row = text.lines().find(|line| line.contains("keeps up")).unwrap();
    assert!(
        !row.contains("2.00 s") && !row.contains("sustains"),
        "{row}"
    );
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
