//! Warnings and refusals of whole experiments before they run, and the value of each ceiling.

use super::host::Reuse;
use super::*;
use plimsoll_experiment::memory::{Memory, with_load};
use plimsoll_load::plan::{Crowd, Span};
use std::time::Duration;

/// Everything that is said of an experiment on this host, a line each.
fn said_on(experiment: &Memory, host: &HostFacts) -> String {
    let experiment = experiment.load(&[]).unwrap();
    let mut lines = Vec::new();
    for outlook in look(&experiment, host) {
        lines.extend(outlook.said.iter().map(|it| format!("plan: {it}")));
        lines.extend(outlook.refusals.iter().map(|it| format!("refused: {it}")));
        lines.extend(outlook.warnings.iter().map(|it| format!("warning: {it}")));
    }
    lines.join("\n")
}

/// Warnings where the host bounds nothing.
fn said(load: &str, rest: &str) -> String {
    said_on(&with_load(load, rest), &HostFacts::default())
}

fn above(rate: &str) -> String {
    format!("thresholds: [{{ metric: achieved_per_s, above: {rate} }}]")
}

fn file(scenario: &str, load: &str, rest: &str) -> Memory {
    let text = format!(
        "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenario: {scenario}\nload: {load}\n{rest}"
    );
    Memory::new(&text, &[])
}

/// The plan of field report 2: 16,000 users who wait 5 to 30 s.
#[test]
fn users_who_wait_begin_no_more_than_their_waiting_allows() {
    let check = |think: Span, every: Span, expected: f64| {
        let experiment = with_load("{ users: 1, duration: 5m }", "");
        let experiment = experiment.load(&[]).unwrap();
        let mut plan = experiment.arms[0].outline();
        let length = plan.duration;
        let half = Crowd {
            from: 8_000,
            to: 16_000,
            length,
        };
        plan.scenarios[0].load = Load::Closed {
            users: vec![
                half,
                Crowd {
                    from: 16_000,
                    to: 0,
                    length,
                },
            ],
            think,
            every,
        };
        let iteration = Iteration::of(&plan, 0);
        let ceiling = think_time::ceiling(&plan, 0, &iteration).unwrap();
        assert!((ceiling.value - expected).abs() < 1e-9, "{ceiling:?}");
    };
    let seconds = Duration::from_secs;
    let waits = Span::Uniform {
        from: seconds(5),
        to: seconds(30),
    };
    check(waits, Span::ZERO, 16_000.0 / 17.5);
    check(Span::ZERO, waits, 16_000.0 / 17.5);
    check(waits, Span::Constant(seconds(40)), 400.0);
    check(
        Span::Exponential { mean: seconds(16) },
        Span::Constant(seconds(3)),
        1_000.0,
    );
}

#[test]
fn a_closed_plan_that_cannot_reach_its_threshold() {
    let load = "{ users: 16000, think: 17500ms, duration: 5m }";
    assert!(!said(load, &above("900/s")).contains("refused"));
    insta::assert_snapshot!(said(load, &above("1000/s")), @r"
    plan: at most 914 iterations/s, however fast the target is: 16,000 users think 17.5 s (users / mean think time)
    refused: arm `main` cannot reach `achieved_per_s` above 1,000/s: at most 914 iterations/s, however fast the target is: 16,000 users think 17.5 s (users / mean think time): write more than 17,500 users, less than 16.0 s between two iterations of one, or a bound below 914/s
    ");
    insta::assert_snapshot!(said(load, &above("915/s")), @r"
    plan: at most 914 iterations/s, however fast the target is: 16,000 users think 17.5 s (users / mean think time)
    warning: arm `main` reaches `achieved_per_s` above 915/s in its first moments or by chance, and not in the long run: at most 914 iterations/s, however fast the target is: 16,000 users think 17.5 s (users / mean think time)
    ");
}

#[test]
fn pauses_and_exchanges_of_an_iteration_count() {
    let scenario = "[{ get: /a }, { repeat: 2, steps: [{ get: /b, pause: 1s }] }]";
    let load = "{ users: 100, think: 3s, duration: 60s }";
    let of = |rest: &str| said_on(&file(scenario, load, rest), &HostFacts::default());
    assert!(!of(&above("55/s")).contains("refused"));
    insta::assert_snapshot!(of(&above("100/s")), @r"
    plan: at most 20 iterations/s, however fast the target is: 100 users think and pause 5.00 s (users / mean of think time and pauses together)
    refused: arm `main` cannot reach `achieved_per_s` above 100/s: at most 20 iterations/s, however fast the target is: 100 users think and pause 5.00 s (users / mean of think time and pauses together), each with 3 exchanges: write more than 167 users, less than 3.00 s between two iterations of one, or a bound below 60/s
    ");
    let of_step = "thresholds: [{ metric: by_step.GET /a.achieved_per_s, above: 50/s }]";
    insta::assert_snapshot!(of(of_step), @r"
    plan: at most 20 iterations/s, however fast the target is: 100 users think and pause 5.00 s (users / mean of think time and pauses together)
    refused: arm `main` cannot reach `by_step.GET /a.achieved_per_s` above 50/s: at most 20 iterations/s, however fast the target is: 100 users think and pause 5.00 s (users / mean of think time and pauses together): write more than 250 users, less than 2.00 s between two iterations of one, or a bound below 20/s
    ");
}

#[test]
fn an_open_plan_whose_pauses_keep_its_connections() {
    let scenario = "[{ get: /a }, { get: /b, pause: 2s }]";
    let of = |load: &str, rest: &str| said_on(&file(scenario, load, rest), &HostFacts::default());
    insta::assert_snapshot!(of("{ rate: 100/s, connections: 50, duration: 10s }", ""), @r"
    plan: at most 25 iterations/s, however fast the target is: an iteration keeps one of 50 connections for 2.00 s of pauses (connections / pauses of an iteration)
    refused: arm `main` cannot reach its rate of 100/s: at most 25 iterations/s, however fast the target is: an iteration keeps one of 50 connections for 2.00 s of pauses (connections / pauses of an iteration): write `connections: 200` or more, pauses of at most 500 ms in all, or a rate of at most 25/s
    ");
    let passes = |load: &str| assert!(!of(load, "").contains("refused"), "{load}");
    passes("{ rate: 25/s, connections: 50, duration: 10s }");
    passes("{ rate: 100/s, connections: 200, duration: 10s }");
    // All of them are free at the start, and there is not time enough to need one twice.
    passes("{ rate: 45/s, connections: 50, duration: 1s }");
    // On its way up a ramp needs fewer: 20/s to 30/s within the last pauses.
    passes("{ ramp: { from: 10/s, to: 30/s }, connections: 50, duration: 4s }");
    let refused = |load: &str| assert!(of(load, "").contains("refused"), "{load}");
    refused("{ ramp: { from: 10/s, to: 32/s }, connections: 50, duration: 4s }");
    refused("{ staircase: { from: 10/s, step: 10/s, every: 5s }, connections: 50, duration: 15s }");
    passes("{ staircase: { from: 10/s, step: 10/s, every: 5s }, connections: 50, duration: 10s }");
}

/// Who says that arrivals are to be dropped means to offer more than can be carried out.
#[test]
fn an_overload_that_is_meant_is_a_warning() {
    let scenario = "[{ get: /a }, { get: /b, pause: 2s }]";
    let load = "{ rate: 100/s, connections: 50, when_busy: drop, duration: 10s }";
    insta::assert_snapshot!(said_on(&file(scenario, load, ""), &HostFacts::default()), @r"
    plan: at most 25 iterations/s, however fast the target is: an iteration keeps one of 50 connections for 2.00 s of pauses (connections / pauses of an iteration)
    warning: arm `main` offers 100/s, of which it can carry out a part and drops the rest, as `when_busy: drop` says: at most 25 iterations/s, however fast the target is: an iteration keeps one of 50 connections for 2.00 s of pauses (connections / pauses of an iteration)
    ");
}

/// A hundred users who think a second have a hundred exchanges a second, and fifty arrivals of two exchanges as many.
#[test]
fn the_ceilings_of_several_scenarios_add_up() {
    let of = |metric: &str, bound: &str| {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenarios:\n  \
             think: {{ load: {{ users: 100, think: 1s }}, steps: [{{ get: /, name: a }}] }}\n  \
             arrive: {{ load: {{ rate: 50/s }}, steps: [{{ get: /, name: b }}, {{ get: /, name: c }}] }}\n\
             load: {{ duration: 60s }}\nthresholds: [{{ metric: {metric}, above: {bound} }}]"
        );
        said_on(&Memory::new(&text, &[]), &HostFacts::default())
    };
    let refused = |metric: &str, bound: &str| of(metric, bound).contains("refused");
    assert!(!refused("achieved_per_s", "199/s"));
    insta::assert_snapshot!(of("achieved_per_s", "201/s"), @r"
    plan: scenario `think`: at most 100 iterations/s, however fast the target is: 100 users think 1.00 s (users / mean think time)
    plan: scenario `arrive`: at up to 50/s over 50 connections an iteration may take 1.00 s on average; beyond that arrivals wait (connections / rate)
    refused: arm `main` cannot reach `achieved_per_s` above 201/s: scenario `think`: at most 100 iterations/s, however fast the target is: 100 users think 1.00 s (users / mean think time); scenario `arrive`: at most 50 iterations/s: its load offers 50/s on average (arrivals / measured time), each with 2 exchanges: raise the load of a scenario, or a bound below 200/s
    ");
    let of_step = |step: &str, bound| refused(&format!("by_step.{step}.achieved_per_s"), bound);
    // A step has the exchanges of its own scenario only.
    assert_eq!((of_step("a", "99/s"), of_step("a", "101/s")), (false, true));
    assert_eq!((of_step("b", "49/s"), of_step("b", "51/s")), (false, true));
}

#[test]
fn an_open_plan_answers_no_more_than_it_offers() {
    let load = "{ rate: 5000/s, connections: 50, duration: 10s }";
    insta::assert_snapshot!(said(load, &above("6000/s")), @r"
    plan: at up to 5,000/s over 50 connections an iteration may take 10.0 ms on average; beyond that arrivals wait (connections / rate)
    refused: arm `main` cannot reach `achieved_per_s` above 6,000/s: at most 5,000 iterations/s: its load offers 5,000/s on average (arrivals / measured time): write a rate above 6,000/s, or a bound below 5,000/s
    ");
    assert!(!said(load, &above("5000/s")).contains("refused"));
}

#[test]
fn what_depends_on_the_host_is_a_warning() {
    let host = HostFacts {
        ports: Some(28_232),
        descriptors: Some(1_000),
        ..HostFacts::default()
    };
    let of = |load: &str| said_on(&with_load(load, ""), &host);
    insta::assert_snapshot!(of("{ rate: 600/s, keep_alive: false, duration: 2m }"), @r"
    plan: at up to 600/s over 50 connections an iteration may take 83.3 ms on average; beyond that arrivals wait (connections / rate)
    warning: arm `main` asks for up to 600 new connections/s, more than the 471/s for which there are ports: each of 28,232 local ports is free again 60.0 s after its connection, if our end closes it: keep connections (`connection_per: user`), add `sources`, or widen `net.ipv4.ip_local_port_range`; a target of several addresses, or one that closes first, carries more
    ");
    insta::assert_snapshot!(of("{ rate: 600/s, connections: 2000, duration: 10s }"), @r"
    plan: at up to 600/s over 2,000 connections an iteration may take 3.33 s on average; beyond that arrivals wait (connections / rate)
    warning: arm `main` may hold 2,000 connections at once, and the generator has descriptors for about 980, so the exchanges beyond end as `exhausted`: write fewer users or connections, or raise the hard limit (`ulimit -Hn`, LimitNOFILE=)
    ");
    assert!(!of("{ rate: 600/s, keep_alive: false, duration: 20s }").contains("warning"));
    let reused = HostFacts {
        reuse: Reuse::Loopback,
        ..host
    };
    let load = with_load("{ rate: 600/s, keep_alive: false, duration: 2m }", "");
    assert!(!said_on(&load, &reused).contains("warning"));
}

#[test]
fn without_waiting_or_rates_there_is_nothing_to_say() {
    assert_eq!(
        said("{ users: 50, duration: 10s }", &above("1000000/s")),
        ""
    );
}
