//! Arms: the alternatives under comparison, each with everything that its load needs.

pub(crate) mod delayed;
mod held;
mod plan;
mod several;
mod too_few;

use std::sync::Arc;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Action, Dealing, Load};

use super::component::{Component, ComponentKind, Scheme};
use super::load::{Layer, Layers, LoadSettings, connections};
use super::loader::Loader;
use super::method;
use super::name::refuse_name;
use super::scenario::{self, Data, Scenario, Step};
use super::target::TargetRef;
use super::template::Template;
use super::topology;
use super::wire::{ArmWire, ExperimentWire, LoadWire};
use plan::WrittenPlaces;
pub use too_few::TooFewConnections;

/// One alternative.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Where its load goes.
    pub target: TargetRef,
    /// Every exchange of its scenario; at least one.
    pub steps: Vec<Step>,
    /// Programs over these steps: all at the same time. At least one.
    pub scenarios: Vec<LoadedScenario>,
    /// How iterations get the rows of feeders.
    pub dealing: Dealing,
    /// Names in reports of its groups of steps, each before those within it.
    pub groups: Vec<String>,
    /// Differences between iterations; the same for all arms.
    pub data: Arc<Data>,
    /// Its load, of several scenarios that of the first.
    pub settings: LoadSettings,
}

/// Program of the iterations of one load, and how many there are when.
#[derive(Debug, Clone)]
pub struct LoadedScenario {
    /// Its name in the plan.
    pub name: String,
    /// The program of an iteration.
    pub program: Vec<Action<Template>>,
    /// How many start when.
    pub load: Load,
    /// In the closed model: so many and no more, over all users.
    pub iterations: Option<u64>,
}

/// The arm of a file without `arms`.
const ONLY: &str = "main";

pub(super) fn convert_all(
    loader: &mut Loader<'_>,
    wire: &ExperimentWire,
    components: &[Component],
) -> Vec<Arm> {
    let root = Pointer::root();
    let common = Common {
        wire,
        components,
        load_at: root.key("load"),
        scenario: scenario::convert_common(loader, wire),
        data: Arc::new(scenario::convert_data(loader, wire)),
        by_method: method::load(wire.method.as_ref()),
    };
    held::refuse_other_loads(loader, wire, common.by_method.as_ref());
    let Some(arms) = &wire.arms else {
        let only = ArmWire {
            target: None,
            headers: None,
            load: None,
            scenario: None,
        };
        return common
            .convert(loader, ONLY, &only, &root)
            .into_iter()
            .collect();
    };
    let at = root.key("arms");
    if arms.0.is_empty() {
        loader.refuse(&at, "names no arm: write at least one, or remove the key");
    }
    let mut converted = Vec::new();
    for (name, wire) in arms.iter() {
        let at = at.key(name);
        if let Some(message) = refuse_name("an arm", name) {
            loader.refuse_key(&at, message);
        }
        converted.extend(common.convert(loader, name, wire, &at));
    }
    converted
}

/// The names of all arms of the file, also of those that cannot be converted.
pub(super) fn names(wire: &ExperimentWire) -> Vec<String> {
    match &wire.arms {
        Some(arms) => arms.iter().map(|(name, _)| name.to_owned()).collect(),
        None => vec![ONLY.to_owned()],
    }
}

/// Settings that arms share.
struct Common<'a> {
    wire: &'a ExperimentWire,
    components: &'a [Component],
    load_at: Pointer,
    scenario: Scenario,
    data: Arc<Data>,
    /// The method's words in the place of loads.
    by_method: Option<(LoadWire, Pointer)>,
}

impl Common<'_> {
    fn convert(
        &self,
        loader: &mut Loader<'_>,
        name: &str,
        wire: &ArmWire,
        at: &Pointer,
    ) -> Option<Arm> {
        let mut scenario = match &wire.scenario {
            Some(own) => scenario::convert(loader, own, &at.key("scenario")),
            None => self.scenario.clone(),
        };
        let headers = scenario::headers(loader, wire.headers.as_ref(), &at.key("headers"));
        for step in &mut scenario.steps {
            let fields = &mut step.exchange.headers;
            fields.retain(|(name, _)| {
                !headers
                    .iter()
                    .any(|(other, _)| other.eq_ignore_ascii_case(name))
            });
            fields.extend(headers.iter().cloned());
        }
        let mut outer: Vec<Layer<'_>> = vec![(&self.wire.load, self.load_at.clone())];
        outer.extend(wire.load.as_ref().map(|own| (own, at.key("load"))));
        let by_method = self.by_method(wire);
        let stacks: Vec<Vec<Layer<'_>>> = scenario
            .parts
            .iter()
            .map(|part| {
                let own = self.own_load(wire, &part.name);
                let held = by_method.as_ref().map(|(load, at)| (load, at.clone()));
                outer.iter().cloned().chain(own).chain(held).collect()
            })
            .collect();
        let target = self.target(loader, wire, at);
        let loads = several::convert(loader, &stacks);
        let (target, (mut settings, loads, written)) = (target?, loads?);
        let layers = Layers::new(&stacks[0]);
        let component = self
            .components
            .iter()
            .find(|it| it.name == target.component);
        if let Some(Component { kind, .. }) = component {
            connections::agree(loader, layers, &target, kind, &mut settings.connections);
        }
        let arm = Arm {
            name: name.to_owned(),
            target,
            steps: scenario.steps,
            scenarios: scenario
                .parts
                .into_iter()
                .zip(loads)
                .map(|(part, (load, iterations))| LoadedScenario {
                    name: part.name,
                    program: part.program,
                    load,
                    iterations,
                })
                .collect(),
            dealing: scenario.dealing,
            groups: scenario.groups,
            data: Arc::clone(&self.data),
            settings,
        };
        // A step that could not be converted is refused already, and without it the rest would be misplaced.
        if !scenario.is_partial && !arm.steps.is_empty() {
            let places = WrittenPlaces {
                stacks: &stacks,
                written: &written,
                conditions: &scenario.conditions,
                pauses: &scenario.pauses,
                headers_at: &at.key("headers"),
            };
            plan::check(loader, &arm, places);
        }
        Some(arm)
    }

    /// The method's words in the place of an arm's load. What it says only where nobody else does gives way to what is written.
    fn by_method(&self, arm: &ArmWire) -> Option<(LoadWire, Pointer)> {
        let (mut load, at) = self.by_method.clone()?;
        let written = arm.load.iter().chain([&self.wire.load]);
        for written in written {
            load.warmup = load.warmup.filter(|_| written.warmup.is_none());
            load.timeout = load.timeout.filter(|_| written.timeout.is_none());
            load.profile = load.profile.filter(|_| written.profile.is_none());
        }
        Some((load, at))
    }

    /// The load that a common scenario has for itself.
    fn own_load(&self, arm: &ArmWire, scenario: &str) -> Option<Layer<'_>> {
        if arm.scenario.is_some() {
            return None;
        }
        let scenarios = self.wire.scenarios.as_ref()?;
        let (name, wire) = scenarios.iter().find(|(name, _)| *name == scenario)?;
        let at = Pointer::root().key("scenarios").key(name).key("load");
        Some((wire.load.as_ref()?, at))
    }

    fn names(&self) -> Vec<String> {
        self.wire
            .components
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// Loads speak HTTP.
    fn refuse_what_takes_no_load(&self, loader: &mut Loader<'_>, name: &str, at: &Pointer) {
        let found = self.components.iter().find(|it| it.name == name);
        if let Some(ComponentKind::External(external)) = found.map(|it| &it.kind)
            && external.scheme == Scheme::Tcp
        {
            let url = external.url();
            loader.refuse(
                at,
                format!("`{name}` is at `{url}`, where no load goes: write `http://` or `https://` there, or another target"),
            );
        }
    }

    fn target(&self, loader: &mut Loader<'_>, wire: &ArmWire, at: &Pointer) -> Option<TargetRef> {
        if wire.load.as_ref().is_some_and(|load| load.target.is_some()) {
            let message =
                "an arm's `target` does not belong in its `load`: move it up, next to `load`";
            loader.refuse_key(at.key("load").key("target"), message);
        }
        let own = wire
            .target
            .as_deref()
            .map(|target| (target, at.key("target")));
        let common = self
            .wire
            .load
            .target
            .as_deref()
            .map(|target| (target, self.load_at.key("target")));
        let Some((text, at)) = own.or(common) else {
            if let [only] = self.components {
                self.refuse_what_takes_no_load(loader, &only.name, &at.key("target"));
                return Some(TargetRef {
                    component: only.name.clone(),
                    listener: None,
                });
            }
            if !self.wire.components.0.is_empty() {
                loader.refuse(
                    at.key("target"),
                    "is missing: write the name of a component here, or in `load`",
                );
            }
            return None;
        };
        let (component, listener) = text
            .split_once('/')
            .map_or((text, None), |(name, listener)| (name, Some(listener)));
        let names = self.names();
        if let Err(message) = topology::check_listener(self.components, &names, component, listener)
        {
            loader.refuse(&at, message);
            return None;
        }
        self.refuse_what_takes_no_load(loader, component, &at);
        Some(TargetRef {
            component: component.to_owned(),
            listener: listener.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;

    const FILE: &str = "
version: 1
name: x
components:
  upstream: { mock: {} }
  proxy: { command: [proxy, \"${upstream.port}\"], listeners: { main: auto, admin: auto } }
scenario:
  - { get: /a, headers: { Accept: text/plain, Via: a } }
  - { post: /a, body: 'x ${secret.key}', pause: 1s, timeout: 2s, check: { status: [200, 404] } }
  - { post: /a, body_file: body.bin, name: upload, check: { status: 201 } }
  - { get: /a }
load: { rate: 10/s, duration: 5s, target: upstream }
arms:
  direct: {}
  through:
    target: proxy/admin
    headers: { via: \"${proxy.host}\", Authorization: \"${secret.key}\" }
  other: { target: proxy, scenario: [{ delete: /b }] }
";

    fn experiment() -> crate::Experiment {
        Memory::new(FILE, &[("e/body.bin", "\u{1}binary")])
            .load(&[])
            .unwrap()
    }

    #[test]
    fn arms_carry_their_own_scenario_and_target() {
        let experiment = experiment();
        let shown: Vec<String> = experiment
            .arms
            .iter()
            .map(|arm| {
                let steps: Vec<String> = arm
                    .steps
                    .iter()
                    .map(|step| {
                        let headers: Vec<String> = step
                            .exchange
                            .headers
                            .iter()
                            .map(|(name, value)| format!("{name}={}", value.source()))
                            .collect();
                        format!("  {} [{}]", step.exchange.name, headers.join(" "))
                    })
                    .collect();
                format!("{} -> {}\n{}", arm.name, arm.target, steps.join("\n"))
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        direct -> upstream
          GET /a [Accept=text/plain Via=a]
          POST /a []
          upload []
          GET /a (2) []
        through -> proxy/admin
          GET /a [Accept=text/plain via=${proxy.host} Authorization=${secret.key}]
          POST /a [via=${proxy.host} Authorization=${secret.key}]
          upload [via=${proxy.host} Authorization=${secret.key}]
          GET /a (2) [via=${proxy.host} Authorization=${secret.key}]
        other -> proxy
          DELETE /b []
        ");
    }
}
