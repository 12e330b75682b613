//! The published reports, and what else the laws must and must not say.

use super::{Figures, diagnose, text};

fn diagnosed(figures: &str) -> String {
    match Figures::parse("figures.yaml", figures) {
        Ok(figures) => text::render(&diagnose(&figures)),
        Err(problems) => problems.to_string(),
    }
}

/// Conclusions from observations in the flow form of YAML.
fn said(observations: &str) -> String {
    diagnosed(&format!(
        "version: 1\nname: x\nobservations:\n{observations}"
    ))
}

macro_rules! report {
    ($test:ident, $file:literal) => {
        #[test]
        fn $test() {
            let figures = include_str!(concat!("../../../../../examples/diagnose/", $file));
            insta::assert_snapshot!(diagnosed(figures));
        }
    };
}

report!(a_proxy_whose_processor_gives_way, "reverse-proxy.yaml");
report!(a_database_that_was_never_the_limit, "database.yaml");
report!(a_gateway_and_a_program_that_forgets, "gateway.yaml");
report!(a_payment_system_in_a_year, "availability.yaml");
report!(
    an_api_that_was_never_offered_its_rate,
    "moved-to-cloud.yaml"
);

#[test]
fn what_is_not_known_is_said_with_what_is_missing() {
    insta::assert_snapshot!(said("  a: { rate: 100/s }"), @r#"
x

a
  unknown: These figures do not say what limits it.
    missing: the users, or the rate that was offered
    missing: the generator's own processor time
    missing: the processor time of each component
"#);
}

#[test]
fn busy_and_idle_have_a_wide_gap_between_them() {
    // Neither busy nor idle: it is not named, nor ruled out.
    insta::assert_snapshot!(said("  a: { rate: 100/s, users: 500, think: 1s, components: { b: { cpu: 70% } }, generator: { cpu: 10% } }"), @r#"
x

a
  unknown: These figures do not say what limits it.
    ruled out: generator: 10 % of its processors' time
"#);
}

#[test]
fn nothing_is_said_of_others_while_the_generator_is_busy() {
    insta::assert_snapshot!(said("  a: { rate: 100/s, components: { b: { cpu: 99% } }, generator: { cpu: 95% } }"), @r#"
x

a
  generator-bound: The generator had no processor time left: its figures say nothing about the limit of what it was pointed at.
    generator: 95 % of its processors' time
"#);
}

#[test]
fn impossible_figures_are_told_and_nothing_else_is_concluded_from_them() {
    insta::assert_snapshot!(said("  a: { rate: 200/s, users: 100, think: 1s }"), @r#"
x

a
  impossible: 100 users, each with one request at a time, cannot have made 200/s: one of these figures is wrong.
    100/s at most = 100 users / (1.00 s of mean think time)
    200 users would be needed
"#);
    insta::assert_snapshot!(said("  a: { rate: 1000/s, users: 10, mean: 50ms, offered: 1000/s, components: { b: { cpu: 99% } } }"), @r#"
x

a
  impossible: 10 users, each with one request at a time, cannot have made 1,000/s: one of these figures is wrong.
    200/s at most = 10 users / (50.0 ms of mean response time)
    50 users would be needed
"#);
    insta::assert_snapshot!(said("  a: { rate: 100/s, users: 10, think: 50ms, min: 60ms }"), @r#"
x

a
  impossible: 10 users, each with one request at a time, cannot have made 100/s: one of these figures is wrong.
    90.9/s at most = 10 users / (60.0 ms of shortest response time + 50.0 ms of mean think time)
    11 users would be needed
"#);
    let counted = "  a: { requests: 10000, duration: 10s, users: 10, mean: 50ms }";
    assert!(said(counted).contains("impossible: 10 users"));
    // Rounded.
    assert!(!said("  a: { rate: 201/s, users: 10, mean: 50ms }").contains("impossible"));
    assert!(!said("  a: { rate: 200/s, users: 10 }").contains("impossible"));
}

#[test]
fn a_plan_that_cannot_reach_what_it_wants_needs_no_measurement() {
    insta::assert_snapshot!(said("  a: { offered: 1000/s, users: 100, think: 1s }"), @r#"
x

a
  plan-bound: The plan itself cannot exceed 100/s, which could be said before the run.
    100/s at most = 100 users / 1.00 s of mean think time
    1,000/s wanted
"#);
}

#[test]
fn even_response_times_that_outlast_the_load_are_a_queue() {
    let burst = "  a: { offered: 100/s, requests: 100, min: 100ms, mean: 5s, max: 10s }";
    insta::assert_snapshot!(said(burst), @r#"
x

a
  not carried: 100/s was not carried: requests waited for those before them.
    a: 100 ms to 10.0 s, with the mean of 5.00 s at 49.5 % of the way: spread evenly, as while a queue grows and drains
    a: 100 requests / (1.00 s + 10.0 s) = at least 9.1/s answered
"#);
    // Half of them at once, a few late.
    let uneven = burst.replace("mean: 5s", "mean: 1s");
    assert!(!said(&uneven).contains("not carried"));
    // The load lasted longer than the longest answer took.
    let short = burst.replace("requests: 100", "duration: 20s");
    assert!(!said(&short).contains("not carried"));
    // It says itself that all was answered.
    let answered = burst.replace("requests: 100", "requests: 100, rate: 99/s");
    assert!(!said(&answered).contains("not carried"));
}

#[test]
fn an_even_spread_without_a_shorter_one_below_it_is_the_target_s_own() {
    let alone = "  a: { offered: 50/s, min: 1s, mean: 6s, max: 11s }";
    insta::assert_snapshot!(said(alone), @r#"
x

a
  unknown: These figures do not say whether 50/s were carried, nor what limits it.
    missing: the rate that was answered
    missing: the generator's own processor time
    missing: the processor time of each component
"#);
    let lower = |setup: &str| {
        format!("{alone}\n  b: {{ offered: 10/s, min: 1s, mean: 1100ms, max: 2s, setup: {setup} }}")
    };
    let same = lower("x").replace("offered: 50/s", "offered: 50/s, setup: x");
    assert!(said(&same).contains("50/s was not carried"));
    assert!(!said(&lower("x")).contains("not carried"));
}

#[test]
fn a_mean_that_grows_with_the_rate_is_no_flat_line() {
    let levels = |long: &str| {
        format!(
            "  a: {{ offered: 100/s, rate: 100/s, mean: 50ms }}\n  b: {{ offered: 300/s, rate: 300/s, mean: {long} }}"
        )
    };
    assert!(said(&levels("74ms")).contains("at least 300/s"));
    assert!(!said(&levels("76ms")).contains("limit not found"));
    let behind = levels("50ms").replace("rate: 300/s", "rate: 280/s");
    assert!(!said(&behind).contains("limit not found"));
    let failing = levels("50ms").replace("mean: 50ms", "mean: 50ms, failed: 1%");
    assert!(!said(&failing).contains("limit not found"));
}

#[test]
fn one_level_that_stands_out_and_the_line_is_not_flat() {
    let between = |middle: &str| {
        said(&format!(
            "  a: {{ offered: 100/s, rate: 100/s, mean: 50ms }}
  b: {{ offered: 200/s, {middle} }}
  c: {{ offered: 300/s, rate: 300/s, mean: 50ms }}"
        ))
    };
    assert!(between("rate: 200/s, mean: 60ms").contains("at least 300/s"));
    assert!(!between("rate: 200/s, mean: 2s").contains("limit not found"));
    assert!(!between("rate: 150/s, mean: 50ms").contains("limit not found"));
    assert!(!between("rate: 200/s, mean: 50ms, failed: some").contains("limit not found"));
    // Nobody says how long it took.
    assert!(!between("rate: 200/s").contains("limit not found"));
}

#[test]
fn a_rate_that_nobody_stated_was_not_answered() {
    let levels = "  a: { offered: 100/s, mean: 50ms }\n  b: { offered: 300/s, mean: 50ms }";
    insta::assert_snapshot!(said(levels), @r#"
x

a; b
  limit not found: Response times hardly grow up to 300/s, so they show no limit; whether all of that was answered is not stated.
    50.0 ms at 100/s
    50.0 ms at 300/s
"#);
}

#[test]
fn levels_of_other_setups_are_no_levels_of_this_one() {
    let levels = "  a: { setup: old, offered: 100/s, rate: 100/s, mean: 50ms }\n  b: { setup: new, offered: 300/s, rate: 300/s, mean: 50ms }";
    assert!(!said(levels).contains("limit not found"));
}

#[test]
fn a_clock_that_nearly_all_requests_kept_to_is_the_limit() {
    let paced = |rate: &str| {
        said(&format!(
            "  a: {{ offered: 1000/s, users: 10, rate: {rate} }}"
        ))
    };
    insta::assert_snapshot!(paced("990/s"), @r#"
x

a
  plan-bound: 99 % of the plan was answered, which asks for no more: the limit of what was tested lies higher.
    990/s answered of 1,000/s
    10.1 ms = 10 users / 990/s is the tick of the generator (10.0 ms by its plan), and no response time
"#);
    assert!(!paced("960/s").contains("plan-bound"));
}

#[test]
fn time_of_users_that_nobody_accounts_for_is_told() {
    insta::assert_snapshot!(said("  a: { users: 1000, rate: 1000/s, mean: 87ms }"), @r#"
x

a
  unexplained: 87 of the 1,000 users wait for an answer at a time; what the others do is not stated.
    87 in flight = 1,000/s · 87.0 ms (Little's law)
    913 ms of each 1.00 s unexplained = 1,000 users / 1,000/s − 87.0 ms
"#);
    // They ask again at once, as far as rounding lets see.
    assert!(!said("  a: { users: 10, rate: 196/s, mean: 50ms }").contains("unexplained"));
}

#[test]
fn a_single_load_that_fell_short_is_not_called_borne() {
    let load = "  a: { users: 10, failed: none";
    assert!(said(&format!("{load} }}")).contains("limit was not sought"));
    assert!(!said(&format!("{load}, offered: 100/s, rate: 90/s }}")).contains("not sought"));
    assert!(!said(&format!("{load}, offered: 100/s }}")).contains("not sought"));
    let several = format!("{load} }}\n  b: {{ users: 20, failed: none }}");
    assert!(!said(&several).contains("not sought"));
}

#[test]
fn further_trials_are_told_where_the_time_of_a_repair_is_stated() {
    let file = include_str!("../../../../../examples/diagnose/availability.yaml");
    assert!(!diagnosed(file).contains("further trials"));
    let repaired = file.replace("  rate: 150/s\n", "  rate: 150/s\n  repair: 30m\n");
    let said = diagnosed(&repaired);
    let line = said.lines().last().unwrap_or_default();
    insta::assert_snapshot!(line, @r#"    99.9999 % is 31.5 s a year, which leaves 10.4 s for what does not come back by itself: 0.096 % of faults if a repair takes 1800 s, which about 3,100 further trials without a failure would show (95 % certain)"#);
    let bold = diagnosed(&file.replace("claimed: 99.9999%", "claimed: 99.99999%"));
    assert!(bold.contains("which these figures exceed"), "{bold}");
}

#[test]
fn figures_may_be_as_vague_as_their_source() {
    insta::assert_snapshot!(said("  a: { rate: 100/s, components: { b: { cpu: below 40% }, c: { cpu: idle }, d: { cpu: above 60% } } }"), @r#"
x

a
  unknown: These figures do not say what limits it.
    missing: the users, or the rate that was offered
    missing: the generator's own processor time
    ruled out: b: below 40 % of its processors' time; c: idle
"#);
    insta::assert_snapshot!(said("  a: { rate: 100/s, components: { b: { cpu: above 95%, cpus: 2 } } }"), @r#"
x

a
  processor-bound: The processors of b give way first.
    b: above 95 % of its processors' time
"#);
}

#[test]
fn other_programs_than_hey_keep_what_they_measure() {
    let of = |tool: &str, rate: &str| {
        said(&format!(
            "  a: {{ rate: {rate}, duration: 100s, generator: {{ tool: {tool} }} }}"
        ))
    };
    assert!(of("Hey", "10001/s").contains("partial record"));
    assert!(!of("hey", "10000/s").contains("partial record"));
    assert!(!of("wrk2", "50000/s").contains("partial record"));
}

#[test]
fn every_problem_of_a_file_is_told_at_once() {
    insta::assert_snapshot!(diagnosed("version: 2
name: x
observations:
  a: { mean: 2s, max: 1s, think: [3s, 1s], components: { b: { cpu: 120%, cpus: 0 } } }
  c: { rate: 0/s, user: 5 }
faults: { kinds: { d: { outage: 1s, servers: 0 } } }
"), @r#"
figures.yaml:5:14: observations.c.rate: `0/s` is not a rate: write `5000/s`, `90/min` or `10/h`
figures.yaml:5:19: observations.c.user: unknown key `user`: did you mean `users`?
figures.yaml:6:20: faults.kinds.d: the key `impact` is missing: add it
figures.yaml:6:20: faults.kinds.d: the key `per_year` is missing: add it
"#);
    insta::assert_snapshot!(diagnosed("version: 2
name: x
observations:
  a: { min: 3s, mean: 2s, max: 1s, think: [3s, 1s], components: { b: { cpu: busy, cpus: 0 } }, failed: all, no_more_than: c }
faults: { kinds: { d: { outage: 1s, servers: 0, per_year: -1, impact: 3/2 } } }
"), @r#"
figures.yaml:1:10: version: version 2 is not available in this version: write 1
figures.yaml:4:13: observations.a.min: longer than `mean`, which cannot be
figures.yaml:4:23: observations.a.mean: longer than `max`, which cannot be
figures.yaml:4:36: observations.a.think: one time, or the shortest and the longest: `[5s, 30s]`
figures.yaml:4:77: observations.a.components.b.cpu: `busy` is not a share: write `25%`, `below 25%`, `above 100%` or `idle`
figures.yaml:4:89: observations.a.components.b.cpus: a number above 0
figures.yaml:4:104: observations.a.failed: `all` is not a share: write `1%`, `some` or `none`
figures.yaml:4:123: observations.a.no_more_than: there is no observation `c`
figures.yaml:5:46: faults.kinds.d.servers: at least 1
figures.yaml:5:59: faults.kinds.d.per_year: a number, 0 or above
figures.yaml:5:71: faults.kinds.d.impact: `3/2` is not a part of a whole: write `1/9`, `11%` or `0.11`
"#);
    insta::assert_snapshot!(diagnosed("version: 1\nname: x"), @r#"figures.yaml:1:1: there are neither `observations` nor `faults`"#);
}
