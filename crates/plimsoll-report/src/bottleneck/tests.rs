//! Synthetic records of each cause, and of what looks like it and is not.

use super::{Case, Point, attribute};
use crate::record::{
    ArmData, BottleneckConclusion, Cause, CauseKind, ComponentSample, GENERATOR, HostStrain,
    LoadModel, OwnTimes, PlanCeiling, PlanFacts, ServerStatistics, Strain,
};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;

const SECONDS: f64 = 10.0;

/// A load of ten seconds through `proxy` to `upstream`.
#[derive(Clone)]
struct Load {
    offered: Option<f64>,
    achieved: f64,
    service_s: f64,
    fastest_s: f64,
    /// Of our mock: per second, mean and shortest seconds.
    upstream: Option<(f64, f64, f64)>,
    connections: f64,
    think: Option<f64>,
    generator: Part,
    proxy: Part,
    behind: Part,
    host_busy: f64,
    without_port: u64,
    released: f64,
}

/// One component.
#[derive(Clone)]
struct Part {
    cores: f64,
    thread: Option<f64>,
    threads: u64,
    strain: Strain,
    server: ServerStatistics,
}

fn part(cores: f64, limit: f64) -> Part {
    Part {
        cores,
        thread: Some(cores.min(1.0)),
        threads: 1,
        strain: Strain {
            cpu_limit_cores: Some(limit),
            cpus_busy_share: Some((cores / limit).min(1.0)),
            busiest_thread_ready: Some(cores.min(1.0)),
            throttled_share: Some(0.0),
            fds_share: Some(0.1),
            accept_queue: Some(0),
            listen_overflows: Some(0),
            segments_sent: Some(10_000),
            segments_again: Some(0),
            ports_share: Some(0.01),
            ..Strain::default()
        },
        server: ServerStatistics::default(),
    }
}

/// Offered 1,000/s, of which 600 are answered, and nothing that says why: all fifty connections under way, most of the time in the proxy.
fn limited() -> Load {
    Load {
        offered: Some(1_000.0),
        achieved: 600.0,
        service_s: 0.060,
        fastest_s: 0.030,
        upstream: Some((600.0, 0.005, 0.005)),
        connections: 50.0,
        think: None,
        generator: part(0.2, 2.0),
        proxy: part(0.1, 2.0),
        behind: part(0.1, 2.0),
        host_busy: 0.3,
        without_port: 0,
        released: 1.0,
    }
}

impl Load {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "synthetic counts"
    )]
    fn data(&self) -> ArmData {
        let model = if self.offered.is_some() {
            LoadModel::Open
        } else {
            LoadModel::Closed
        };
        let mut data = ArmData::new("main", "proxy", model, self.offered);
        data.seconds = SECONDS;
        let answered = (self.achieved * SECONDS) as u64;
        let due = self
            .offered
            .map_or(answered, |rate| (rate * SECONDS) as u64);
        (data.intended, data.scheduled, data.sent) = (due, due, answered);
        data.dropped = due - answered;
        data.dropped_by_generator = ((1.0 - self.released) * due as f64) as u64;
        data.fastest_service_s = Some(self.fastest_s);
        data.plan = PlanFacts {
            at_once: Some(self.connections),
            waiting: self.think.map(|think| PlanCeiling {
                per_s: self.connections / think,
                sentence: format!("{} users think {think} s", self.connections),
            }),
        };
        data.health.busiest_thread_cores_max = self.generator.thread;
        let step = data.steps.entry("s".to_owned()).or_default();
        step.sent = answered;
        step.statuses.insert(200, answered - self.without_port);
        let class = step.classes.entry(OutcomeClass::Passed).or_default();
        class.count = answered - self.without_port;
        let times = class.times.entry(TimeKind::ServiceTime).or_default();
        times.record_many((self.service_s * 1e9) as u64, class.count);
        if self.without_port > 0 {
            step.reasons.insert(Reason::Ports, self.without_port);
            let class = step.classes.entry(OutcomeClass::Exhausted).or_default();
            class.count = self.without_port;
        }
        if let Some((per_s, mean_s, shortest_s)) = self.upstream {
            let mut own = OwnTimes {
                seconds: SECONDS,
                ..OwnTimes::default()
            };
            let count = (per_s * SECONDS) as u64;
            own.times.record_nanos((shortest_s * 1e9) as u64);
            own.times.record_many((mean_s * 1e9) as u64, count - 1);
            data.own_times.insert("upstream".to_owned(), own);
        }
        for (name, part) in [
            (GENERATOR, &self.generator),
            ("proxy", &self.proxy),
            ("upstream", &self.behind),
        ] {
            let sample = ComponentSample {
                length_s: 1.0,
                cpu_cores: Some(part.cores),
                busiest_thread_cores: part.thread,
                threads: Some(part.threads),
                strain: part.strain,
                server: part.server,
                ..ComponentSample::default()
            };
            let component = data.components.entry(name.to_owned()).or_default();
            (0..10).for_each(|_| component.observe(&sample));
        }
        let strain = HostStrain {
            cpus_busy_share: Some(self.host_busy),
            ..HostStrain::default()
        };
        data.host.observe(strain, SECONDS);
        data
    }
}

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

fn busy(limit: f64) -> Part {
    let mut part = part(0.98 * limit, limit);
    part.strain.busiest_thread_ready = Some(1.0);
    part
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

#[test]
fn what_is_not_known_is_not_guessed() {
    let load = Load {
        // Half of the connections are under way, nobody works, and nothing inside is known.
        service_s: 0.040,
        upstream: None,
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(
        found.conclusion,
        BottleneckConclusion::Unknown,
        "{found:#?}"
    );
    assert_eq!(found.causes, []);
    assert!(found.ruled_out.len() >= 4, "{found:#?}");
}

#[test]
fn a_load_that_was_carried_has_no_cause() {
    let load = Load {
        offered: Some(600.0),
        service_s: 0.006,
        proxy: part(0.4, 1.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(found.conclusion, BottleneckConclusion::NothingGaveWay);
    insta::assert_snapshot!(found.statement, @"Nothing gave way at 600/s: the limit lies higher.");
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

/// A few arrivals of which all were answered are carried, also where the last answer came after the end.
#[test]
fn a_few_arrivals_are_no_shortfall() {
    let few = Load {
        offered: Some(0.8),
        achieved: 0.7,
        ..limited()
    };
    let mut data = few.data();
    (data.intended, data.scheduled, data.sent, data.dropped) = (8, 8, 8, 0);
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(
        found.conclusion,
        BottleneckConclusion::NothingGaveWay,
        "{found:#?}"
    );
}

/// A target that fails whatever the load has no limit, and no load that was carried either.
#[test]
fn nothing_is_known_of_a_limit_where_nothing_was_good() {
    let load = Load {
        offered: Some(600.0),
        ..limited()
    };
    let mut data = load.data();
    let step = data.steps.values_mut().next().unwrap();
    step.statuses.clear();
    step.reasons.insert(Reason::Expired, 6_000);
    let all = step.classes.remove(&OutcomeClass::Passed).unwrap();
    step.classes.insert(OutcomeClass::TlsFailed, all);
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(found.conclusion, BottleneckConclusion::Unknown);
    insta::assert_snapshot!(found.statement, @"No exchange got a good answer, so nothing is known of a limit: see what failed.");
}

/// A wrong path fails at any rate; a gateway that sheds does not.
#[test]
fn only_failures_that_speak_of_load_are_giving_way() {
    let carried = Load {
        offered: Some(600.0),
        service_s: 0.006,
        ..limited()
    };
    let concluded = |statuses: &[(u16, u64)], class| {
        let mut data = carried.data();
        let step = data.steps.values_mut().next().unwrap();
        step.statuses = statuses.iter().copied().collect();
        let (_, last) = statuses.last().unwrap();
        step.classes.get_mut(&OutcomeClass::Passed).unwrap().count -= last;
        step.classes.entry(class).or_default().count += last;
        attribute(&Case::of_one(&data, 2)).conclusion
    };
    let nothing = BottleneckConclusion::NothingGaveWay;
    assert_eq!(
        concluded(&[(200, 5_000), (404, 1_000)], OutcomeClass::CheckFailed),
        nothing
    );
    for status in [408, 429, 500, 503] {
        let found = concluded(&[(200, 5_900), (status, 100)], OutcomeClass::CheckFailed);
        assert_ne!(found, nothing, "{status}");
    }
    // Who expects it gets what was wanted.
    assert_eq!(concluded(&[(503, 6_000)], OutcomeClass::Passed), nothing);
}

#[test]
fn what_nobody_looked_at_is_said() {
    let mut data = limited().data();
    data.unseen
        .insert("staging".to_owned(), "it runs elsewhere".to_owned());
    let found = attribute(&Case::of_one(&data, 2));
    assert_eq!(found.unseen, ["staging: it runs elsewhere"]);
}

/// All connections wait for answers and everybody who was looked at is idle: who was not looked at may be the one.
#[test]
fn who_was_not_looked_at_is_not_idle() {
    let all_busy = Load {
        achieved: 490.0,
        service_s: 0.102,
        fastest_s: 0.101,
        upstream: None,
        ..limited()
    };
    check(&all_busy, CauseKind::Connections, None);
    let unknown = |data: &ArmData| {
        let found = attribute(&Case::of_one(data, 2));
        assert_eq!(
            found.conclusion,
            BottleneckConclusion::Unknown,
            "{found:#?}"
        );
    };
    let mut elsewhere = all_busy.data();
    elsewhere
        .unseen
        .insert("database".to_owned(), "it runs elsewhere".to_owned());
    unknown(&elsewhere);
    let mut no_target = all_busy.data();
    no_target.components.shift_remove("proxy");
    unknown(&no_target);
    // What looks like a pool of four could be the target's processors.
    let pool = Load {
        achieved: 200.0,
        service_s: 0.25,
        fastest_s: 0.021,
        upstream: Some((200.0, 0.02, 0.02)),
        ..limited()
    };
    let mut no_target = pool.data();
    no_target.components.shift_remove("proxy");
    unknown(&no_target);
}

/// A database of ten connections that ordinary clients may have, of which the probe has one, so many are open and so many at work.
fn database(open: f64, active: f64, lock_waiters: f64) -> Part {
    let server = ServerStatistics {
        connections: Some(open),
        connections_limit: Some(10),
        connections_share: Some((open + 1.0) / 10.0),
        active: Some(active),
        idle_in_transaction: Some(0.0),
        lock_waiters: Some(lock_waiters),
        deadlocks: Some(3),
        ..ServerStatistics::default()
    };
    Part {
        server,
        ..part(0.1, 2.0)
    }
}

#[test]
fn sessions_that_wait_for_a_lock() {
    let load = Load {
        behind: database(8.0, 7.0, 6.0),
        ..limited()
    };
    check(&load, CauseKind::Lock, Some("upstream"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    insta::assert_snapshot!(found.causes[0].evidence.join("\n"), @r"
    6 of 7 sessions at work waited for a lock on the mean, and 36 exchanges were under way
    so 85.7 % of their time is waiting
    it broke 30 deadlocks
    ");
    // Some wait now and then.
    let load = Load {
        behind: database(8.0, 7.0, 0.9),
        ..limited()
    };
    assert_ne!(first(&load).map(|found| found.0), Some(CauseKind::Lock));
}

/// They stand still whether there is a load or not, and are most of the sessions at work where statements are short.
#[test]
fn stuck_sessions_of_somebody_else() {
    let names_a_lock = |load: &Load| {
        let found = attribute(&Case::of_one(&load.data(), 2));
        let excluded = found.ruled_out.join("\n");
        assert!(excluded.contains("locks of upstream: "), "{excluded}");
        let mut causes = found.causes.iter();
        causes.any(|cause| cause.component.as_deref() == Some("upstream"))
    };
    for (waiting, active) in [(1.0, 1.0), (1.0, 1.8), (2.0, 2.3), (3.0, 3.5)] {
        let behind = database(5.0, active, waiting);
        let held = Load {
            behind: behind.clone(),
            ..limited()
        };
        assert!(!names_a_lock(&held), "{waiting} of {active}");
        // Users who take all that there is.
        let closed = Load {
            offered: None,
            behind,
            ..limited()
        };
        assert!(!names_a_lock(&closed), "{waiting} of {active}");
    }
}

/// A load that is carried gives no cause, whoever stands still beside it.
#[test]
fn a_healthy_load_beside_a_stuck_migration() {
    let load = Load {
        offered: Some(600.0),
        behind: database(5.0, 1.4, 1.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(found.conclusion, BottleneckConclusion::NothingGaveWay);
    assert!(found.causes.is_empty(), "{found:#?}");
}

#[test]
fn connections_that_a_server_admits() {
    let load = Load {
        behind: database(9.0, 8.6, 0.0),
        ..limited()
    };
    check(&load, CauseKind::Pool, Some("upstream"));
    // A pool that keeps them open, and does not use them.
    let load = Load {
        behind: database(9.0, 2.0, 0.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    let is_of_it = |cause: &Cause| cause.component.as_deref() == Some("upstream");
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
    let excluded = found.ruled_out.join("\n");
    assert!(excluded.contains("all are taken, but"), "{excluded}");
    // One place is left.
    let load = Load {
        behind: database(8.0, 8.0, 0.0),
        ..limited()
    };
    assert_ne!(first(&load).map(|found| found.0), Some(CauseKind::Pool));
}

#[test]
fn connections_that_a_server_refuses() {
    let refusing = |each_second: u64, share: f64| {
        let mut behind = part(0.1, 2.0);
        behind.server.connections_rejected = Some(each_second);
        behind.server.connections_share = Some(share);
        Load {
            behind,
            ..limited()
        }
    };
    // 70 of 6,000 exchanges, and ten while all are taken.
    check(&refusing(7, 0.5), CauseKind::Pool, Some("upstream"));
    check(&refusing(1, 1.0), CauseKind::Pool, Some("upstream"));
    let found = attribute(&Case::of_one(&refusing(1, 0.5).data(), 2));
    let is_of_it = |cause: &Cause| cause.component.as_deref() == Some("upstream");
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
    let excluded = found.ruled_out.join("\n");
    assert!(
        excluded.contains("10 connections were refused, 0.2 % of the exchanges"),
        "{excluded}"
    );
    // What is slow for want of processors has more connections at a time.
    let load = Load {
        proxy: busy(1.0),
        ..refusing(7, 0.5)
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
}

#[test]
fn the_one_thread_of_a_server() {
    // Elsewhere: how many processors it has nobody knows.
    let mut cache = part(1.02, 2.0);
    cache.strain = Strain::default();
    cache.thread = None;
    cache.server.main_thread_cores = Some(0.98);
    cache.server.evicted_keys = Some(40);
    let load = Load {
        behind: cache.clone(),
        ..limited()
    };
    check(&load, CauseKind::HotThread, Some("upstream"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    let evidence = found.causes[0].evidence.join("\n");
    assert!(evidence.contains("threw out 400 keys"), "{evidence}");
    cache.server.main_thread_cores = Some(0.5);
    let load = Load {
        behind: cache,
        ..limited()
    };
    assert_ne!(
        first(&load).map(|found| found.0),
        Some(CauseKind::HotThread)
    );
}
