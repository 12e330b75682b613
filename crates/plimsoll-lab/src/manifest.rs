//! What a run says of itself before anything is measured. Templates stand in it as written, so secrets do not.

use crate::experiment::{
    Arm, Component, ComponentKind, Experiment, LoadSettings, Method, Template,
};
use crate::host;
use crate::run::RunOptions;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_load::plan::{Load, Profile};
use plimsoll_report::record::{
    ArmFacts, ComponentFacts, LoadModel, MANIFEST_SCHEMA, Manifest, MethodName, RunState,
};
use std::time::Duration;

/// The manifest of a run that begins now.
#[must_use]
pub fn of(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    id: String,
    started_at: String,
) -> Manifest {
    let version = ("plimsoll".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        id,
        experiment: experiment.name.clone(),
        method: match experiment.method {
            Method::Measure => MethodName::Measure,
            Method::Compare { .. } => MethodName::Compare,
        },
        state: RunState::Running,
        started_at,
        ended_at: None,
        seed: options.seed,
        versions: [version].into_iter().collect(),
        host: host::read(),
        inputs: experiment.inputs.clone(),
        arms: experiment.arms.iter().map(arm).collect(),
        components: experiment.components.iter().map(component).collect(),
    }
}

fn arm(arm: &Arm) -> ArmFacts {
    ArmFacts {
        name: arm.name.clone(),
        target: arm.target.to_string(),
        model: match arm.settings.load {
            Load::Open { .. } => LoadModel::Open,
            Load::Closed { .. } => LoadModel::Closed,
        },
        load: load(&arm.settings),
    }
}

fn load(settings: &LoadSettings) -> String {
    let rate = |value: f64| format!("{}/s", format_number(value));
    let time = |duration: Duration| format_seconds(duration.as_secs_f64());
    let arrivals = match settings.load {
        Load::Open {
            profile,
            connections,
            ..
        } => {
            let arrivals = match profile {
                Profile::Constant { rate: value } => rate(value),
                Profile::Poisson { rate: value } => format!("{} (Poisson)", rate(value)),
                Profile::Ramp { from, to } => format!("{} to {}", rate(from), rate(to)),
                Profile::Staircase { from, step, every } => {
                    format!("{}, {} more every {}", rate(from), rate(step), time(every))
                }
            };
            format!("{arrivals} over {connections} connections")
        }
        Load::Closed { users, think } if think.is_zero() => format!("{users} users"),
        Load::Closed { users, think } => format!("{users} users who think {}", time(think)),
    };
    let duration = time(settings.duration);
    if settings.warmup.is_zero() {
        format!("{arrivals}, {duration}")
    } else {
        format!("{arrivals}, {} warm-up, {duration}", time(settings.warmup))
    }
}

fn component(component: &Component) -> ComponentFacts {
    let mut detail = match &component.kind {
        ComponentKind::Mock(mock) => mock.root.as_ref().map_or_else(
            || "built-in endpoints".to_owned(),
            |root| root.display().to_string(),
        ),
        ComponentKind::Gateway(gateway) => gateway.config.display().to_string(),
        ComponentKind::External(external) => external.url(),
        ComponentKind::Command(command) => {
            let words: Vec<String> = command.arguments.iter().map(Template::source).collect();
            words.join(" ")
        }
    };
    if !component.placement.cpus.is_empty() {
        let cpus: Vec<String> = component
            .placement
            .cpus
            .iter()
            .map(u32::to_string)
            .collect();
        detail = format!("{detail}, pinned to CPU {}", cpus.join(", "));
    }
    if let Some(quota) = component.placement.cpu_quota {
        detail = format!("{detail}, at most {quota} CPUs");
    }
    ComponentFacts {
        name: component.name.clone(),
        kind: component.kind.word().to_owned(),
        detail,
    }
}
