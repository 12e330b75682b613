//! Which verdict which evidence gives, from arm data through to the exit code.

mod cpu;
mod trials;

use crate::fixture::{SENSITIVITY, facts, threshold};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_report::record::*;
use plimsoll_report::summarise::{Method, summarise};
use plimsoll_report::threshold::{Bound, Threshold};
use plimsoll_report::verdict::{ExitClass, decide};
use std::time::Duration;

const SECONDS: f64 = 10.0;

/// A block in which `per_s` exchanges a second were answered, each in `time` µs.
fn block(name: &str, per_s: u64, time: u64) -> ArmData {
    let mut arm = ArmData::new(name, "t", LoadModel::Open, Some(100.0));
    let count = per_s * 10;
    arm.seconds = SECONDS;
    (arm.intended, arm.sent) = (count, count);
    let step = arm.steps.entry("s".to_owned()).or_default();
    step.sent = count;
    if count > 0 {
        step.statuses.insert(200, count);
        let class = step.classes.entry(OutcomeClass::Passed).or_default();
        class.count = count;
        let histogram = class.times.entry(TimeKind::ResponseTime).or_default();
        histogram.record_many(time * 1_000, count);
    }
    arm
}

fn arm(name: &str, blocks: impl IntoIterator<Item = ArmData>) -> ArmBlocks {
    ArmBlocks {
        name: name.to_owned(),
        blocks: (1..).zip(blocks).collect(),
        notes: Vec::new(),
    }
}

fn measured(data: ArmData, thresholds: &[Threshold]) -> Summary {
    summarise(
        &facts("e"),
        &Method::Measure,
        &[arm("a", [data])],
        thresholds,
    )
}

fn compared(arms: &[ArmBlocks]) -> Summary {
    let method = Method::Compare {
        baseline: "base".to_owned(),
    };
    summarise(&facts("e"), &method, arms, &[])
}

fn check(summary: &Summary, result: VerdictResult, code: u8, reason: &str) {
    let verdict = &summary.verdict;
    assert_eq!(
        (verdict.result, verdict.reasons[0].as_str()),
        (result, reason)
    );
    assert_eq!(ExitClass::of(verdict.result).code(), code);
}

#[test]
fn thresholds_decide_a_valid_run() {
    let p99 = |limit_ms: f64| {
        [threshold(
            "a",
            "response_time.p99",
            Bound::Below(limit_ms * 1e-3),
        )]
    };
    let passed = measured(block("a", 100, 1_000), &p99(2.0));
    check(
        &passed,
        VerdictResult::Passed,
        0,
        "a response_time.p99 is 1.00 ms, below 2.00 ms",
    );
    let failed = measured(block("a", 100, 3_000), &p99(2.0));
    check(
        &failed,
        VerdictResult::Failed,
        3,
        "a response_time.p99 is 3.00 ms, not below 2.00 ms",
    );
    let few = measured(block("a", 10, 1_000), &p99(2.0));
    check(
        &few,
        VerdictResult::Inconclusive,
        6,
        "a response_time.p99 is 1.00 ms, and cannot be shown to be below 2.00 ms: n = 100 is too small: the p99 needs at least 299",
    );
    let none = [threshold("a", "connect_time.p99", Bound::Below(1.0))];
    let open = measured(block("a", 100, 1_000), &none);
    check(
        &open,
        VerdictResult::Inconclusive,
        6,
        "a connect_time.p99 has no sample",
    );
    let absent = [threshold("a", "outcomes.answered.503", Bound::Below(1.0))];
    let held = measured(block("a", 100, 1_000), &absent);
    check(
        &held,
        VerdictResult::Passed,
        0,
        "a outcomes.answered.503 is 0, below 1",
    );
}

#[test]
fn nothing_is_concluded_from_an_invalid_run() {
    let mut late = block("a", 100, 1_000);
    late.dropped_by_generator = 500;
    let limits = [threshold("a", "response_time.p99", Bound::Below(1.0))];
    let summary = measured(late, &limits);
    assert_eq!(summary.thresholds[0].result, VerdictResult::Invalid);
    assert_eq!(ExitClass::of(summary.verdict.result).code(), 4);
    assert!(summary.verdict.reasons[0].contains("criterion 1, "));
}

#[test]
fn a_death_makes_a_run_invalid() {
    let mut facts = facts("e");
    facts.deaths.push("upstream died in block 1".to_owned());
    let arms = [arm("a", [block("a", 100, 1_000)])];
    let summary = summarise(&facts, &Method::Measure, &arms, &[]);
    check(
        &summary,
        VerdictResult::Invalid,
        4,
        "upstream died in block 1",
    );
}

#[test]
fn without_answers_nothing_is_known() {
    let silent = measured(block("a", 0, 0), &[]);
    check(
        &silent,
        VerdictResult::Unknown,
        6,
        "a: not one exchange was answered",
    );
    assert_eq!(
        silent.arms["a"].times.response_time,
        TimeStatistics::default()
    );
}

#[test]
fn failed_exchanges_are_told_but_do_not_fail_a_run() {
    let mut data = block("a", 99, 1_000);
    let step = &mut data.steps["s"];
    step.sent += 10;
    step.classes.entry(OutcomeClass::Refused).or_default().count = 10;
    data.intended += 10;
    data.sent += 10;
    let summary = measured(data, &[]);
    check(
        &summary,
        VerdictResult::Passed,
        0,
        "the measurement is valid; no threshold was set",
    );
    assert_eq!(
        summary.verdict.reasons[1],
        "note: 10 exchanges of a failed (1.00 %)"
    );
    assert_eq!(summary.arms["a"].outcomes.refused, 10);
}

#[test]
fn the_reason_of_most_failures_stands_beside_their_number() {
    let note = |reasons: &[(Reason, u64)]| {
        let mut data = block("a", 900, 1_000);
        let step = &mut data.steps["s"];
        for (reason, count) in reasons {
            step.classes.entry(reason.class()).or_default().count += count;
            step.reasons.insert(*reason, *count);
            step.sent += count;
            data.intended += count;
            data.sent += count;
        }
        let tally = data.steps["s"].clone();
        data.failures.observe("s", 0.0, &tally);
        measured(data, &[]).verdict.reasons[1].clone()
    };
    assert_eq!(
        note(&[(Reason::NameMismatch, 10), (Reason::ResetBody, 9)]),
        "note: 19 exchanges of a failed (0.21 %), most of them: TLS failed: the server's certificate is for another name"
    );
    assert_eq!(
        note(&[(Reason::NameMismatch, 10), (Reason::ResetBody, 10)]),
        "note: 20 exchanges of a failed (0.22 %)"
    );
}

/// A closed loop that used all of its generator is valid; its throughput is a lower bound. A late generator is no fault of it.
#[test]
fn a_saturated_closed_loop_is_a_lower_bound() {
    let mut data = block("a", 71_556, 699);
    data.model = LoadModel::Closed;
    data.offered_per_s = None;
    data.worst_second = Some(0.1);
    let busy = ComponentSample {
        length_s: SECONDS,
        cpu_cores: Some(0.99),
        busiest_thread_cores: Some(0.99),
        ..ComponentSample::default()
    };
    data.components
        .entry(GENERATOR.to_owned())
        .or_default()
        .observe(&busy);
    let summary = measured(data, &[]);
    assert_eq!(summary.verdict.result, VerdictResult::Passed);
    assert_eq!(
        summary.arms["a"].notes,
        [
            "closed model: stalls are under-sampled",
            "the generator used all of its processor: throughput is at least 71,556/s",
        ]
    );
}

/// 50 callers in a closed loop at 74,801/s and 71,556/s wait 0.668 ms and 0.699 ms for each answer (N / X): the gateway adds 31 µs,
/// which is what the fall in throughput means.
#[test]
fn little_s_law_turns_throughput_into_time() {
    let arms = [("base", 74_801_u64), ("gateway", 71_556)].map(|(name, per_s)| {
        let time = Duration::from_secs_f64(50.0 / per_s as f64);
        let micros = u64::try_from(time.as_micros()).unwrap();
        arm(
            name,
            [0, 1, 2, 0, 1, 2].map(|noise| block(name, per_s, micros + noise)),
        )
    });
    let summary = compared(&arms);
    let added = summary.arms["gateway"]
        .added
        .as_ref()
        .unwrap()
        .mean
        .unwrap();
    assert!((added.value - 30.3e-6).abs() < 1e-6, "{added:?}");
    assert_eq!(
        added.verdict,
        DifferenceVerdict::Equivalent,
        "31 µs lie within 5 % of 668 µs"
    );
    assert_eq!(summary.arms["base"].achieved_per_s, Some(74_801.0));
}

/// Six blocks of two arms; in these blocks of the gateway so many of the hundred exchanges were 90 ms late.
fn with_late(blocks: &[usize], late: usize) -> [ArmBlocks; 2] {
    let lagging = |name: &str, time: u64, late: usize| {
        let mut data = block(name, 100, time);
        let lag = |index| if index < late { 90_000 } else { 10 };
        let times: Vec<u64> = (0..100).map(lag).collect();
        let class = data.steps["s"].classes.get_mut(&OutcomeClass::Passed);
        let response = class.unwrap().times.get_mut(&TimeKind::ResponseTime);
        let response = response.unwrap();
        response.clear();
        for lag in times {
            response.record(Duration::from_micros(time + lag));
            let lags = data.times.entry(TimeKind::PacingLag).or_default();
            lags.record(Duration::from_micros(lag));
        }
        data
    };
    let gateway = (0..6).map(|index| {
        let late = if blocks.contains(&index) { late } else { 0 };
        lagging("gateway", 1_500 + index as u64, late)
    });
    [
        arm("base", (0..6).map(|_| lagging("base", 1_000, 0))),
        arm("gateway", gateway),
    ]
}

/// Two of a hundred exchanges late take the p99 of their block with them and leave its median where it is.
#[test]
fn a_block_is_void_for_the_figures_that_lateness_reaches() {
    let summary = compared(&with_late(&[2], 2));
    let gateway = &summary.arms["gateway"];
    let added = gateway.added.as_ref().unwrap();
    let (p50, p99) = (added.p50.unwrap(), added.p99.unwrap());
    assert_eq!((p50.blocks, p50.planned_blocks), (6, 6));
    assert_eq!((p99.blocks, p99.planned_blocks), (5, 6));
    assert_eq!(p99.verdict, DifferenceVerdict::Worse);
    assert!((p99.value - 502e-6).abs() < 3e-6, "{p99:?}");
    assert_eq!(
        gateway.by_block[2].void_for,
        [Statistic::Mean, Statistic::P99, Statistic::P999]
    );
    assert_eq!(summary.arms["base"].by_block.len(), 6);
    assert_eq!(summary.verdict.result, VerdictResult::Passed);
}

#[test]
fn a_median_stands_where_the_tail_is_void() {
    let late = with_late(&[0, 2, 4], 2);
    let summary = compared(&late);
    let added = summary.arms["gateway"].added.as_ref().unwrap();
    assert_eq!(added.p99.unwrap().verdict, DifferenceVerdict::Invalid);
    assert_eq!(added.p50.unwrap().verdict, DifferenceVerdict::Worse);
    let reasons = &summary.verdict.reasons;
    assert_eq!(summary.verdict.result, VerdictResult::Passed);
    assert!(
        reasons[1].starts_with("gateway adds 502 µs at p50"),
        "{reasons:?}"
    );
    assert!(reasons[2].starts_with("no conclusion on the p99 of gateway: criterion 13"));

    let method = Method::Compare {
        baseline: "base".to_owned(),
    };
    let judged = |metric| {
        let limits = [threshold("gateway", metric, Bound::Below(2e-3))];
        summarise(&facts("e"), &method, &late, &limits)
            .verdict
            .result
    };
    assert_eq!(judged("added.p50"), VerdictResult::Passed);
    assert_eq!(judged("added.p99"), VerdictResult::Invalid);
    assert_eq!(judged("response_time.p95"), VerdictResult::Passed);
    assert_eq!(judged("response_time.p999"), VerdictResult::Invalid);
    let generous = [threshold("gateway", "response_time.max", Bound::Below(0.2))];
    let kept = summarise(&facts("e"), &method, &late, &generous);
    assert_eq!(
        kept.verdict.result,
        VerdictResult::Passed,
        "the truth is lower still"
    );
}

#[test]
fn without_a_median_nothing_is_left() {
    let summary = compared(&with_late(&[0, 2, 4], 80));
    assert_eq!(summary.verdict.result, VerdictResult::Invalid);
    assert_eq!(summary.comparison.as_ref().unwrap().void_blocks, [1, 3, 5]);
    let all = compared(&with_late(&[0, 1, 2, 3, 4, 5], 80));
    assert_eq!(all.verdict.result, VerdictResult::Invalid);
}

/// The sentence above criteria that do not hold says which figures they leave.
#[test]
fn a_run_without_thresholds_says_which_figures_can_be_used() {
    let mut data = block("a", 100, 1_000);
    data.intended += 20;
    data.dropped += 20;
    let summary = measured(data, &[]);
    check(
        &summary,
        VerdictResult::Passed,
        0,
        "of the response times of a p50, p75, p90 and p95 can be used, mean, p99, p99.9 and max with their mark (†); no threshold was set",
    );
}

/// Arrivals that were never answered cannot be left out of a percentile, whichever flag left them waiting.
#[test]
fn a_percentile_does_not_hold_while_too_many_get_no_answer() {
    let limit = |metric: &str, below| threshold("a", metric, Bound::Below(below));
    let dropping = |dropped: u64| {
        let mut data = block("a", 100, 1_000);
        data.intended += dropped;
        data.dropped += dropped;
        data
    };
    let p99 = [limit("response_time.p99", 2e-3)];
    let judged = |data, thresholds: &[Threshold]| measured(data, thresholds).verdict.result;
    assert_eq!(judged(dropping(2), &p99), VerdictResult::Passed);
    let half = measured(dropping(1_000), &p99);
    check(
        &half,
        VerdictResult::Failed,
        3,
        "a response_time.p99 is at least 1.00 ms, and cannot be shown to be below 2.00 ms: 50 % of the exchanges due had no successful response, more than the p99 tolerates (to judge failures separately, set a threshold on `failed_share`)",
    );
    // What still waited at the end may have been about to be answered: nobody knows.
    let mut waiting = dropping(100);
    let waits = waiting.times.entry(TimeKind::UnstartedTime).or_default();
    waits.record_many(500_000, 100);
    assert_eq!(judged(waiting.clone(), &p99), VerdictResult::Inconclusive);
    let longer = waiting.times.entry(TimeKind::UnstartedTime).or_default();
    longer.clear();
    longer.record_many(5_000_000, 100);
    assert_eq!(judged(waiting, &p99), VerdictResult::Failed);
    // Failures count, unless somebody judges them apart.
    let mut failing = block("a", 100, 1_000);
    let step = &mut failing.steps["s"];
    step.classes
        .entry(OutcomeClass::CheckFailed)
        .or_default()
        .count = 500;
    step.statuses.insert(503, 500);
    step.sent += 500;
    (failing.intended, failing.sent) = (1_500, 1_500);
    assert_eq!(judged(failing.clone(), &p99), VerdictResult::Failed);
    let apart = [limit("response_time.p99", 2e-3), limit("failed_share", 0.5)];
    assert_eq!(judged(failing, &apart), VerdictResult::Passed);
}

/// An arm that refuses one exchange in ten looks faster and is not called so; one that is slower nevertheless is slower.
#[test]
fn failing_is_not_being_faster() {
    let failing = |time: u64| {
        (0..6).map(move |index| {
            let mut data = block("gateway", 90, time + index);
            let step = &mut data.steps["s"];
            step.sent += 100;
            step.classes.entry(OutcomeClass::Refused).or_default().count = 100;
            data.intended += 100;
            data.sent += 100;
            data
        })
    };
    let base = || arm("base", (0..6).map(|_| block("base", 100, 1_000)));
    let against = |time| [base(), arm("gateway", failing(time))];
    let of = |summary: &Summary| summary.arms["gateway"].added.as_ref().unwrap().p50.unwrap();

    let faster = compared(&against(500));
    assert_eq!(of(&faster).verdict, DifferenceVerdict::Inconclusive);
    assert_eq!(of(&faster).reservation, Some(Reservation::Failures));
    assert_eq!(faster.verdict.result, VerdictResult::Inconclusive);
    assert_eq!(
        faster.verdict.reasons[0],
        "gateway: no conclusion while the arms have different failure rates"
    );
    let method = Method::Compare {
        baseline: "base".to_owned(),
    };
    let limits = [threshold("gateway", "added.p50", Bound::Below(1e-3))];
    let judged = summarise(&facts("e"), &method, &against(500), &limits);
    assert_eq!(judged.thresholds[0].result, VerdictResult::Inconclusive);

    let slower = compared(&against(2_000));
    assert_eq!(of(&slower).verdict, DifferenceVerdict::Worse);
    assert_eq!(slower.verdict.result, VerdictResult::Passed);
}

#[test]
fn an_undecided_comparison_says_what_it_could_have_found() {
    let noisy = [1_000, 5_000, 400, 3_000, 600, 2_000].map(|time| block("gateway", 100, time));
    let base = [900, 4_000, 900, 2_500, 1_200, 1_000].map(|time| block("base", 100, time));
    let summary = compared(&[arm("base", base), arm("gateway", noisy)]);
    assert_eq!(ExitClass::of(summary.verdict.result).code(), 6);
    insta::assert_snapshot!(summary.verdict.reasons[0], @"gateway: neither median nor p99 is decided; 6 blocks can detect differences of 1.01 ms or more; about 59 more would decide");
}

#[test]
fn merging_blocks_is_measuring_them_in_one() {
    let mut merged = block("a", 100, 1_000);
    merged.merge(&block("a", 300, 2_000));
    assert_eq!(
        (
            merged.seconds,
            merged.sent,
            merged.count(OutcomeClass::Passed)
        ),
        (20.0, 4_000, 4_000)
    );
    assert_eq!(merged.histogram(TimeKind::ResponseTime).count(), 4_000);
    assert_eq!(merged.offered_per_s, Some(100.0));
}

#[test]
fn connections_beside_delayed_links_are_told_by_any_verdict() {
    let mut facts = facts("e");
    facts.deaths = vec!["api died".to_owned()];
    let verdict = decide(&SENSITIVITY.summary, &facts);
    let note = "note: main: api talks to 192.0.2.7:443 over no delayed link: what that costs was not measured";
    assert_eq!(verdict.result, VerdictResult::Invalid);
    assert_eq!(verdict.reasons, ["api died", note]);
}
