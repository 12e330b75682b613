//! The generator's plan for an arm, and its own verdict on it in terms of the file.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use plimsoll_base::document::{Path as Pointer, Segment};
use plimsoll_load::plan::{self, Load, Plan, Profile};

use super::Arm;
use crate::experiment::load::Layers;
use crate::experiment::loader::Loader;
use crate::experiment::scenario::Body;
use crate::experiment::template::{Reference, Template, Value};

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

/// Lets the generator itself judge the arm's plan, and says where in the file each of its complaints belongs.
pub(super) fn check(
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
    let anything = |_: &Reference| Ok::<_, Infallible>(Value::Plain("/".to_owned()));
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
    use super::*;
    use crate::experiment::memory::Memory;
    use crate::experiment::secret::Secret;

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
            headers.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(step.body, b"x s3cret");
        assert_eq!((step.method.as_str(), step.path.as_str()), ("POST", "/a"));
        assert_eq!(plan.steps[1].body, b"\x01binary");
        assert_eq!((plan.seed, plan.shards), (7, 2));
    }
}
