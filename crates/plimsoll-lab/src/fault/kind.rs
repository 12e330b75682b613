//! Kinds of faults, one file each: injected, proved, healed, and that proved too.

mod certificate;
mod clock;
mod cpu;
mod disk_full;
mod dns;
mod freeze;
mod kill;
mod link;
mod memory;
mod nothing;
mod packets;
mod power_off;
mod run;
mod toxiproxy;

use super::Step;
use crate::error::LabError;
use crate::topology::component::Topology;
use crate::topology::network;
use crate::undo::Undo;
use plimsoll_experiment::{Component, ComponentKind, Experiment, Fault, FaultKind};
use std::time::Duration;

/// A kind of fault.
pub(super) trait Kind {
    /// The rest to do should everybody who knows of the fault die; nothing where it goes with the components that the run has started.
    ///
    /// # Errors
    /// Why it cannot be injected, in words.
    fn undo(&mut self, _topology: &mut Topology<'_>) -> Result<Option<Undo>, String> {
        Ok(None)
    }

    /// Injects it, and proves its effect.
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step;

    /// Why the fault, which is about to be healed, was in force and yet had no effect on anything; `None`: it had, or that shows at once.
    fn unexercised(&mut self) -> Option<String> {
        None
    }

    /// How long its heal may take in addition, because components are started anew.
    fn restart_within(&self, _topology: &Topology<'_>) -> Duration {
        Duration::ZERO
    }

    /// Heals it, also when it was not injected or only in part, and proves that nothing is left of it.
    fn heal(&mut self, topology: &mut Topology<'_>) -> Step;
}

/// A proof of the network's own faults as steps have them.
fn told(proof: Result<network::Proof, network::FaultError>) -> Result<String, String> {
    proof
        .map(|proof| proof.0)
        .map_err(|error| error.to_string())
}

/// A fault of this kind.
pub(super) fn of(fault: &Fault) -> Box<dyn Kind> {
    match fault.kind.clone() {
        FaultKind::Kill(component) => Box::new(kill::Kill::new(component)),
        FaultKind::Freeze(component) => Box::new(freeze::Freeze::new(component)),
        FaultKind::Cpu { component, cores } => Box::new(cpu::Cpu::new(component, cores)),
        FaultKind::Memory { component, bytes } => Box::new(memory::Memory::new(component, bytes)),
        FaultKind::Link { link, effect } => Box::new(link::Broken::new(link, effect)),
        FaultKind::Certificate(certificate) => Box::new(certificate::Replaced::new(certificate)),
        FaultKind::Clock { component, by_s } => Box::new(clock::Clock::new(component, by_s)),
        FaultKind::Packets(packets) => Box::new(packets::Between::new(packets)),
        FaultKind::Dns { host, name, answer } => Box::new(dns::Lied::new(host, name, answer)),
        FaultKind::PowerOff(host) => Box::new(power_off::PowerOff::new(host)),
        FaultKind::DiskFull(component) => Box::new(disk_full::DiskFull::new(component)),
        FaultKind::Run(run) => Box::new(run::Commands::new(run)),
        FaultKind::Toxiproxy(proxy) => Box::new(toxiproxy::Foreign::new(proxy)),
        FaultKind::Nothing => Box::new(nothing::Nothing),
    }
}

/// Whether this host can do what the faults of an experiment need.
///
/// # Errors
/// [`LabError::Environment`] with what is missing, and what to do about it.
pub fn check(experiment: &Experiment) -> Result<(), LabError> {
    let has_disk = |component: &Component| matches!(&component.kind, ComponentKind::Command(command) if command.disk.is_some());
    if experiment.network.is_some() || experiment.components.iter().any(has_disk) {
        let missing = network::check();
        let missing = missing
            .iter()
            .map(|one| format!("{}: {}", one.what, one.remedy));
        let missing: Vec<String> = missing.collect();
        if !missing.is_empty() {
            return Err(LabError::Environment(format!(
                "hosts and disks of components are not possible here: {}",
                missing.join("; ")
            )));
        }
    }
    for fault in &experiment.faults {
        let checked = match &fault.kind {
            FaultKind::Cpu { .. } => cpu::check(),
            FaultKind::Memory { .. } => memory::check(),
            FaultKind::Clock { .. } => clock::check(),
            _ => Ok(()),
        };
        checked.map_err(|why| impossible(fault, &why))?;
    }
    Ok(())
}

/// Whether foreign proxies that faults of an experiment need are there.
///
/// # Errors
/// [`LabError::Environment`] with what is missing.
pub(crate) async fn check_foreign(experiment: &Experiment) -> Result<(), LabError> {
    for fault in &experiment.faults {
        if let FaultKind::Toxiproxy(proxy) = &fault.kind {
            let checked = toxiproxy::check(proxy).await;
            checked.map_err(|why| impossible(fault, &why))?;
        }
    }
    Ok(())
}

fn impossible(fault: &Fault, why: &str) -> LabError {
    let (name, word) = (&fault.name, fault.kind.word());
    LabError::Environment(format!(
        "fault `{name}` ({word}) is not possible here: {why}"
    ))
}
