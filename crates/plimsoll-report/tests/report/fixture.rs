//! A synthetic run of realistic shape, from seeded draws: nothing in it was measured.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "synthetic figures within known ranges"
)]

mod dependencies;
pub mod held;
mod outages;
mod second;

pub use dependencies::SENSITIVITY;
pub use held::{CAPACITY, LEVELS};
pub use outages::AVAILABILITY;
use second::{add_second, component_row, group_row, load_row, sample, times};

use indexmap::IndexMap;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::tally::merge_times;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_report::facts::Facts;
use plimsoll_report::metric::Metric;
use plimsoll_report::record::*;
use plimsoll_report::summarise::{Method, summarise};
use plimsoll_report::threshold::{Bound, Threshold};
use plimsoll_report::view::{ArmTimes, RunView};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub const SEED: u64 = 42;
const SECONDS: u32 = 6;
const WARMUP: u32 = 2;
const RATE: f64 = 1_000.0;
const STEP: &str = "GET /json/valid";
/// The only group of its scenario: the step and nothing else.
const GROUP: &str = "visit";

/// How one arm behaves: median and spread of its service time, and how much processor each component uses.
pub struct Behaviour {
    pub name: &'static str,
    pub target: &'static str,
    pub median_us: f64,
    pub sigma: f64,
    /// Mean lateness of the generator.
    pub lag_us: f64,
    pub failing_share: f64,
    pub cpu: &'static [(&'static str, f64)],
}

pub const DIRECT: Behaviour = Behaviour {
    name: "direct",
    target: "upstream",
    median_us: 210.0,
    sigma: 0.42,
    lag_us: 18.0,
    failing_share: 0.0,
    cpu: &[("generator", 0.31), ("upstream", 0.22)],
};
pub const GATEWAY: Behaviour = Behaviour {
    name: "gateway",
    target: "plain",
    median_us: 330.0,
    sigma: 0.47,
    lag_us: 18.0,
    failing_share: 0.0,
    cpu: &[("generator", 0.33), ("upstream", 0.23), ("plain", 0.44)],
};
pub const EVERYTHING: Behaviour = Behaviour {
    name: "everything",
    target: "full",
    median_us: 372.0,
    sigma: 0.52,
    lag_us: 18.0,
    failing_share: 0.0007,
    cpu: &[("generator", 0.33), ("upstream", 0.23), ("full", 0.58)],
};

/// A comparison of three arms over six blocks.
pub static COMPARE: LazyLock<RunView> = LazyLock::new(|| {
    let arms = [DIRECT, GATEWAY, EVERYTHING];
    let method = Method::Compare {
        baseline: "direct".to_owned(),
    };
    let thresholds = [
        threshold("gateway", "added.p99", Bound::Below(1e-3)),
        threshold("everything", "failed_share", Bound::Below(0.01)),
    ];
    view("gateway-overhead", &method, &arms, 6, &thresholds)
});

/// One arm, once.
pub static MEASURE: LazyLock<RunView> = LazyLock::new(|| {
    view(
        "quick",
        &Method::Measure,
        &[DIRECT],
        1,
        &[threshold("direct", "response_time.p99", Bound::Below(5e-3))],
    )
});

pub fn threshold(arm: &str, metric: &str, bound: Bound) -> Threshold {
    Threshold {
        arm: arm.to_owned(),
        metric: Metric::parse(metric).unwrap(),
        bound,
        abort: None,
    }
}

pub fn facts(experiment: &str) -> Facts {
    Facts {
        experiment: experiment.to_owned(),
        seed: SEED,
        host: host(),
        ranges: Ranges::try_new(vec![0.25e-3, 0.5e-3, 1e-3]).unwrap(),
        cut_short: None,
        breaches: BTreeMap::new(),
        deaths: Vec::new(),
        absent: Vec::new(),
    }
}

/// The run of these arms: blocks of every arm one after another, all of its rows and histograms.
pub fn view(
    experiment: &str,
    method: &Method,
    arms: &[Behaviour],
    blocks: u32,
    thresholds: &[Threshold],
) -> RunView {
    let mut data: Vec<ArmBlocks> = arms
        .iter()
        .map(|arm| ArmBlocks {
            name: arm.name.to_owned(),
            blocks: BTreeMap::new(),
            notes: Vec::new(),
        })
        .collect();
    let (mut series, mut events) = (
        Vec::new(),
        vec![event(0.0, EventKind::RunStarted, "run started", None)],
    );
    let mut t = 1.0;
    for block in 1..=blocks {
        let mut order: Vec<usize> = (0..arms.len()).collect();
        Draw::new(SEED, Stream::Order, u64::from(block)).shuffle(&mut order);
        for index in order {
            let (arm, rows) = run_block(&arms[index], block, index, t);
            events.push(event(
                t,
                EventKind::WarmupStarted,
                "warm-up",
                Some((arms[index].name, block)),
            ));
            events.push(event(
                t + f64::from(WARMUP),
                EventKind::MeasurementStarted,
                "measurement",
                Some((arms[index].name, block)),
            ));
            t += f64::from(WARMUP + SECONDS) + 0.7;
            series.extend(rows);
            data[index].blocks.insert(block, arm);
        }
    }
    events.push(event(t, EventKind::RunEnded, "run ended", None));
    let histograms = data
        .iter()
        .map(|arm| (arm.name.clone(), histograms(arm)))
        .collect();
    let summary = summarise(&facts(experiment), method, &data, thresholds);
    RunView {
        location: format!("runs/{experiment}-synthetic"),
        manifest: manifest(experiment, &summary, arms),
        summary,
        series,
        events,
        histograms,
    }
}

fn run_block(arm: &Behaviour, block: u32, index: usize, start: f64) -> (ArmData, Vec<SeriesRow>) {
    let mut data = ArmData::new(arm.name, arm.target, LoadModel::Open, Some(RATE));
    let mut rows = Vec::new();
    let luck = 1.0 + 0.04 * Draw::new(SEED, Stream::Delays, u64::from(block)).normal();
    for second in 0..WARMUP + SECONDS {
        let warmup = second < WARMUP;
        let key = u64::from(block) * 1_000 + index as u64 * 100 + u64::from(second);
        let mut draw = Draw::new(SEED, Stream::Data, key);
        let times = times(arm, luck, &mut draw);
        let t = start + f64::from(second);
        rows.push(SeriesRow::Load(load_row(
            arm,
            block,
            warmup,
            t,
            &times.response,
            &mut draw,
        )));
        for (component, cores) in arm.cpu {
            let sample = sample(*cores, second, &mut draw);
            rows.push(SeriesRow::Component(component_row(
                component,
                t + 1.0,
                &sample,
            )));
            if !warmup {
                data.components
                    .entry((*component).to_owned())
                    .or_default()
                    .observe(&sample);
            }
        }
        if !warmup {
            let failed = (RATE * arm.failing_share).round() as u64;
            rows.push(SeriesRow::Group(group_row(arm, block, t, &times, failed)));
            add_second(&mut data, t, times, failed);
        }
    }
    data.health = GeneratorHealth {
        longest_stall_s: Some(0.4e-3),
        stalled_share: Some(0.0),
        run_delay_share: Some(0.01),
        steal_share_mean: Some(0.001),
        steal_share_max: Some(0.004),
        exhausted: Some(0),
        ..GeneratorHealth::default()
    };
    (data, rows)
}

fn histograms(arm: &ArmBlocks) -> ArmTimes {
    let mut merged = ArmTimes::default();
    for block in arm.blocks.values() {
        for kind in TimeKind::ALL {
            let own = merged.times.entry(kind).or_default();
            own.merge(&block.histogram(kind));
        }
        for (step, tally) in &block.steps {
            let classes = merged.steps.entry(step.clone()).or_default();
            for (class, tally) in &tally.classes {
                merge_times(classes.entry(*class).or_default(), &tally.times);
            }
        }
    }
    merged
}

fn event(t: f64, kind: EventKind, message: &str, at: Option<(&str, u32)>) -> EventRow {
    EventRow {
        t,
        kind,
        message: message.to_owned(),
        component: None,
        arm: at.map(|(arm, _)| arm.to_owned()),
        block: at.map(|(_, block)| block),
    }
}

pub fn manifest(experiment: &str, summary: &Summary, arms: &[Behaviour]) -> Manifest {
    let mut components: IndexMap<&str, ()> = IndexMap::new();
    arms.iter().flat_map(|arm| arm.cpu).for_each(|(name, _)| {
        components.insert(name, ());
    });
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        id: "synthetic".to_owned(),
        experiment: experiment.to_owned(),
        method: summary.method,
        state: RunState::Complete,
        started_at: "2026-01-01T12:00:00Z".to_owned(),
        ended_at: Some("2026-01-01T12:02:37Z".to_owned()),
        seed: SEED,
        versions: [("plimsoll".to_owned(), "0.1.0 (synthetic)".to_owned())].into(),
        host: host(),
        inputs: vec![Input {
            path: format!("examples/{experiment}/experiment.yaml"),
            sha256: "5f".repeat(32),
        }],
        arms: arms
            .iter()
            .map(|arm| ArmFacts {
                name: arm.name.to_owned(),
                target: arm.target.to_owned(),
                model: LoadModel::Open,
                load: "1,000/s over 50 connections, warm-up 2 s, 6 s".to_owned(),
            })
            .collect(),
        components: components
            .keys()
            .filter(|name| **name != GENERATOR)
            .map(|name| ComponentFacts {
                name: (*name).to_owned(),
                kind: if *name == "upstream" {
                    "mock"
                } else {
                    "gateway"
                }
                .to_owned(),
                detail: if *name == "upstream" {
                    ""
                } else {
                    "config plain.yaml"
                }
                .to_owned(),
            })
            .collect(),
    }
}

fn host() -> Host {
    Host {
        os: "synthetic: nothing here was measured".to_owned(),
        kernel: "6.1.0".to_owned(),
        cpu_model: "Example CPU @ 3.0 GHz".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        virtualisation: Some("kvm".to_owned()),
    }
}
