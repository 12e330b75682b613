//! Files with `availability`: what is taken, and what is said of others.

use std::time::Duration;

use plimsoll_load::plan::{Load, Spacing};

use crate::Experiment;
use crate::memory::Memory;
use crate::method::Method;
use crate::method::availability::{Availability, Choice};

const FAULTS: &str =
    "{ crash: { kill: a, for: 2s }, silent: { link: lb -> a, silence: true, for: 3s } }";

fn load_of(load: &str, faults: &str, availability: &str) -> Result<Experiment, String> {
    load_with("{ get: /a }", load, faults, availability)
}

fn load_with(
    step: &str,
    load: &str,
    faults: &str,
    availability: &str,
) -> Result<Experiment, String> {
    let text = format!(
        "version: 1
name: x
components:
  a: {{ mock: {{}} }}
  b: {{ mock: {{}} }}
  outside: {{ external: 'http://127.0.0.1:9' }}
  lb: {{ command: [lb, '${{self.port}}', '${{a.url}}', '${{b.url}}'] }}
scenario: [{step}]
load: {load}
arms: {{ main: {{ target: lb }} }}
faults: {faults}
method: {{ availability: {availability} }}
"
    );
    let loaded = Memory::new(&text, &[]).load(&[]);
    loaded.map_err(|problems| problems.to_string())
}

const BOTH: &str = "{ faults: { app: { fault: crash, among: [a, b], per_year: 4 }, net: { fault: silent, per_year: { counted: 3, in_years: 2 } } }, trials: 10";

fn of(experiment: &Experiment) -> &Availability {
    match &experiment.method {
        Method::Availability(availability) => availability,
        other => panic!("{other:?}"),
    }
}

/// Values out of answers stand in the record of each arrival, so there are fewer of both.
#[test]
fn what_steps_extract_is_bounded() {
    let step = |values: usize| {
        let values = (0..values).map(|number| format!("v{number}: {{ header: a }}"));
        let values: Vec<String> = values.collect();
        format!("{{ get: /a, extract: {{ {} }} }}", values.join(", "))
    };
    let both = format!("{BOTH}, deadline: 400ms }}");
    let check = |values, rate: &str, expected: Option<&str>| {
        let load = format!("{{ rate: {rate} }}");
        let loaded = load_with(&step(values), &load, FAULTS, &both).err();
        match expected {
            None => assert_eq!(loaded, None),
            Some(part) => assert!(loaded.clone().unwrap().contains(part), "{loaded:?}"),
        }
    };
    check(20, "150/s", None);
    check(
        21,
        "150/s",
        Some("takes more than 20 values out of an answer"),
    );
    check(
        1,
        "4000/s",
        Some("with more than 200000 arrivals at 4000/s"),
    );
}

#[test]
fn a_load_has_what_trials_need_unless_it_says_otherwise() {
    let both = format!("{BOTH}, deadline: 400ms }}");
    let experiment = load_of("{ rate: 150/s }", FAULTS, &both).unwrap();
    let settings = &experiment.arms[0].settings;
    let Load::Open {
        profile, grow_to, ..
    } = &settings.load
    else {
        panic!("{settings:?}");
    };
    assert_eq!(profile[0].spacing, Spacing::Slots);
    assert_eq!(settings.timeout, Duration::from_millis(400));
    // 1.1 · 150/s · (0.4 s + 1 s).
    assert_eq!(*grow_to, 231);
    let control = experiment.components.last().unwrap();
    assert_eq!(control.name, crate::CONTROL);
    let written = "{ rate: 150/s, profile: constant, timeout: 2s, connections: 600, warmup: 3s }";
    let experiment = load_of(written, FAULTS, &both).unwrap();
    let settings = &experiment.arms[0].settings;
    assert_eq!(
        (settings.timeout.as_secs(), settings.warmup.as_secs()),
        (2, 3)
    );
    assert_eq!(settings.load.to_string(), "150/s over 600 connections");
}

#[test]
fn rows_have_their_servers_rates_and_victims() {
    let experiment = load_of("{ rate: 150/s }", FAULTS, &format!("{BOTH} }}")).unwrap();
    let availability = of(&experiment);
    let servers: Vec<u32> = availability.rows.iter().map(|row| row.servers).collect();
    assert_eq!(servers, [2, 1]);
    // One in twenty of twenty trials, and at least five.
    assert_eq!(availability.shams, 5);
    let kinds: Vec<String> = experiment
        .fault_kinds()
        .iter()
        .filter_map(|kind| kind.target())
        .collect();
    assert_eq!(kinds, ["a", "lb -> a", "a", "b"]);
    let roles = "{ faults: { db: { fault: crash, among: [a, b], role: any, leader: { command: [who, '${a.port}'] } }, net: { fault: silent } } }";
    let experiment = load_of("{ rate: 150/s }", FAULTS, roles).unwrap();
    let row = &of(&experiment).rows[0];
    assert!(matches!(row.choice, Choice::ByRole { leads: None, .. }));
    assert_eq!(row.names(), ["db", "db, leader", "db, follower"]);
}

#[test]
fn a_budget_allows_fewer_trials_and_never_fewer_than_five() {
    let fitting = |budget: &str| {
        let with = format!("{BOTH}, budget: {budget} }}");
        let experiment = load_of("{ rate: 150/s }", FAULTS, &with)?;
        let of = of(&experiment);
        let trials = of.fitting(&experiment.faults, &experiment.arms);
        let takes = of.takes(trials, &experiment.faults, &experiment.arms);
        Ok::<_, String>((trials, takes))
    };
    assert_eq!(fitting("1h").unwrap().0, 10);
    let (trials, takes) = fitting("4m30s").unwrap();
    assert!((5..10).contains(&trials), "{trials}");
    assert!(takes <= Duration::from_secs(270), "{takes:?}");
    let refused = fitting("1m").unwrap_err();
    assert!(refused.contains("fewer than 5 trials of each"), "{refused}");
}

#[test]
fn loads_and_faults_under_which_trials_say_nothing_are_refused() {
    let check = |load: &str, faults: &str, availability: &str, expected: &str| {
        let refused = load_of(load, faults, availability).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    };
    let rate = "{ rate: 150/s }";
    let both = format!("{BOTH} }}");
    let one = |row: &str| format!("{{ faults: {{ app: {row}, net: {{ fault: silent }} }} }}");
    check("{ users: 5 }", FAULTS, &both, "its load is not one rate");
    check(
        "{ rate: 6000/s }",
        FAULTS,
        &both,
        "at most 5000/s are recorded",
    );
    check(
        "{ rate: 150/s, connections: 100 }",
        FAULTS,
        &both,
        "an outage takes 330",
    );
    check("{ rate: 150/s, duration: 5s }", FAULTS, &both, "is said by");
    check(
        rate,
        "{ crash: { kill: a, at: 5s, for: 2s }, silent: { link: lb -> a, silence: true, for: 3s } }",
        &both,
        "at random in each trial",
    );
    check(
        rate,
        "{ crash: { kill: a, for: 10ms }, silent: { link: lb -> a, silence: true, for: 3s } }",
        &both,
        "shorter than two arrivals",
    );
    check(
        rate,
        FAULTS,
        &one("{ fault: crush }"),
        "there is no fault `crush`",
    );
    check(
        rate,
        FAULTS,
        "{ faults: { net: { fault: silent } } }",
        "tried by no row",
    );
    check(
        rate,
        FAULTS,
        &one("{ fault: crash, role: leader, among: [a, b] }"),
        "needs to know who leads",
    );
    check(
        rate,
        FAULTS,
        &one("{ fault: crash, among: [a, outside] }"),
        "no component that this experiment starts",
    );
    check(
        rate,
        FAULTS,
        "{ faults: { app: { fault: crash }, net: { fault: silent, among: [a, b] } } }",
        "a `link` fault is of one thing",
    );
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let check = |load: &str, availability: &str, expected: &str| {
        let refused = load_of(load, FAULTS, availability).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    };
    let rate = "{ rate: 150/s }";
    let both = format!("{BOTH} }}");
    let one = |row: &str| format!("{{ faults: {{ app: {row}, net: {{ fault: silent }} }} }}");
    check(rate, &one("{ fault: crash, per_year: -1 }"), "is no rate");
    check(
        rate,
        &one("{ fault: crash, per_year: { counted: 2, in_years: 0 } }"),
        "is no time",
    );
    check(
        rate,
        &format!("{BOTH}, deadline: 2m }}"),
        "is longer than `abort`",
    );
    check(rate, &both.replace("trials: 10", "trials: 3"), "3` trials");
    check(
        rate,
        &one("{ fault: crash, servers: 0 }"),
        "must be at least 1",
    );
    check(
        rate,
        &one("{ fault: crash, among: [a] }"),
        "leaves no choice",
    );
    check(
        rate,
        &one("{ fault: crash, leader: { command: [w] } }"),
        "is never asked",
    );
    check(
        rate,
        &one("{ fault: crash, role: any, leader: { command: [w] } }"),
        "chooses among components",
    );
    check(
        rate,
        &one("{ fault: crash, among: [a, b], role: any, leader: { command: [] } }"),
        "names no program",
    );
    check(
        rate,
        "{ faults: { sham: { fault: crash }, net: { fault: silent } } }",
        "the row of trials without a fault",
    );
    check(
        rate,
        "{ faults: { a.b: { fault: crash }, net: { fault: silent } } }",
        "cannot name a row",
    );
    check(rate, "{ faults: {} }", "names no fault");
    check(
        "{ rate: 150/s }\nthresholds: [{ metric: availability.faults.ap.outage.p95, below: 1s }]",
        &both,
        "is of no fault that is tried: did you mean `app`?",
    );
}

#[test]
fn definitions_under_which_nothing_is_seen_are_refused() {
    let check = |load: &str, more: &str, expected: &str| {
        let refused = load_of(load, FAULTS, &format!("{BOTH}, {more} }}")).unwrap_err();
        assert!(refused.contains(expected), "{more}: {refused}");
    };
    let rate = "{ rate: 150/s }";
    check(rate, "abort: 2s", "nobody could recover in time");
    check(
        rate,
        "repair: 30s",
        "for which callers were watched in vain",
    );
    check(rate, "slow: 2s", "not slow but failed");
    check(rate, "within: 0s", "leaves no time at all");
    check(rate, "shams: 10001", "write 5 to 10000");
    check(
        rate,
        "retries: { times: 0, after: 1s }",
        "no client that tries again",
    );
    check(
        rate,
        "phase: 0s",
        "must be longer than 0: write for instance",
    );
    check(rate, "gap: 10ms", "is shorter than 3 arrivals");
    check(
        "{ rate: 5/s }",
        "settle: 100ms",
        "is shorter than 5 arrivals",
    );
    check(rate, "shams: 4", "write 5 to 10000");
    check(
        "{ rate: 500/s }",
        "abort: 2h",
        "with more than 2000000 arrivals",
    );
    let twice = "{ faults: { app: { fault: crash, among: [a, a] }, net: { fault: silent } } }";
    let refused = load_of(rate, FAULTS, twice).unwrap_err();
    assert!(refused.contains("is named twice"), "{refused}");
}

/// A fault of one arm alone is no row of the others.
#[test]
fn arms_have_the_rows_of_their_faults() {
    let faults = FAULTS.replace("for: 3s", "for: 3s, arms: [main]");
    let experiment = load_of("{ rate: 150/s }", &faults, &format!("{BOTH} }}")).unwrap();
    let of = of(&experiment);
    let mut other = experiment.arms[0].clone();
    other.name = "other".to_owned();
    let rows = |arm| of.settings(arm, &experiment.faults).faults.len();
    assert_eq!((rows(&experiment.arms[0]), rows(&other)), (2, 1));
    let takes = |arm: &crate::Arm| of.takes(5, &experiment.faults, std::slice::from_ref(arm));
    assert!(takes(&other) < takes(&experiment.arms[0]));
}

#[test]
fn an_iteration_is_one_exchange() {
    let with = |scenario: &str| {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ a: {{ mock: {{}} }} }}\nscenario: {scenario}\nload: {{ rate: 10/s }}\nfaults: {{ f: {{ kill: a, for: 2s }} }}\nmethod: {{ availability: {{ faults: {{ f: {{ fault: f }} }} }} }}\n"
        );
        let loaded = Memory::new(&text, &[]).load(&[]);
        loaded.map(|_| ()).map_err(|problems| problems.to_string())
    };
    assert_eq!(with("[{ get: /a }]"), Ok(()));
    let mix =
        "[{ mix: [{ weight: 1, steps: [{ get: /a }] }, { weight: 2, steps: [{ get: /b }] }] }]";
    assert_eq!(with(mix), Ok(()));
    let two = with("[{ get: /a }, { get: /b }]").unwrap_err();
    assert!(two.contains("more than one exchange"), "{two}");
}
