//! `cpu`: a component gets less processor time.

use super::super::{Step, step};
use super::Kind;
use crate::kernel_file;
use crate::topology::cgroup;
use crate::topology::component::{Target, Topology};
use plimsoll_experiment::CORES_APART;

pub(super) struct Cpu {
    component: String,
    cores: f64,
    /// The component, and how often it had been throttled before.
    before: Option<(Target, u64)>,
}

impl Cpu {
    pub(super) fn new(component: String, cores: f64) -> Self {
        Self {
            component,
            cores,
            before: None,
        }
    }
}

/// Whether processor time can be limited here.
pub(super) fn check() -> Result<(), String> {
    cgroup::check(false).map_err(|error| error.to_string())
}

impl Kind for Cpu {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let held = topology.hold(&self.component, Some(self.cores));
        let target = topology.target(&self.component);
        self.before = target.clone().map(|target| {
            let before = throttled(&target).unwrap_or(0);
            (target, before)
        });
        let cores = self.cores;
        step(async move {
            held.map_err(|error| error.to_string())?;
            let limit = target
                .as_ref()
                .and_then(limit)
                .ok_or("its limit cannot be read back")?;
            match (limit - cores).abs() < CORES_APART {
                true => Ok(format!("its group is limited to {limit:.2} processors")),
                false => Err(format!("its group is limited to {limit:.2} processors")),
            }
        })
    }

    fn unexercised(&mut self) -> Option<String> {
        let (target, before) = self.before.as_ref()?;
        let Some(after) = throttled(target) else {
            return Some("its throttling cannot be read".to_owned());
        };
        (after <= *before)
            .then(|| "not exercised: it never wanted more processor time than it had".to_owned())
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let released = topology.hold(&self.component, None);
        let (target, cores) = (topology.target(&self.component), self.cores);
        step(async move {
            released.map_err(|error| error.to_string())?;
            let limit = target.as_ref().and_then(limit);
            let limit = limit.ok_or("its limit cannot be read back")?;
            if (limit - cores).abs() < CORES_APART {
                return Err(format!("its group is still limited to {cores} processors"));
            }
            match limit.is_finite() {
                true => Ok(format!("its group is limited to {limit:.2} processors")),
                false => Ok("its group is not limited".to_owned()),
            }
        })
    }
}

/// The limit of its group in processors; infinite without one.
fn limit(target: &Target) -> Option<f64> {
    let read = |name: &str| kernel_file::read(target.group_file(name)?).ok();
    let (quota, period) = match read("cpu.max") {
        Some(both) => {
            let (quota, period) = both.trim().split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        }
        None => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    let quota: f64 = match quota.trim() {
        "max" | "-1" => f64::INFINITY,
        quota => quota.parse().ok()?,
    };
    let period: f64 = period.trim().parse().ok()?;
    Some(quota / period)
}

/// In how many periods its group has had to wait.
fn throttled(target: &Target) -> Option<u64> {
    let text = kernel_file::read(target.group_file("cpu.stat")?).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("nr_throttled "))?;
    line.trim().parse().ok()
}
