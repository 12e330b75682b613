//! Whether a plan can be carried out: every problem of it, at once.

use super::{Load, Pacing, Plan, Profile, Step};
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// More shards than any host has cores for.
const MAX_SHARDS: usize = 1024;
/// Virtual users are numbered and held in memory.
const MAX_USERS: u32 = 1_000_000;
/// Waiting arrivals are held in memory.
const MAX_QUEUE: u32 = 10_000_000;
/// Warm-up and duration together: 1,000 hours.
const MAX_TOTAL: Duration = Duration::from_secs(3_600_000);
/// Arrivals per second that can be scheduled.
const MAX_RATE: f64 = 10_000_000.0;
/// Fields that the generator writes itself.
const OWN_FIELDS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// Where in the plan, such as `steps[0].path`.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Everything that is wrong with a plan; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblems(pub Vec<PlanProblem>);

impl fmt::Display for PlanProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanProblems {}

impl Plan {
    /// Whether the plan can be carried out.
    ///
    /// # Errors
    /// Every problem, in the order of the plan's fields.
    pub fn check(&self) -> Result<(), PlanProblems> {
        let mut found = Found::default();
        found.unless(
            (1..=MAX_SHARDS).contains(&self.shards),
            "shards",
            format_args!("must be 1 to {MAX_SHARDS}"),
        );
        self.check_target(&mut found);
        self.check_steps(&mut found);
        self.check_load(&mut found);
        found.unless(
            !self.duration.is_zero(),
            "duration",
            "must be longer than 0",
        );
        found.unless(
            self.warmup
                .checked_add(self.duration)
                .is_some_and(|total| total <= MAX_TOTAL),
            "duration",
            "with the warm-up it must not exceed 1000h",
        );
        found.unless(!self.timeout.is_zero(), "timeout", "must be longer than 0");
        if let Pacing::Gap(gap) = self.pacing {
            found.unless(
                gap <= Duration::from_secs(1),
                "pacing",
                "the gap must not exceed 1s",
            );
        }
        found.into_result()
    }

    fn check_target(&self, found: &mut Found) {
        found.unless(
            !self.target.authority.is_empty() && self.target.authority.bytes().all(is_visible),
            "target.authority",
            "must be a host, optionally with a port",
        );
        found.unless(
            !self.target.addresses.is_empty(),
            "target.addresses",
            "must name at least one address",
        );
    }

    fn check_steps(&self, found: &mut Found) {
        found.unless(
            !self.steps.is_empty(),
            "steps",
            "must have at least one step",
        );
        let mut names = HashSet::new();
        for (index, step) in self.steps.iter().enumerate() {
            let path = |field: &str| format!("steps[{index}].{field}");
            found.unless(
                names.insert(&step.name),
                &path("name"),
                format_args!("`{}` names another step already", step.name),
            );
            check_step(step, path, found);
        }
    }

    fn check_load(&self, found: &mut Found) {
        let users = self.users();
        let field = match self.load {
            Load::Open { .. } => "load.connections",
            Load::Closed { .. } => "load.users",
        };
        found.unless(
            (1..=MAX_USERS).contains(&users),
            field,
            format_args!("must be 1 to {MAX_USERS}"),
        );
        if let Load::Open { profile, queue, .. } = self.load {
            found.unless(
                queue <= MAX_QUEUE,
                "load.queue",
                format_args!("must not exceed {MAX_QUEUE}"),
            );
            check_profile(profile, self.warmup.saturating_add(self.duration), found);
        }
    }
}

fn check_step(step: &Step, path: impl Fn(&str) -> String, found: &mut Found) {
    found.unless(
        is_token(&step.method),
        &path("method"),
        "must be a method such as GET",
    );
    found.unless(
        step.method != "CONNECT",
        &path("method"),
        "CONNECT is not available in this version",
    );
    found.unless(
        step.path.starts_with('/') && step.path.bytes().all(is_visible),
        &path("path"),
        "must begin with / and have no spaces or control characters (percent-encode them)",
    );
    for (index, (name, value)) in step.headers.iter().enumerate() {
        let at = path(&format!("headers[{index}]"));
        found.unless(
            is_token(name),
            &at,
            format_args!("`{name}` is not a field name"),
        );
        found.unless(
            !OWN_FIELDS.contains(&name.to_ascii_lowercase().as_str()),
            &at,
            format_args!("`{name}` is written by the generator itself"),
        );
        found.unless(
            value.bytes().all(|b| b == b'\t' || (b >= b' ' && b != 127)),
            &at,
            format_args!("the value of `{name}` has control characters"),
        );
    }
    found.unless(
        step.timeout.is_none_or(|timeout| !timeout.is_zero()),
        &path("timeout"),
        "must be longer than 0",
    );
    if let Some(statuses) = &step.check.status {
        found.unless(
            !statuses.is_empty() && statuses.iter().all(|s| (200..=599).contains(s)),
            &path("check.status"),
            "must list statuses from 200 to 599",
        );
    }
}

fn check_profile(profile: Profile, total: Duration, found: &mut Found) {
    let mut rate = |value: f64, field: &str, least: f64| {
        found.unless(
            value.is_finite() && (least..=MAX_RATE).contains(&value),
            &format!("load.profile.{field}"),
            format_args!("must be at least {least} and at most {MAX_RATE} per second"),
        );
    };
    /// One arrival in 100 hours: below this a schedule is empty for all purposes.
    const LEAST: f64 = 1.0 / 360_000.0;
    match profile {
        Profile::Constant { rate: value } | Profile::Poisson { rate: value } => {
            rate(value, "rate", LEAST);
        }
        Profile::Ramp { from, to } => {
            rate(from, "from", 0.0);
            rate(to, "to", 0.0);
            found.unless(
                from.max(to) >= LEAST,
                "load.profile.to",
                "one of `from` and `to` must be above 0",
            );
        }
        Profile::Staircase { from, step, every } => {
            rate(from, "from", 0.0);
            found.unless(
                every >= Duration::from_millis(1),
                "load.profile.every",
                "must be at least 1ms",
            );
            let levels = (total.as_secs_f64() / every.as_secs_f64().max(1e-3)).ceil();
            let last = from + step * (levels - 1.0).max(0.0);
            found.unless(
                step.is_finite() && (0.0..=MAX_RATE).contains(&last) && from.max(last) >= LEAST,
                "load.profile.step",
                format_args!("leads to a last level of {last} per second"),
            );
        }
    }
}

/// A byte of a request target or an authority: visible ASCII, or a raw byte beyond it.
fn is_visible(byte: u8) -> bool {
    byte > b' ' && byte != 127
}

/// A token of RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[derive(Default)]
struct Found(Vec<PlanProblem>);

impl Found {
    fn unless(&mut self, holds: bool, path: &str, message: impl fmt::Display) {
        if !holds {
            self.0.push(PlanProblem {
                path: path.to_owned(),
                message: message.to_string(),
            });
        }
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
    use super::super::*;
    use std::time::Duration;

    fn plan() -> Plan {
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
                path: "/".to_owned(),
                headers: vec![],
                body: vec![0, 255],
                timeout: None,
                pause: Duration::ZERO,
                check: Check::default(),
            }],
            load: Load::Closed {
                users: 1,
                think: Duration::ZERO,
            },
            warmup: Duration::ZERO,
            duration: Duration::from_secs(1),
            connections: ConnectionPolicy::KeepAlive,
            pacing: Pacing::default(),
            timeout: Duration::from_secs(1),
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
        step.path = "http://x/".to_owned();
        step.headers = vec![
            ("Content-Length".to_owned(), "3".to_owned()),
            ("X".to_owned(), "a\r\nb".to_owned()),
        ];
        step.check.status = Some(vec![]);
        bad.steps.push(plan().steps.remove(0));
        bad.load = Load::Open {
            profile: Profile::Staircase {
                from: 10.0,
                step: -20.0,
                every: Duration::from_millis(100),
            },
            connections: 0,
            queue: 0,
        };
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
        load.connections: must be 1 to 1000000
        load.profile.step: leads to a last level of -170 per second
        duration: must be longer than 0
        timeout: must be longer than 0
        pacing: the gap must not exceed 1s
        ");
    }

    #[test]
    fn rates() {
        let check = |profile, expected: bool| {
            let mut plan = plan();
            plan.load = Load::Open {
                profile,
                connections: 1,
                queue: 0,
            };
            assert_eq!(plan.check().is_ok(), expected, "{profile:?}");
        };
        check(Profile::Constant { rate: 0.5 }, true);
        check(Profile::Constant { rate: 0.0 }, false);
        check(Profile::Poisson { rate: f64::NAN }, false);
        check(
            Profile::Ramp {
                from: 0.0,
                to: 10.0,
            },
            true,
        );
        check(Profile::Ramp { from: 0.0, to: 0.0 }, false);
        let every = Duration::from_millis(500);
        check(
            Profile::Staircase {
                from: 2.0,
                step: -2.0,
                every,
            },
            true,
        );
        check(
            Profile::Staircase {
                from: 2.0,
                step: -3.0,
                every,
            },
            false,
        );
    }
}
