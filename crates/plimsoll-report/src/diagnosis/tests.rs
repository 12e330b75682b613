//! The published reports, and what else the laws must and must not say.

use super::{Figures, diagnose, text};

fn diagnosed(figures: &str) -> String {
    match Figures::parse("figures.yaml", figures) {
        Ok(figures) => text::render(&diagnose(&figures)),
        Err(problems) => problems.to_string(),
    }
}

/// What is said of observations in the flow form of YAML.
fn said(observations: &str) -> String {
    diagnosed(&format!(
        "version: 1\nname: x\nobservations:\n{observations}"
    ))
}

macro_rules! report {
    ($test:ident, $file:literal) => {
        #[test]
        fn $test() {
            let figures = include_str!(concat!("../../../../examples/diagnose/", $file));
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
fn figures_that_contradict_each_other_are_told() {
    insta::assert_snapshot!(said("  a: { rate: 200/s, users: 100, think: 1s }"), @r#"
x

a
  contradiction: 100 users cannot have made 200/s with that think time: one of these figures is wrong.
    100/s at most = users / mean think time
"#);
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
fn a_mean_far_from_half_the_longest_is_no_burst() {
    let burst = "  a: { offered: 100/s, requests: 100, mean: 1s, max: 10s }";
    assert!(!said(burst).contains("not sustained"));
    // Answered as fast as it was offered.
    let kept = "  a: { offered: 10/s, requests: 100, mean: 5s, max: 10s }";
    assert!(!said(kept).contains("not sustained"));
}

#[test]
fn a_mean_that_grows_with_the_rate_is_no_flat_line() {
    let levels = |long: &str| {
        format!("  a: {{ offered: 100/s, mean: 50ms }}\n  b: {{ offered: 300/s, mean: {long} }}")
    };
    assert!(said(&levels("74ms")).contains("at least 300/s"));
    assert!(!said(&levels("76ms")).contains("limit not found"));
    let behind = levels("50ms").replace("300/s,", "300/s, rate: 280/s,");
    assert!(!said(&behind).contains("limit not found"));
    let failing = levels("50ms").replace("mean: 50ms", "mean: 50ms, failed: 1%");
    assert!(!said(&failing).contains("limit not found"));
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
figures.yaml:4:68: observations.a.components.b.cpu: `120%` is not a share: write `0.1%` or `0.001`
figures.yaml:5:14: observations.c.rate: `0/s` is not a rate: write `5000/s`, `90/min` or `10/h`
figures.yaml:5:19: observations.c.user: unknown key `user`: did you mean `users`?
"#);
    insta::assert_snapshot!(diagnosed("version: 2
name: x
observations:
  a: { mean: 2s, max: 1s, think: [3s, 1s], components: { b: { cpu: 20%, cpus: 0 } } }
faults: { kinds: { d: { outage: 1s, servers: 0, per_year: -1 } } }
"), @r#"
figures.yaml:1:10: version: version 2 is not available in this version: write 1
figures.yaml:4:14: observations.a.mean: longer than `max`, which no mean can be
figures.yaml:4:27: observations.a.think: one time, or the shortest and the longest: `[5s, 30s]`
figures.yaml:4:79: observations.a.components.b.cpus: a number above 0
figures.yaml:5:46: faults.kinds.d.servers: at least 1
figures.yaml:5:59: faults.kinds.d.per_year: a number, 0 or above
"#);
    insta::assert_snapshot!(diagnosed("version: 1\nname: x"), @r#"figures.yaml:1:1: there are neither `observations` nor `faults`"#);
}
