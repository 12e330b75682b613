//! Facts of a run before anything is measured. Templates stand in it as written, so secrets do not.

use crate::host;
use crate::options::RunOptions;
use plimsoll_base::units::format_seconds;
use plimsoll_experiment::{
    Arm, CPU_PERIOD, Component, ComponentKind, Experiment, LevelOrder, LoadedScenario, Method,
    Template,
};
use plimsoll_load::plan::{ConnectionPolicy, Connections, Load, Protocol, Trust};
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
            Method::Levels(_) => MethodName::Levels,
            Method::Capacity(_) => MethodName::Capacity,
            Method::Sensitivity(_) => MethodName::Sensitivity,
            Method::Availability(_) => MethodName::Availability,
        },
        state: RunState::Running,
        started_at,
        ended_at: None,
        seed: options.seed,
        versions: [version].into_iter().collect(),
        host: host::read(),
        inputs: experiment.inputs.clone(),
        arms: experiment
            .arms
            .iter()
            .map(|one| arm(one, &experiment.method))
            .collect(),
        components: experiment.components.iter().map(component).collect(),
    }
}

fn arm(arm: &Arm, method: &Method) -> ArmFacts {
    ArmFacts {
        name: arm.name.clone(),
        target: arm.target.to_string(),
        model: if arm.scenarios.iter().any(is_closed) {
            LoadModel::Closed
        } else {
            LoadModel::Open
        },
        load: load(arm, method),
    }
}

fn is_closed(scenario: &LoadedScenario) -> bool {
    matches!(scenario.load, Load::Closed { .. })
}

fn load(arm: &Arm, method: &Method) -> String {
    let settings = &arm.settings;
    let time = |duration: Duration| format_seconds(duration.as_secs_f64());
    let chosen = match method {
        Method::Levels(levels) => {
            let order = match levels.order {
                LevelOrder::Ascending => "",
                LevelOrder::Random => " in random order",
            };
            format!("{} levels{order} up to ", levels.points.len())
        }
        Method::Capacity(_) => "searched from ".to_owned(),
        Method::Measure
        | Method::Compare { .. }
        | Method::Sensitivity(_)
        | Method::Availability(_) => String::new(),
    };
    let arrivals = format!(
        "{chosen}{}{}",
        arrivals(&arm.scenarios),
        connections(&settings.connections)
    );
    let each = match method {
        Method::Levels(_) | Method::Capacity(_) | Method::Sensitivity(_) => " each",
        Method::Measure | Method::Compare { .. } | Method::Availability(_) => "",
    };
    let duration = match method {
        Method::Availability(_) => "until recovered each".to_owned(),
        _ => format!("{}{each}", time(settings.duration)),
    };
    if settings.warmup.is_zero() {
        format!("{arrivals}, {duration}")
    } else {
        format!("{arrivals}, {} warm-up, {duration}", time(settings.warmup))
    }
}

/// The loads of scenarios, each with its name where there are several.
fn arrivals(scenarios: &[LoadedScenario]) -> String {
    if let [only] = scenarios {
        return only.load.to_string();
    }
    let named = scenarios
        .iter()
        .map(|scenario| format!("{}: {}", scenario.name, scenario.load));
    named.collect::<Vec<_>>().join("; ")
}

/// Settings of connections that differ from the default, each after a comma.
fn connections(connections: &Connections) -> String {
    let mut said = vec![];
    match connections.policy {
        ConnectionPolicy::PerUser => {}
        ConnectionPolicy::Shared(shared) => said.push(format!("{shared} shared connections")),
        ConnectionPolicy::PerIteration => said.push("a connection per iteration".to_owned()),
        ConnectionPolicy::PerExchange => said.push("a connection per exchange".to_owned()),
    }
    if let Protocol::Http2 { streams } = connections.protocol {
        said.push(format!("HTTP/2 with {streams} streams a connection"));
    }
    if let Some(tls) = &connections.tls {
        let verified = match tls.trust {
            Trust::Anybody => "TLS, certificates not verified",
            Trust::System | Trust::Authorities(_) => "TLS",
        };
        let identities = match tls.identities.len() {
            0 => "",
            1 => " with a client certificate",
            _ => " with a client certificate for each user",
        };
        said.push(format!("{verified}{identities}"));
    }
    said.iter().map(|part| format!(", {part}")).collect()
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
        detail = format!("{detail}, at most {} CPUs", quota.cores);
        if quota.period != CPU_PERIOD {
            detail = format!("{detail} in periods of {} ms", quota.period.as_millis());
        }
    }
    ComponentFacts {
        name: component.name.clone(),
        kind: component.kind.word().to_owned(),
        detail,
    }
}
