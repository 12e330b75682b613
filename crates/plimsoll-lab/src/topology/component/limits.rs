//! Limits of components, and the control groups by which they are limited, stopped or ended.

use super::Topology;
use crate::error::LabError;
use crate::topology::cgroup;
use crate::topology::shim::Cgroup;
use plimsoll_experiment::{CPU_PERIOD, Component, CpuQuota, FaultKind};
use std::fs;
use std::path::PathBuf;

impl Topology<'_> {
    /// The groups that a component is started in: those of its limits, and those by which its faults limit, stop or end it.
    ///
    /// # Errors
    /// [`LabError::Environment`] when this host has no place for one that limits.
    pub(super) fn groups(&self, component: &Component) -> Result<Vec<Cgroup>, LabError> {
        let has = |wanted: fn(&FaultKind) -> bool| self.has_fault(&component.name, wanted);
        let quota = component.placement.cpu_quota;
        let is_held =
            self.experiment.method.confirms() || has(|kind| matches!(kind, FaultKind::Cpu { .. }));
        let wanted = cgroup::Wanted {
            cpu: (quota.is_some() || is_held).then_some(quota),
            memory: has(|kind| matches!(kind, FaultKind::Memory { .. }))
                .then(|| self.limit_met(&component.name)),
            whole: has(|kind| matches!(kind, FaultKind::Kill(_) | FaultKind::Freeze(_))),
        };
        cgroup::groups(&self.group(&component.name), &wanted)
    }

    /// Whether a fault of the experiment breaks a component in a certain way.
    pub(super) fn has_fault(&self, component: &str, wanted: fn(&FaultKind) -> bool) -> bool {
        let kinds = self.experiment.fault_kinds().into_iter();
        let mut kinds = kinds.filter(|kind| kind.component() == Some(component));
        kinds.any(|kind| wanted(&kind))
    }

    /// The name of the control group of a component.
    fn group(&self, name: &str) -> String {
        format!("plimsoll-{}-{name}", self.places.run_id)
    }

    /// Where it is left how often a component met its limit of memory: not in its directory, which may be a disk that goes with it.
    fn limit_met(&self, name: &str) -> PathBuf {
        self.places.scratch.join(format!("{name}.limit-met"))
    }

    /// Holds a component that runs to so many cores; without a number, to what the experiment says. It must have been started in a group
    /// of its own, as all are whose cause is to be confirmed.
    ///
    /// # Errors
    /// [`LabError::Environment`] when it is none that this experiment starts, or the host does not permit it.
    pub fn hold(&self, name: &str, cores: Option<f64>) -> Result<(), LabError> {
        let refused =
            |why: String| LabError::Environment(format!("`{name}` cannot be held: {why}"));
        let component = self.experiment.component(name);
        let running = self.running.get(name);
        let (Some(component), true) = (component, running.is_some_and(|one| one.child.is_some()))
        else {
            return Err(refused("it is none that this experiment starts".to_owned()));
        };
        let own = component.placement.cpu_quota;
        let period = own.map_or(CPU_PERIOD, |own| own.period);
        let quota = cores.map(|cores| CpuQuota { cores, period }).or(own);
        let group = cgroup::limit(&self.group(name), quota)?;
        for (file, value) in &group.settings {
            let path = group.dir.join(file);
            fs::write(&path, value)
                .map_err(|error| refused(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }
}
