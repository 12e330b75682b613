//! Synthetic records of each cause, and of what looks like it and is not.

mod load;
mod no_cause;
mod servers;

use super::{Case, Point, attribute};
use crate::record::{Bottleneck, BottleneckConclusion, CauseKind, GENERATOR};
use load::{Load, Part, busy, limited, part};

/// The first cause of a load, and the component.
fn first(load: &Load) -> Option<(CauseKind, Option<String>)> {
    let found = attribute(&Case::of_one(&load.data(), 2));
    let first = found.causes.first()?;
    Some((first.kind, first.component.clone()))
}

fn check(load: &Load, kind: CauseKind, component: Option<&str>) {
    let found = attribute(&Case::of_one(&load.data(), 2));
    let first = found.causes.first();
    let actual = first.map(|cause| (cause.kind, cause.component.as_deref()));
    assert_eq!(actual, Some((kind, component)), "{found:#?}");
    assert_eq!(found.conclusion, BottleneckConclusion::Found);
    assert!(found.causes.len() <= 3);
    assert!(found.causes.iter().all(|cause| !cause.evidence.is_empty()));
}

#[test]
fn processors_of_the_proxy() {
    let load = Load {
        proxy: busy(1.0),
        ..limited()
    };
    check(&load, CauseKind::Processor, Some("proxy"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    let predicted = found.causes[0].predicted_per_s.unwrap();
    assert!((predicted - 600.0 / 0.98).abs() < 1.0, "{predicted}");
    // It shares its processor with another program: it wants all of it, and gets most.
    let mut shared = part(0.6, 1.0);
    shared.strain.cpus_busy_share = Some(0.99);
    let load = Load {
        proxy: shared,
        ..limited()
    };
    assert_ne!(
        first(&load).map(|found| found.0),
        Some(CauseKind::Processor)
    );
}

#[test]
fn processors_of_the_upstream() {
    let load = Load {
        behind: busy(1.0),
        upstream: Some((600.0, 0.058, 0.001)),
        ..limited()
    };
    check(&load, CauseKind::Processor, Some("upstream"));
}

#[test]
fn one_hot_thread() {
    let mut hot = part(1.05, 2.0);
    (hot.thread, hot.threads) = (Some(0.98), 8);
    hot.strain.busiest_thread_ready = Some(0.99);
    let load = Load {
        proxy: hot,
        ..limited()
    };
    check(&load, CauseKind::HotThread, Some("proxy"));
}

#[test]
fn a_cpu_quota() {
    let mut held = part(0.25, 0.25);
    held.strain.cpu_quota_cores = Some(0.25);
    held.strain.throttled_share = Some(0.9);
    held.strain.cpus_busy_share = Some(0.3);
    let load = Load {
        proxy: held.clone(),
        ..limited()
    };
    check(&load, CauseKind::Quota, Some("proxy"));
    // A quota that is hardly ever reached is none.
    held.cores = 0.1;
    held.strain.throttled_share = Some(0.01);
    let load = Load {
        proxy: held,
        ..limited()
    };
    assert_ne!(first(&load).map(|found| found.0), Some(CauseKind::Quota));
}

#[test]
fn a_small_pool() {
    let load = Load {
        achieved: 200.0,
        service_s: 0.25,
        fastest_s: 0.021,
        upstream: Some((200.0, 0.02, 0.02)),
        ..limited()
    };
    check(&load, CauseKind::Pool, Some("proxy"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert!(
        found.statement.contains("about 4 exchanges"),
        "{}",
        found.statement
    );
    // The same means, but each exchange takes its time by itself: all connections are under way.
    let load = Load {
        fastest_s: 0.25,
        ..load
    };
    check(&load, CauseKind::Connections, None);
}

#[test]
fn the_plans_connections_are_counted_in_the_sentence() {
    let check = |connections, expected: &str| {
        let load = Load {
            achieved: connections / 0.25,
            service_s: 0.25,
            fastest_s: 0.25,
            connections,
            upstream: Some((connections / 0.25, 0.005, 0.005)),
            ..limited()
        };
        let found = attribute(&Case::of_one(&load.data(), 2));
        assert!(
            found.statement.contains(expected),
            "{expected}: {}",
            found.statement
        );
    };
    check(
        50.0,
        "All 50 connections of the plan are waiting for answers: with that many, the maximum is 200/s",
    );
    check(
        1.0,
        "The plan's only connection is waiting for an answer: with one, the maximum is 4/s",
    );
}

#[test]
fn a_pool_is_found_by_a_light_load_too() {
    let limit = Load {
        achieved: 200.0,
        service_s: 0.25,
        upstream: None,
        ..limited()
    };
    let light = Load {
        offered: Some(50.0),
        achieved: 50.0,
        service_s: 0.02,
        ..limit.clone()
    };
    let (light, limit) = (light.data(), limit.data());
    let found = attribute(&Case::of_points(
        vec![Point::of(&light), Point::of(&limit)],
        2,
    ));
    assert_eq!(found.causes[0].kind, CauseKind::Pool, "{found:#?}");
    assert!(found.statement.contains("about 4 exchanges"));
}

#[test]
fn the_limit_of_users_is_where_more_of_them_get_no_more() {
    let users = |achieved: f64, cores: f64| {
        let load = Load {
            offered: None,
            achieved,
            proxy: part(cores, 1.0),
            ..limited()
        };
        Point::of(&load.data())
    };
    let rising = vec![users(200.0, 0.3), users(400.0, 0.6)];
    assert_eq!(
        Case::of_points(rising.clone(), 2).limit().achieved_per_s,
        400.0
    );
    let flat = [rising, vec![users(630.0, 0.96), users(640.0, 0.97)]].concat();
    let case = Case::of_points(flat, 2);
    assert_eq!(case.limit().achieved_per_s, 630.0);
    let found = attribute(&case);
    assert_eq!(found.causes[0].kind, CauseKind::Processor, "{found:#?}");
    assert_eq!(case.light().unwrap().achieved_per_s, 200.0);
}

#[test]
fn what_a_load_is_held_against_decides_whether_something_gave_way() {
    let carried = Load {
        offered: Some(600.0),
        proxy: part(0.95, 1.0),
        ..limited()
    };
    let point = Point::of(&carried.data());
    let found = |missed: bool| {
        let case = Case::of_points(vec![point.clone().judged(missed)], 2);
        attribute(&case)
    };
    let (missed, met) = (found(true), found(false));
    assert_eq!(missed.causes[0].kind, CauseKind::Processor, "{missed:#?}");
    assert_eq!(met.conclusion, BottleneckConclusion::NothingGaveWay);
}

#[test]
fn a_small_backlog() {
    let mut queued = part(0.1, 2.0);
    queued.strain.listen_overflows = Some(40);
    queued.strain.accept_queue = Some(5);
    let load = Load {
        proxy: queued.clone(),
        ..limited()
    };
    check(&load, CauseKind::Backlog, Some("proxy"));
    // Its listeners know that it was not theirs; nobody else's is known.
    queued.strain.listen_drops = Some(0);
    let of_others = Load {
        proxy: queued.clone(),
        ..limited()
    };
    assert_eq!(first(&of_others), None);
    let found = attribute(&Case::of_one(&of_others.data(), 2));
    let said = "accept queues of components: 400 connections found one full, but at a listener of their network namespace that is none of theirs";
    assert!(
        found.ruled_out.iter().any(|line| line == said),
        "{found:#?}"
    );
    // It was another component's, at which nobody happened to be seen waiting.
    let mut behind = part(0.1, 2.0);
    behind.strain.listen_overflows = Some(40);
    behind.strain.listen_drops = Some(40);
    let behind = Load {
        behind,
        ..of_others
    };
    check(&behind, CauseKind::Backlog, Some("upstream"));
    // One that does not know has only the namespace's count, in which are two of somebody else.
    let mut beside = behind.clone();
    beside.proxy.strain.listen_drops = None;
    beside.proxy.strain.listen_overflows = Some(42);
    check(&beside, CauseKind::Backlog, Some("upstream"));
    // In its namespace are so many more that its queue must be fuller.
    beside.proxy.strain.listen_overflows = Some(4000);
    check(&beside, CauseKind::Backlog, Some("proxy"));
    queued.strain.listen_drops = None;
    // A few of thousands: others of the namespace, or a moment.
    queued.strain.listen_overflows = Some(4);
    let load = Load {
        proxy: queued,
        ..limited()
    };
    assert_eq!(first(&load), None);
}

#[test]
fn a_tiny_port_range() {
    let load = Load {
        without_port: 500,
        ..limited()
    };
    check(&load, CauseKind::Ports, Some(GENERATOR));
    // One of thousands explains nothing.
    let load = Load {
        without_port: 1,
        ..limited()
    };
    assert_eq!(first(&load), None);
}

#[test]
fn a_slow_dependency() {
    let load = Load {
        achieved: 490.0,
        service_s: 0.102,
        fastest_s: 0.101,
        upstream: Some((490.0, 0.1, 0.1)),
        ..limited()
    };
    check(&load, CauseKind::Dependency, Some("upstream"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(found.causes[1].kind, CauseKind::Connections, "{found:#?}");
    let said = |found: &Bottleneck, end| {
        let statement = &found.causes[0].statement;
        assert!(statement.ends_with(end), "{statement}");
    };
    said(&found, ", and uses 5 % of its processors meanwhile.");
    // Nothing is said of processors that nobody looked at.
    let mut behind = part(0.1, 2.0);
    behind.strain.cpu_limit_cores = None;
    let found = attribute(&Case::of_one(&Load { behind, ..load }.data(), 2));
    said(&found, ", and how busy its processors were is not known.");
}

#[test]
fn think_time() {
    let load = Load {
        offered: None,
        achieved: 49.0,
        service_s: 0.005,
        think: Some(1.0),
        upstream: Some((49.0, 0.004, 0.004)),
        ..limited()
    };
    check(&load, CauseKind::ThinkTime, None);
}

#[test]
fn the_generator() {
    let mut spent = part(0.99, 1.0);
    spent.strain.busiest_thread_ready = Some(1.0);
    let load = Load {
        generator: spent,
        ..limited()
    };
    check(&load, CauseKind::Generator, Some(GENERATOR));
    // It released too few, and what it released was answered.
    let load = Load {
        achieved: 890.0,
        released: 0.9,
        ..limited()
    };
    check(&load, CauseKind::Generator, Some(GENERATOR));
    // It released too few, and yet more than the proxy, which has nothing left, could take.
    let load = Load {
        released: 0.9,
        proxy: busy(1.0),
        ..limited()
    };
    check(&load, CauseKind::Processor, Some("proxy"));
}

#[test]
fn threads_that_work_one_at_a_time() {
    let mut locked = part(1.0, 2.0);
    (locked.thread, locked.threads) = (Some(0.3), 4);
    locked.strain.busiest_thread_ready = Some(0.35);
    let load = Load {
        proxy: locked,
        host_busy: 0.6,
        ..limited()
    };
    check(&load, CauseKind::Lock, Some("proxy"));
    // Whose threads nobody looked at says nothing of them.
    let mut whole = load.clone();
    whole.proxy.thread = None;
    assert_eq!(first(&whole), None);
    // A load that happens to take one processor has its own cause first.
    let dependency = Load {
        achieved: 490.0,
        service_s: 0.102,
        fastest_s: 0.101,
        upstream: Some((490.0, 0.1, 0.1)),
        ..load
    };
    let found = attribute(&Case::of_one(&dependency.data(), 2));
    let kinds: Vec<CauseKind> = found.causes.iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, [CauseKind::Dependency, CauseKind::Connections]);
}

#[test]
fn a_machine_whose_processors_all_fight_over() {
    let load = Load {
        generator: part(0.7, 2.0),
        proxy: part(0.6, 2.0),
        behind: part(0.6, 2.0),
        host_busy: 0.97,
        ..limited()
    };
    check(&load, CauseKind::Machine, None);
}

/// A machine that others keep busy with what gives way to the test is no cause: nobody waits for a processor.
#[test]
fn other_programs_count_where_the_test_waits_for_them() {
    let dependency = Load {
        achieved: 490.0,
        service_s: 0.102,
        fastest_s: 0.101,
        upstream: Some((490.0, 0.1, 0.1)),
        host_busy: 1.0,
        ..limited()
    };
    check(&dependency, CauseKind::Dependency, Some("upstream"));
    let mut starved = part(0.27, 1.0);
    starved.strain.cpus_busy_share = Some(1.0);
    starved.strain.busiest_thread_ready = Some(1.0);
    let load = Load {
        proxy: starved,
        host_busy: 1.0,
        ..limited()
    };
    check(&load, CauseKind::Machine, None);
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert!(
        found.statement.starts_with("Other programs"),
        "{}",
        found.statement
    );
}

/// From one throughput, from throughputs close to each other, or from far below, nobody knows when processors would be used up; nor of one
/// thread how much the processors beside it could take over.
#[test]
fn processors_are_foretold_from_loads_that_come_near_and_lie_apart() {
    let statement = |rates: &[f64], limit: f64, thread: Option<f64>| {
        let points = rates.iter().map(|rate| {
            let cores = 0.01 + rate / 1_000.0;
            let load = Load {
                offered: Some(*rate),
                achieved: *rate,
                service_s: 0.006,
                proxy: Part {
                    thread: thread.map_or(Some(cores / limit), |share| Some(share * cores)),
                    threads: 4,
                    ..part(cores, limit)
                },
                ..limited()
            };
            let mut data = load.data();
            let proxy = data.components.get_mut("proxy").unwrap();
            for second in 0..6 {
                let per_s = rate + 4.0 * f64::from(second);
                proxy.demand.observe(per_s, 0.01 + per_s / 1_000.0);
            }
            Point::of(&data)
        });
        attribute(&Case::of_points(points.collect(), 4)).statement
    };
    insta::assert_snapshot!(statement(&[200.0, 400.0, 600.0], 2.0, None), @"Nothing gave way at 600/s: the limit lies higher. Of what was looked at, the processors of proxy would be used up first, at 1,990 to 1,990/s (0.61 of 2.00 cores are used at 600/s).");
    insta::assert_snapshot!(statement(&[200.0, 400.0, 600.0], 2.0, Some(1.0)), @"Nothing gave way at 600/s: the limit lies higher. Of what was looked at, the processors of proxy would be used up first, at 990 to 990/s (0.61 of 1.00 cores are used at 600/s).");
    let unknown = "Nothing gave way at 600/s: the limit lies higher.";
    for (rates, limit, thread) in [
        (&[600.0][..], 2.0, None),
        (&[400.0, 600.0], 2.0, None),
        (&[200.0, 600.0], 4.0, None),
        (&[200.0, 600.0], 2.0, Some(0.7)),
    ] {
        assert_eq!(
            statement(rates, limit, thread),
            unknown,
            "{rates:?} {limit}"
        );
    }
}
