//! `memory`: a component may use less memory. What it needs beyond that the system takes from its page cache, or ends it; then it is started
//! anew when the fault is over.

use super::super::{Step, step};
use super::Kind;
use super::kill;
use crate::kernel_file;
use crate::topology::cgroup;
use crate::topology::component::{Target, Topology};
use plimsoll_base::units::format_bytes;
use std::fs;
use std::time::Duration;

/// Files with the limit of a group, of version 2 and 1; what stands there for none.
const LIMITS: [(&str, &str); 2] = [("memory.max", "max"), ("memory.limit_in_bytes", "-1")];

pub(super) struct Memory {
    component: String,
    bytes: u64,
    /// The component, and how often it had met a limit before.
    before: Option<(Target, u64)>,
}

impl Memory {
    pub(super) fn new(component: String, bytes: u64) -> Self {
        Self {
            component,
            bytes,
            before: None,
        }
    }
}

/// Whether memory can be limited here.
pub(super) fn check() -> Result<(), String> {
    cgroup::check(true).map_err(|error| error.to_string())
}

impl Kind for Memory {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let target = topology.target(&self.component);
        topology.expect_end(&self.component, true);
        self.before = target.clone().map(|target| {
            let before = met(&target).unwrap_or(0);
            (target, before)
        });
        let bytes = self.bytes;
        step(async move {
            let target = target.ok_or("it does not run")?;
            let used = used(&target).ok_or("its memory cannot be read")?;
            if used > bytes {
                return Err(format!(
                    "it uses {} already: write a higher limit",
                    size(used)
                ));
            }
            set(&target, &bytes.to_string())?;
            let limit = limit(&target).ok_or("its limit cannot be read back")?;
            // The system counts in pages.
            match limit <= bytes {
                true => Ok(format!(
                    "its group is limited to {}, of which it uses {}",
                    size(limit),
                    size(used)
                )),
                false => Err(format!("its group is limited to {}", size(limit))),
            }
        })
    }

    fn unexercised(&mut self) -> Option<String> {
        let (target, before) = self.before.as_ref()?;
        match met(target) {
            None => Some("whether it met its limit cannot be read".to_owned()),
            Some(after) if after <= *before => {
                Some("not exercised: it never needed more memory than it had".to_owned())
            }
            Some(_) => None,
        }
    }

    fn restart_within(&self, topology: &Topology<'_>) -> Duration {
        topology.ready_within(&self.component)
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        topology.expect_end(&self.component, false);
        let target = self.before.as_ref().map(|(target, _)| target.clone());
        let bytes = self.bytes;
        match target {
            Some(target) if target.processes().is_empty() => {
                let ended = topology.take_down(&self.component);
                let restarting = kill::restart(topology, &self.component);
                Box::pin(async move {
                    // Its group goes with its shim, and the next one makes it anew.
                    if let Some(mut child) = ended {
                        child.ended().await;
                    }
                    restarting.await
                })
            }
            target => step(async move {
                let target = target.ok_or("it does not run")?;
                let unlimited = LIMITS
                    .iter()
                    .find_map(|(name, none)| target.group_file(name).map(|_| *none));
                set(&target, unlimited.ok_or("it has no group")?)?;
                if limit(&target).is_some_and(|limit| limit <= bytes) {
                    return Err("its group is still limited".to_owned());
                }
                target.ready().await?;
                Ok("its group is not limited, and it answers".to_owned())
            }),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn size(bytes: u64) -> String {
    format_bytes(bytes as f64)
}

fn set(target: &Target, value: &str) -> Result<(), String> {
    let file = LIMITS.iter().find_map(|(name, _)| target.group_file(name));
    let file = file.ok_or("it has no group whose memory can be limited")?;
    fs::write(&file, value).map_err(|error| format!("{}: {error}", file.display()))
}

fn number(target: &Target, names: [&str; 2]) -> Option<u64> {
    let file = names.iter().find_map(|name| target.group_file(name))?;
    kernel_file::read(file).ok()?.trim().parse().ok()
}

fn limit(target: &Target) -> Option<u64> {
    number(target, LIMITS.map(|(name, _)| name))
}

fn used(target: &Target) -> Option<u64> {
    number(target, ["memory.current", "memory.usage_in_bytes"])
}

/// How often it met its limit: `memory.failcnt` of version 1, `max` and `oom` of `memory.events` of version 2.
fn met(target: &Target) -> Option<u64> {
    let [count, events] = cgroup::MET.map(|name| target.group_text(name));
    if let Some(count) = count {
        return count.trim().parse().ok();
    }
    let events = events?;
    let counts = events.lines().filter_map(|line| {
        let (name, count) = line.split_once(' ')?;
        ["max", "oom"]
            .contains(&name)
            .then(|| count.parse::<u64>().ok())?
    });
    Some(counts.sum())
}
