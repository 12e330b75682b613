//! Whether a plan can be carried out: every problem of it, at once. That compiles its scenarios and reads its keys, which the plan itself knows nothing of.

mod connections;
mod load;

use crate::plan::{
    Load, MAX_TOTAL, Pacing, Piece, Plan, PlanField, PlanPlace, PlanProblem, PlanProblems,
    ScenarioPlace, Step, StepField, StepPlace, Text, steps_of,
};
use crate::scenario::Program;
use plimsoll_http::decode::is_token;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// More shards than any host has cores for.
const MAX_SHARDS: usize = 1024;
/// Virtual users are numbered and held in memory.
const MAX_USERS: u32 = 1_000_000;
/// Fields that the generator writes itself.
const OWN_FIELDS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

impl Plan {
    /// Whether the plan can be carried out.
    ///
    /// # Errors
    /// Every problem, in the order of the plan's fields.
    pub fn check(&self) -> Result<(), PlanProblems> {
        let mut found = ProblemList::default();
        found.unless(
            (1..=MAX_SHARDS).contains(&self.shards),
            PlanPlace::Field(PlanField::Shards),
            format_args!("must be 1 to {MAX_SHARDS}"),
        );
        self.check_target(&mut found);
        self.check_steps(&mut found);
        self.check_scenarios(&mut found);
        if let Err(problems) = Program::compile(self) {
            found.0.extend(problems);
        }
        connections::check(self, &mut found);
        found.unless(
            !self.duration.is_zero(),
            PlanPlace::Field(PlanField::Duration),
            "must be longer than 0",
        );
        found.unless(
            self.warmup
                .checked_add(self.duration)
                .is_some_and(|total| total <= MAX_TOTAL),
            PlanPlace::Field(PlanField::Duration),
            "with the warm-up it must not exceed 1000h",
        );
        found.unless(
            !self.timeout.is_zero(),
            PlanPlace::Field(PlanField::Timeout),
            "must be longer than 0",
        );
        if let Pacing::Gap(gap) = self.pacing {
            found.unless(
                gap <= Duration::from_secs(1),
                PlanPlace::Field(PlanField::Pacing),
                "the gap must not exceed 1s",
            );
        }
        found.into_result()
    }

    fn check_target(&self, found: &mut ProblemList) {
        found.unless(
            !self.target.authority.is_empty() && self.target.authority.bytes().all(is_visible),
            PlanPlace::Field(PlanField::Authority),
            "must be a host, optionally with a port",
        );
        found.unless(
            !self.target.addresses.is_empty(),
            PlanPlace::Field(PlanField::Addresses),
            "must name at least one address",
        );
    }

    fn check_steps(&self, found: &mut ProblemList) {
        found.unless(
            !self.steps.is_empty(),
            PlanPlace::Field(PlanField::Steps),
            "must have at least one step",
        );
        let mut names = HashSet::new();
        for (index, step) in self.steps.iter().enumerate() {
            let place = |place| PlanPlace::Step(index, place);
            found.unless(
                names.insert(&step.name),
                place(StepPlace::Field(StepField::Name)),
                format_args!("`{}` names another step already", step.name),
            );
            check_step(step, place, found);
        }
    }

    fn check_scenarios(&self, found: &mut ProblemList) {
        found.unless(
            !self.scenarios.is_empty(),
            PlanPlace::Field(PlanField::Scenarios),
            "must have at least one scenario",
        );
        let users = self.scenarios.iter().map(|scenario| scenario.load.users());
        found.unless(
            // One alone says so itself.
            self.scenarios.len() < 2 || users.fold(0, u32::saturating_add) <= MAX_USERS,
            PlanPlace::Field(PlanField::Scenarios),
            format_args!("must not have more than {MAX_USERS} users together"),
        );
        let mut names = HashSet::new();
        for (index, scenario) in self.scenarios.iter().enumerate() {
            let place = |place| PlanPlace::Scenario(index, place);
            found.unless(
                names.insert(&scenario.name),
                place(ScenarioPlace::Name),
                format_args!("`{}` names another scenario already", scenario.name),
            );
            let mut steps = 0_usize;
            steps_of(&scenario.program, &mut |_| steps += 1);
            found.unless(
                steps > 0,
                place(ScenarioPlace::Program),
                "must have at least one step",
            );
            let is_closed = matches!(scenario.load, Load::Closed { .. });
            let iterations = scenario.iterations;
            found.unless(
                iterations.is_none_or(|number| number > 0 && is_closed),
                place(ScenarioPlace::Iterations),
                "must be at least 1, and belongs to the closed model",
            );
            let place = |at| place(ScenarioPlace::Load(at));
            load::check(&scenario.load, place, found);
        }
    }
}

fn check_step(step: &Step, place: impl Fn(StepPlace) -> PlanPlace, found: &mut ProblemList) {
    let field = |field| place(StepPlace::Field(field));
    found.unless(
        is_token(step.method.as_bytes()),
        field(StepField::Method),
        "must be a method such as GET",
    );
    found.unless(
        step.method != "CONNECT",
        field(StepField::Method),
        "CONNECT is not available in this version",
    );
    found.unless(
        begins_like_a_path(&step.path) && all_literal(&step.path, is_visible),
        field(StepField::Path),
        "must begin with / and have no spaces or control characters (percent-encode them)",
    );
    for (index, (name, value)) in step.headers.iter().enumerate() {
        let at = place(StepPlace::Header(index));
        found.unless(
            is_token(name.as_bytes()),
            at,
            format_args!("`{name}` is not a field name"),
        );
        found.unless(
            !OWN_FIELDS.contains(&name.to_ascii_lowercase().as_str()),
            at,
            format_args!("`{name}` is written by the generator itself"),
        );
        found.unless(
            all_literal(value, |b| b == b'\t' || (b >= b' ' && b != 127)),
            at,
            format_args!("the value of `{name}` has control characters"),
        );
    }
    found.unless(
        step.timeout.is_none_or(|timeout| !timeout.is_zero()),
        field(StepField::Timeout),
        "must be longer than 0",
    );
    if let Some(message) = step.pause.problem() {
        found.add(field(StepField::Pause), message);
    }
    if let Some(statuses) = &step.check.status {
        found.unless(
            !statuses.is_empty() && statuses.iter().all(|s| (200..=599).contains(s)),
            field(StepField::Status),
            "must list statuses from 200 to 599",
        );
    }
}

/// Whether a target begins with a slash, or with a value of which nobody knows yet.
fn begins_like_a_path(text: &Text) -> bool {
    match text.0.first() {
        Some(Piece::Literal(literal)) => literal.starts_with('/'),
        Some(Piece::Value(_)) => true,
        Some(Piece::Bytes(_)) | None => false,
    }
}

/// Whether this holds of every byte that is written out.
fn all_literal(text: &Text, holds: impl Fn(u8) -> bool) -> bool {
    text.0.iter().all(|piece| match piece {
        Piece::Literal(literal) => literal.bytes().all(&holds),
        Piece::Bytes(bytes) => bytes.iter().copied().all(&holds),
        Piece::Value(_) => true,
    })
}

/// A byte of a request target or an authority: visible ASCII, or a raw byte beyond it.
fn is_visible(byte: u8) -> bool {
    byte > b' ' && byte != 127
}

#[derive(Default)]
struct ProblemList(Vec<PlanProblem>);

impl ProblemList {
    fn unless(&mut self, holds: bool, place: PlanPlace, message: impl fmt::Display) {
        if !holds {
            self.0.push(PlanProblem {
                place,
                message: message.to_string(),
            });
        }
    }

    fn add(&mut self, place: PlanPlace, message: impl fmt::Display) {
        self.unless(false, place, message);
    }

    fn into_result(self) -> Result<(), PlanProblems> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(PlanProblems(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::*;
    use std::time::Duration;

    fn plan() -> Plan {
        let closed = Load::closed(1, Duration::ZERO, Duration::from_secs(1));
        Plan {
            seed: 1,
            shards: 1,
            target: Target {
                authority: "localhost".to_owned(),
                addresses: vec!["127.0.0.1:80".parse().unwrap()],
            },
            steps: vec![Step {
                name: "home".to_owned(),
                method: "GET".to_owned(),
                path: "/".into(),
                body: vec![0, 255].into(),
                ..Step::default()
            }],
            scenarios: vec![Scenario::of_steps("main", closed, 1)],
            data: Data::default(),
            warmup: Duration::ZERO,
            duration: Duration::from_secs(1),
            connections: Connections::default(),
            pacing: Pacing::default(),
            timeout: Duration::from_secs(1),
            singly: false,
        }
    }

    #[test]
    fn a_plan_survives_json() {
        let text = serde_json::to_string(&plan()).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan());
        assert_eq!(plan().check(), Ok(()));
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut bad = plan();
        bad.shards = 0;
        bad.target.authority = "a b".to_owned();
        bad.target.addresses.clear();
        bad.duration = Duration::ZERO;
        bad.timeout = Duration::ZERO;
        bad.pacing = Pacing::Gap(Duration::from_secs(2));
        let step = &mut bad.steps[0];
        step.method = "G ET".to_owned();
        step.path = "http://x/".into();
        step.headers = vec![
            ("Content-Length".to_owned(), "3".into()),
            ("X".to_owned(), "a\r\nb".into()),
        ];
        step.check.status = Some(vec![]);
        bad.steps.push(plan().steps.remove(0));
        let constant = Profile::Constant { rate: 0.0 };
        let stretch = constant.lasting(Duration::from_secs(1));
        bad.scenarios[0].load = Load::open(vec![stretch], 0, 0);
        bad.scenarios.push(bad.scenarios[0].clone());
        bad.scenarios[1].program.clear();
        bad.warmup = Duration::from_secs(1);
        insta::assert_snapshot!(bad.check().unwrap_err(), @r"
        shards: must be 1 to 1024
        target.authority: must be a host, optionally with a port
        target.addresses: must name at least one address
        steps[0].method: must be a method such as GET
        steps[0].path: must begin with / and have no spaces or control characters (percent-encode them)
        steps[0].headers[0]: `Content-Length` is written by the generator itself
        steps[0].headers[1]: the value of `X` has control characters
        steps[0].check.status: must list statuses from 200 to 599
        steps[1].name: `home` names another step already
        scenarios[0].load.connections: must be 1 to 1000000
        scenarios[0].load.profile[0].rate: must be at least 0.000002777777777777778 and at most 10000000 per second
        scenarios[1].name: `main` names another scenario already
        scenarios[1].program: must have at least one step
        scenarios[1].load.connections: must be 1 to 1000000
        scenarios[1].load.profile[0].rate: must be at least 0.000002777777777777778 and at most 10000000 per second
        duration: must be longer than 0
        timeout: must be longer than 0
        pacing: the gap must not exceed 1s
        ");
    }
}
