//! Synthetic loads through a proxy to an upstream: limited by nothing that shows, until a test gives them a cause.

use crate::record::{
    ArmData, ComponentSample, GENERATOR, HostStrain, LoadModel, OwnTimes, PlanCeiling, PlanFacts,
    ServerStatistics, Strain,
};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;

pub(super) const SECONDS: f64 = 10.0;

/// A load of ten seconds through `proxy` to `upstream`.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) offered: Option<f64>,
    pub(super) achieved: f64,
    pub(super) service_s: f64,
    pub(super) fastest_s: f64,
    /// Of our mock: per second, mean and shortest seconds.
    pub(super) upstream: Option<(f64, f64, f64)>,
    pub(super) connections: f64,
    pub(super) think: Option<f64>,
    pub(super) generator: Part,
    pub(super) proxy: Part,
    pub(super) behind: Part,
    pub(super) host_busy: f64,
    pub(super) without_port: u64,
    pub(super) released: f64,
}

/// One component.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) cores: f64,
    pub(super) thread: Option<f64>,
    pub(super) threads: u64,
    pub(super) strain: Strain,
    pub(super) server: ServerStatistics,
}

pub(super) fn part(cores: f64, limit: f64) -> Part {
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
pub(super) fn limited() -> Load {
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
    pub(super) fn data(&self) -> ArmData {
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

pub(super) fn busy(limit: f64) -> Part {
    let mut part = part(0.98 * limit, limit);
    part.strain.busiest_thread_ready = Some(1.0);
    part
}

/// A database of ten connections that ordinary clients may have, of which the probe has one, so many are open and so many at work.
pub(super) fn database(open: f64, active: f64, lock_waiters: f64) -> Part {
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
