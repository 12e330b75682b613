//! Whom a fault breaks where roles decide: who leads is asked at the fault's moment, right before it is injected.

use super::kind::Kind;
use super::{Step, step};
use crate::topology::command::{Shim, carry_out, command};
use crate::topology::component::Topology;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::{Choice, Fault, Row, Template};
use plimsoll_report::record::Role;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// How long it may take until somebody leads: after a fault there may be no leader for a while.
pub(super) const CERTAIN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A choice among components by their roles.
#[derive(Debug, Clone)]
pub(crate) struct Aim {
    among: Vec<String>,
    /// Whether the one that leads is broken, or one that does not; `None`: either.
    leads: Option<bool>,
    leader: Vec<Template>,
    draw: Draw,
}

impl Aim {
    /// The choice of a row, if roles decide it, in the trial of this number.
    pub(crate) fn of(row: &Row, seed: u64, trial: u32) -> Option<Self> {
        let Choice::ByRole { leads, leader } = &row.choice else {
            return None;
        };
        Some(Self {
            among: row.among.clone(),
            leads: *leads,
            leader: leader.clone(),
            draw: Draw::new(seed, Stream::Victims, u64::from(trial)),
        })
    }

    /// Asks until somebody leads.
    pub(crate) fn ask(
        &self,
        topology: &mut Topology<'_>,
    ) -> impl Future<Output = Result<String, String>> + 'static {
        let shim = Shim::apart(topology, "leader");
        let asked = command(topology, &self.leader);
        let among = self.among.clone();
        async move {
            let asked = asked?;
            let mut why = "nobody has answered yet".to_owned();
            let until = Instant::now() + CERTAIN_WITHIN;
            loop {
                match timeout_at(until, carry_out(&asked, &shim)).await {
                    Ok(Ok(said)) if among.contains(&said) => return Ok(said),
                    Ok(Ok(said)) => {
                        let among = among.join(", ");
                        why = format!("the command says `{said}`, which is none of {among}");
                    }
                    Ok(Err(error)) => why = error,
                    Err(_) => return Err(format!("who leads is not known: {why}")),
                }
                sleep(AGAIN_AFTER).await;
            }
        }
    }

    /// As a step, whose proof is the name of the one that leads.
    pub(super) fn step(&self, topology: &mut Topology<'_>) -> Step {
        step(self.ask(topology))
    }

    /// Chooses, and has the fault break that one. Gives its role.
    pub(super) fn take(mut self, leader: &str, fault: &mut Fault) -> Role {
        let is_candidate = |name: &&String| match self.leads {
            Some(true) => *name == leader,
            Some(false) => *name != leader,
            None => true,
        };
        let candidates: Vec<&String> = self.among.iter().filter(is_candidate).collect();
        let name = pick(&mut self.draw, &candidates).map_or(leader, |name| name);
        if let Some(kind) = fault.kind.on(name) {
            fault.kind = kind;
        }
        match name == leader {
            true => Role::Leader,
            false => Role::Follower,
        }
    }
}

/// One of these, at random; none of none.
pub(crate) fn pick<T: Copy>(draw: &mut Draw, among: &[T]) -> Option<T> {
    let place = draw.below(among.len().max(1) as u64);
    among.get(usize::try_from(place).ok()?).copied()
}

/// A fault that has nobody to break, for this reason.
pub(super) struct Unaimed(pub(super) String);

impl Kind for Unaimed {
    fn inject(&mut self, _: &mut Topology<'_>) -> Step {
        let why = self.0.clone();
        step(async { Err(why) })
    }

    fn heal(&mut self, _: &mut Topology<'_>) -> Step {
        step(async { Ok("there was nothing to heal".to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::FaultKind;

    #[test]
    fn roles_decide_who_is_broken() {
        let check = |leads: Option<bool>, expected: &[(&str, Role)]| {
            let mut found = Vec::new();
            for number in 0..100 {
                let aim = Aim {
                    among: ["a", "b", "c"].map(str::to_owned).into(),
                    leads,
                    leader: Vec::new(),
                    draw: Draw::new(7, Stream::Victims, number),
                };
                let mut fault = Fault {
                    name: "crash".to_owned(),
                    at: Duration::ZERO,
                    lasts: Duration::ZERO,
                    arms: Vec::new(),
                    kind: FaultKind::Kill("a".to_owned()),
                };
                let role = aim.take("b", &mut fault);
                found.push((fault.kind.component().unwrap().to_owned(), role));
            }
            found.sort();
            found.dedup();
            let found: Vec<(&str, Role)> = found
                .iter()
                .map(|(name, role)| (name.as_str(), *role))
                .collect();
            assert_eq!(found, expected);
        };
        let (leader, follower) = (Role::Leader, Role::Follower);
        check(Some(true), &[("b", leader)]);
        check(Some(false), &[("a", follower), ("c", follower)]);
        check(None, &[("a", follower), ("b", leader), ("c", follower)]);
    }
}
