//! Arms: the alternatives under comparison, each with everything that its load needs.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use plimsoll_base::document::{Path as Pointer, Segment};
use plimsoll_load::plan::{self, Load, Plan, Profile};

use super::component::Component;
use super::load::{self, Layers, LoadSettings};
use super::loader::Loader;
use super::name::refuse_name;
use super::scenario::{self, Body, Step};
use super::template::{Reference, Template, Value};
use super::topology;
use super::wire::{ArmWire, ExperimentWire};

/// One alternative.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Where its load goes.
    pub target: TargetRef,
    /// Its scenario; at least one step.
    pub steps: Vec<Step>,
    /// Its load.
    pub settings: LoadSettings,
}

/// A listener of a component, written `component` or `component/listener`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRef {
    /// The component's name.
    pub component: String,
    /// One of its listeners; `None` is `main`.
    pub listener: Option<String>,
}

impl fmt::Display for TargetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.component)?;
        self.listener
            .as_ref()
            .map_or(Ok(()), |listener| write!(f, "/{listener}"))
    }
}

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
        let mut text = |template: &Template| {
            template
                .resolve(&mut lookup)
                .map(|value| value.expose().to_owned())
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let mut headers = Vec::with_capacity(step.headers.len());
            for (name, value) in &step.headers {
                headers.push((name.clone(), text(value)?));
            }
            steps.push(plan::Step {
                name: step.name.clone(),
                method: step.method.to_owned(),
                path: text(&step.path)?,
                headers,
                body: match &step.body {
                    Body::Empty => Vec::new(),
                    Body::Inline(template) => text(template)?.into_bytes(),
                    Body::File { bytes, .. } => bytes.clone(),
                },
                timeout: step.timeout,
                pause: step.pause,
                check: step.check.clone(),
            });
        }
        Ok(Plan {
            seed,
            shards,
            target,
            steps,
            load: self.settings.load.clone(),
            warmup: self.settings.warmup,
            duration: self.settings.duration,
            connections: self.settings.connections,
            pacing: self.settings.pacing,
            timeout: self.settings.timeout,
        })
    }
}

/// The arm of a file without `arms`.
const ONLY: &str = "main";

pub(super) fn convert_all(
    loader: &mut Loader<'_>,
    wire: &ExperimentWire,
    components: &[Component],
) -> Vec<Arm> {
    let root = Pointer::root();
    let scenario_at = root.key("scenario");
    let common = Common {
        wire,
        components,
        load_at: root.key("load"),
        steps: scenario::convert(loader, &wire.scenario, &scenario_at),
        scenario_at,
    };
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

/// What arms have in common.
struct Common<'a> {
    wire: &'a ExperimentWire,
    components: &'a [Component],
    load_at: Pointer,
    scenario_at: Pointer,
    steps: Vec<Step>,
}

impl Common<'_> {
    fn convert(
        &self,
        loader: &mut Loader<'_>,
        name: &str,
        wire: &ArmWire,
        at: &Pointer,
    ) -> Option<Arm> {
        let own_scenario_at = at.key("scenario");
        let (mut steps, written, steps_at) = match &wire.scenario {
            Some(own) => (
                scenario::convert(loader, own, &own_scenario_at),
                own.len(),
                &own_scenario_at,
            ),
            None => (
                self.steps.clone(),
                self.wire.scenario.len(),
                &self.scenario_at,
            ),
        };
        let headers = scenario::headers(loader, wire.headers.as_ref(), &at.key("headers"));
        for step in &mut steps {
            step.headers.retain(|(name, _)| {
                !headers
                    .iter()
                    .any(|(other, _)| other.eq_ignore_ascii_case(name))
            });
            step.headers.extend(headers.iter().cloned());
        }
        let own_load_at = at.key("load");
        let layers = Layers::new(
            (&self.wire.load, &self.load_at),
            wire.load.as_ref().map(|own| (own, &own_load_at)),
        );
        let target = self.target(loader, wire, at);
        let settings = load::convert(loader, layers);
        let arm = Arm {
            name: name.to_owned(),
            target: target?,
            steps,
            settings: settings?,
        };
        // A step that could not be converted is refused already, and without it the rest would be misplaced.
        if arm.steps.len() == written && written > 0 {
            check_plan(loader, &arm, layers, steps_at, &at.key("headers"));
        }
        Some(arm)
    }

    fn names(&self) -> Vec<String> {
        self.wire
            .components
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    fn target(&self, loader: &mut Loader<'_>, wire: &ArmWire, at: &Pointer) -> Option<TargetRef> {
        if wire.load.as_ref().is_some_and(|load| load.target.is_some()) {
            let message = "an arm names its target itself: move it up, beside `load`";
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
        topology::check_listener(self.components, &self.names(), component, listener).map_or_else(
            |message| {
                loader.refuse(&at, message);
                None
            },
            |()| {
                Some(TargetRef {
                    component: component.to_owned(),
                    listener: listener.map(str::to_owned),
                })
            },
        )
    }
}

/// Lets the generator itself judge the arm's plan, and says where in the file each of its complaints belongs.
fn check_plan(
    loader: &mut Loader<'_>,
    arm: &Arm,
    layers: Layers<'_>,
    steps_at: &Pointer,
    headers_at: &Pointer,
) {
    // Any address and any value will do: the file decides neither.
    let target = plan::Target {
        authority: "target".to_owned(),
        addresses: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 80))],
    };
    let anything = |_: &Reference| Ok::<_, std::convert::Infallible>(Value::Plain("/".to_owned()));
    let Ok(plan) = arm.plan(0, 1, target, anything);
    let Err(problems) = plan.check() else {
        return;
    };
    for problem in problems.0 {
        let at = place(loader, &problem.path, arm, layers, steps_at, headers_at);
        loader.refuse(at, problem.message);
    }
}

/// Where in the file a field of the plan is written.
fn place(
    loader: &Loader<'_>,
    field: &str,
    arm: &Arm,
    layers: Layers<'_>,
    steps_at: &Pointer,
    headers_at: &Pointer,
) -> Pointer {
    let path = Pointer::from(field);
    let step = |index: &usize| (steps_at.index(*index), &arm.steps[*index]);
    match path.segments() {
        [
            Segment::Key(_),
            Segment::Index(index),
            Segment::Key(key),
            Segment::Index(header),
        ] if key == "headers" => {
            let (at, step) = step(index);
            let name = &step.headers[*header].0;
            let of_arm = headers_at.key(name);
            if loader.is_written(&of_arm) {
                of_arm
            } else {
                at.key("headers").key(name)
            }
        }
        [Segment::Key(_), Segment::Index(index), rest @ ..] => {
            let (at, step) = step(index);
            match rest {
                [Segment::Key(key)] if key == "path" => at.key(&step.method.to_ascii_lowercase()),
                rest => rest.iter().fold(at, |at, segment| match segment {
                    Segment::Key(key) => at.key(key),
                    Segment::Index(index) => at.index(*index),
                }),
            }
        }
        [Segment::Key(load), Segment::Key(profile), Segment::Key(key)]
            if load == "load" && profile == "profile" =>
        {
            match arm.settings.load {
                Load::Open {
                    profile: Profile::Ramp { .. },
                    ..
                } => layers.place(loader, "ramp").key(key),
                Load::Open {
                    profile: Profile::Staircase { .. },
                    ..
                } => layers.place(loader, "staircase").key(key),
                _ => layers.place(loader, key),
            }
        }
        [.., Segment::Key(key)] => layers.place(loader, key),
        _ => Pointer::root(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::memory::Memory;
    use super::super::secret::Secret;
    use super::*;

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

    fn experiment() -> crate::experiment::Experiment {
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
                            .headers
                            .iter()
                            .map(|(name, value)| format!("{name}={}", value.source()))
                            .collect();
                        format!("  {} [{}]", step.name, headers.join(" "))
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

    #[test]
    fn a_plan_has_its_substitutions_made() {
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
        let Ok(plan) = experiment()
            .arm("through")
            .unwrap()
            .plan(7, 2, target, lookup);
        plan.check().unwrap();
        let step = &plan.steps[1];
        let headers = [("via", "localhost"), ("Authorization", "s3cret")];
        assert_eq!(
            step.headers,
            headers.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(step.body, b"x s3cret");
        assert_eq!((step.method.as_str(), step.path.as_str()), ("POST", "/a"));
        assert_eq!(plan.steps[2].body, b"\x01binary");
        assert_eq!((plan.seed, plan.shards), (7, 2));
    }
}
