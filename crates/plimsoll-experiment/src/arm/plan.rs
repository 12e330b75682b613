//! The generator's plan for an arm, and its own verdict on it in terms of the file.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{
    self, ConnectionPolicy, ConnectionsField, FeederField, Plan, PlanField, PlanPlace, Scenario,
    ScenarioPlace, StepField, StepPlace, Text,
};

use super::Arm;
use crate::load::connections;
use crate::load::{Layer, Layers, Written};
use crate::loader::Loader;
use crate::scenario::{Body, Step};
use crate::template::{Reference, Template, Value};

impl Arm {
    /// The generator's plan for this arm: `lookup` resolves the substitutions of paths, header values and bodies.
    ///
    /// # Errors
    /// The first error of `lookup`.
    pub fn plan<E>(
        &self,
        seed: u64,
        shards: usize,
        target: plan::Target,
        mut lookup: impl FnMut(&Reference) -> Result<Value, E>,
    ) -> Result<Plan, E> {
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let body = body(&step.exchange.body, &mut lookup)?;
            let mut text = |template: &Template| template.text(&mut lookup);
            steps.push(step.exchange.try_map(&mut text, body)?);
        }
        let mut values = Vec::new();
        for (name, template) in &self.data.values {
            let value = template.resolve(&mut lookup)?;
            values.push((name.clone(), value.expose().to_owned()));
        }
        let mut scenarios = Vec::with_capacity(self.scenarios.len());
        for scenario in &self.scenarios {
            let mut text = |template: &Template| template.text(&mut lookup);
            let program = scenario.program.iter();
            let program = program.map(|action| action.try_map(&mut text));
            scenarios.push(Scenario {
                name: scenario.name.clone(),
                load: scenario.load.clone(),
                program: program.collect::<Result<_, E>>()?,
                iterations: scenario.iterations,
            });
        }
        let host = host_of(&target.authority);
        let port = target.addresses.first().map_or(0, SocketAddr::port);
        let connections = connections::of_target(&self.settings.connections, host, port);
        Ok(Plan {
            seed,
            shards,
            target,
            steps,
            scenarios,
            data: plan::Data {
                values,
                feeders: self
                    .data
                    .feeders
                    .iter()
                    .map(|feeder| feeder.plan.clone())
                    .collect(),
                dealing: self.dealing,
                cookies: self.data.cookies,
            },
            warmup: self.settings.warmup,
            duration: self.settings.duration,
            connections,
            pacing: self.settings.pacing,
            timeout: self.settings.timeout,
            singly: false,
        })
    }
}

impl Arm {
    /// Its plan as far as the file decides it: any address and any value stand where the file says none.
    pub fn outline(&self) -> Plan {
        self.outline_with(|_| None)
    }

    /// Its plan as far as the file decides it, with some values as they are.
    fn outline_with(&self, held: impl Fn(&Reference) -> Option<String>) -> Plan {
        let sources = &self.settings.connections.sources;
        let source = sources
            .first()
            .copied()
            .unwrap_or(Ipv4Addr::LOCALHOST.into());
        let target = plan::Target {
            authority: "target".to_owned(),
            // Of the kind from which it will be reached: the target's own is not known yet.
            addresses: vec![SocketAddr::new(source, 80)],
        };
        let anything = |reference: &Reference| {
            let value = held(reference).unwrap_or_else(|| "/".to_owned());
            Ok::<_, Infallible>(Value::Plain(value))
        };
        let Ok(plan) = self.plan(0, 1, target, anything);
        plan
    }

    /// By step: the names under which results of its checks are counted. What only a run knows of one is `…`, with all that follows.
    pub(crate) fn checks(&self) -> Vec<Vec<String>> {
        const UNKNOWN: char = '\u{1}';
        let known = |name: String| match name.split_once(UNKNOWN) {
            Some((known, _)) => format!("{known}…"),
            None => name,
        };
        let plan = self.outline_with(|_| Some(UNKNOWN.to_string()));
        let of_step = |step: &plan::Step| step.checks().into_iter().map(known).collect();
        plan.steps.iter().map(of_step).collect()
    }
}

fn body<E>(
    body: &Body,
    lookup: &mut impl FnMut(&Reference) -> Result<Value, E>,
) -> Result<Text, E> {
    Ok(match body {
        Body::Empty => Text::default(),
        Body::Inline(template) => template.text(&mut *lookup)?,
        Body::File { bytes, .. } => bytes.clone().into(),
        Body::Parts(parts) => {
            let mut pieces = Vec::new();
            for part in parts {
                pieces.extend(self::body(part, lookup)?.0);
            }
            Text(pieces)
        }
    })
}

/// Where the file says what is not a step's own.
#[derive(Clone, Copy)]
pub(super) struct WrittenPlaces<'a> {
    /// By scenario: where its load is written, the common one first ...
    pub(super) stacks: &'a [Vec<Layer<'a>>],
    /// ... and which part of it where.
    pub(super) written: &'a [Written],
    pub(super) conditions: &'a [Pointer],
    pub(super) pauses: &'a [Pointer],
    /// Of the arm.
    pub(super) headers_at: &'a Pointer,
}

/// The host of an authority, without its port and without the brackets of an IPv6 address.
fn host_of(authority: &str) -> &str {
    let (host, _) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']').unwrap_or((bracketed, "")),
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    host
}

/// Lets the generator itself judge the arm's plan, and says where in the file each of its complaints belongs.
pub(super) fn check(loader: &mut Loader<'_>, arm: &Arm, places: WrittenPlaces<'_>) {
    // A key is read before the load, and judged as it is.
    let key = |reference: &Reference| {
        let held = loader.held(reference);
        held.filter(|text| text.contains("-----BEGIN "))
    };
    let Err(problems) = arm.outline_with(key).check() else {
        return;
    };
    for problem in problems.0 {
        let at = written_at(loader, problem.place, arm, places);
        loader.refuse(at, problem.message);
    }
}

/// Where in the file a place of the plan is written.
fn written_at(
    loader: &Loader<'_>,
    place: PlanPlace,
    arm: &Arm,
    places: WrittenPlaces<'_>,
) -> Pointer {
    let common = Layers::new(&places.stacks[0]);
    let numbered = |list: &[Pointer], index: usize| list.get(index).cloned();
    match place {
        PlanPlace::Field(PlanField::Scenarios) => Pointer::root().key("scenarios"),
        PlanPlace::Field(field) => common.place(loader, field.name()),
        PlanPlace::Connections(field) => of_connections(loader, field, arm, common),
        PlanPlace::Step(index, place) => {
            of_step(loader, &arm.steps[index], place, places.headers_at)
        }
        PlanPlace::Scenario(index, place) => {
            let layers = Layers::new(&places.stacks[index]);
            match place {
                ScenarioPlace::Load(place) => places.written[index].place(loader, layers, place),
                ScenarioPlace::Iterations => layers.place(loader, "iterations"),
                ScenarioPlace::Name | ScenarioPlace::Program => layers.at().clone(),
            }
        }
        PlanPlace::Pause(index) => numbered(places.pauses, index).unwrap_or_default(),
        PlanPlace::Condition(index) => numbered(places.conditions, index).unwrap_or_default(),
        PlanPlace::Value(index) => Pointer::root().key("values").key(&arm.data.values[index].0),
        PlanPlace::Feeder(index, field) => {
            let feeder = &arm.data.feeders[index];
            let at = Pointer::root().key("feeders").key(&feeder.plan.name);
            match field {
                FeederField::Text => at.key(feeder.key),
                FeederField::AtEnd | FeederField::Order => at.key(field.name()),
            }
        }
    }
}

/// Where a place of a step is written; header fields of the arm stand at `headers_at`.
fn of_step(loader: &Loader<'_>, step: &Step, place: StepPlace, headers_at: &Pointer) -> Pointer {
    let at = &step.place;
    match place {
        StepPlace::Field(StepField::Path) => at.key(&step.exchange.method.to_ascii_lowercase()),
        StepPlace::Field(StepField::Status) => at.key("check").key("status"),
        StepPlace::Field(field) => at.key(field.name()),
        StepPlace::Header(index) => {
            let name = &step.exchange.headers[index].0;
            let of_arm = headers_at.key(name);
            if loader.is_written(&of_arm) {
                of_arm
            } else {
                at.key("headers").key(name)
            }
        }
        StepPlace::Predicate(index) => step.checks[index].clone(),
        StepPlace::Extract(index) => at.key("extract").key(&step.exchange.extract[index].name),
    }
}

/// Where in the file a field of the plan's connections is written.
fn of_connections(
    loader: &Loader<'_>,
    field: ConnectionsField,
    arm: &Arm,
    layers: Layers<'_>,
) -> Pointer {
    let policy = arm.settings.connections.policy;
    let key = match field {
        ConnectionsField::Tls | ConnectionsField::Identities => {
            let tls = layers.place(loader, "tls");
            let key = tls.key("key");
            let at = match field {
                ConnectionsField::Identities => tls.key("identities"),
                _ => tls,
            };
            let is_key = !loader.is_written(&at) && loader.is_written(&key);
            return if is_key { key } else { at };
        }
        ConnectionsField::Exchanges => "exchanges_per_connection",
        ConnectionsField::Shared => "shared_connections",
        ConnectionsField::Policy => match policy {
            ConnectionPolicy::Shared(_) => "shared_connections",
            ConnectionPolicy::PerExchange
                if !loader.is_written(&layers.place(loader, "connection_per")) =>
            {
                "keep_alive"
            }
            _ => "connection_per",
        },
        ConnectionsField::ConnectTimeout
        | ConnectionsField::FirstByteTimeout
        | ConnectionsField::Streams
        | ConnectionsField::Sources => field.name(),
    };
    layers.place(loader, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::secret::Secret;

    const FILE: &str = "
version: 1
name: x
components: { upstream: { mock: {} } }
scenario:
  - { post: /a, headers: { Via: \"${upstream.host}\" }, body: 'x ${secret.key}', pause: 1s }
  - { post: /b, body_file: body.bin }
load: { rate: 10/s, duration: 5s }
";

    #[test]
    fn pauses_stand_in_steps_and_alone() {
        let file = "
version: 1
name: x
components: { upstream: { mock: {} } }
scenario:
  - { pause: { lognormal: { median: 2s, sigma: 0.5 } } }
  - { get: /a, pause: { uniform: [1s, 3s] } }
  - { pause: { exponential: 2s } }
  - { get: /b, pause: 1s }
load: { rate: 10/s, duration: 5s }
";
        let experiment = Memory::new(file, &[]).load(&[]).unwrap();
        let arm = experiment.arm("main").unwrap();
        let pauses: Vec<String> = arm
            .steps
            .iter()
            .map(|step| step.exchange.pause.to_string())
            .collect();
        assert_eq!(pauses, ["1.00 s to 3.00 s", "1.00 s"]);
        insta::assert_snapshot!(format!("{:?}", arm.scenarios[0].program), @"[Pause(Lognormal { median: 2s, sigma: 0.5 }), Step(0), Pause(Exponential { mean: 2s }), Step(1)]");
    }

    /// The scenarios of a plan: name, load and program.
    fn scenarios(scenarios: &str, load: &str) -> String {
        let file = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenarios:\n{scenarios}\nload: {load}\n"
        );
        let experiment = Memory::new(&file, &[]).load(&[]).unwrap();
        let arm = experiment.arm("main").unwrap();
        let target = plan::Target {
            authority: "localhost:80".to_owned(),
            addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 80))],
        };
        let lookup = |_: &Reference| Ok::<_, Infallible>(Value::Plain(String::new()));
        let Ok(plan) = arm.plan(7, 2, target, lookup);
        plan.check().unwrap();
        assert_eq!(plan.data.dealing, plan::Dealing::Needed);
        let shown = plan.scenarios.iter().map(|scenario| {
            let Scenario {
                name,
                load,
                program,
                iterations,
            } = scenario;
            let limit = iterations.map_or(String::new(), |most| format!(", {most} iterations"));
            format!("{name}: {load}{limit}: {program:?}")
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn scenarios_share_a_load_by_weight() {
        let weights = "  browse: { weight: 9, steps: [{ get: /a }] }\n  buy: { weight: 1, steps: [{ get: /b }, { get: /c }] }";
        insta::assert_snapshot!(
            scenarios(weights, "{ rate: 10/s, duration: 5s }"),
            @r#"main: 10/s over 50 connections: [Mix([Choice { weight: 9, actions: [Group { name: "browse", actions: [Step(0)] }] }, Choice { weight: 1, actions: [Group { name: "buy", actions: [Step(1), Step(2)] }] }])]"#
        );
    }

    #[test]
    fn scenarios_have_their_own_loads_over_the_common_one() {
        let loads = "  browse: { load: { rate: 90/s }, steps: [{ get: /a }] }\n  buy: { load: { users: 3, think: 1s, iterations: 60 }, steps: [{ get: /b }] }\n  check: { load: { profile: poisson }, steps: [{ get: /c }] }";
        insta::assert_snapshot!(
            scenarios(loads, "{ rate: 1/s, duration: 5s }"),
            @r#"
        browse: 90/s over 50 connections: [Group { name: "browse", actions: [Step(0)] }]
        buy: 3 users who think 1.00 s, 60 iterations: [Group { name: "buy", actions: [Step(1)] }]
        check: 1/s (Poisson) over 50 connections: [Group { name: "check", actions: [Step(2)] }]
        "#
        );
    }

    #[test]
    fn the_host_of_an_authority_has_neither_port_nor_brackets() {
        for authority in ["a.example", "a.example:8080"] {
            assert_eq!(host_of(authority), "a.example");
        }
        for authority in ["[::1]", "[::1]:8080"] {
            assert_eq!(host_of(authority), "::1");
        }
    }

    #[test]
    fn a_plan_has_its_substitutions_made() {
        let experiment = Memory::new(FILE, &[("e/body.bin", "\u{1}binary")])
            .load(&[])
            .unwrap();
        let target = plan::Target {
            authority: "localhost:80".to_owned(),
            addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 80))],
        };
        let lookup = |reference: &Reference| {
            Ok::<_, Infallible>(if reference.is_secret() {
                Value::Secret(Secret::new("s3cret"))
            } else {
                Value::Plain("localhost".to_owned())
            })
        };
        let Ok(plan) = experiment.arm("main").unwrap().plan(7, 2, target, lookup);
        plan.check().unwrap();
        let step = &plan.steps[0];
        let headers = [("Via", "localhost")];
        assert_eq!(
            step.headers,
            headers.map(|(name, value)| (name.to_owned(), value.into()))
        );
        assert_eq!(step.body, "x s3cret".into());
        assert_eq!((step.method.as_str(), &step.path), ("POST", &"/a".into()));
        assert_eq!(plan.steps[1].body, b"\x01binary".to_vec().into());
        assert_eq!((plan.seed, plan.shards), (7, 2));
    }
}
