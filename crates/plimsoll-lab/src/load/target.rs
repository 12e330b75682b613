//! Where an arm's load goes: the target's listener, by name, and those of its addresses that take connections.

use super::LoadSpec;
use crate::error::LabError;
use crate::record::recorder::Recorder;
use crate::topology::component::{Address, Topology};
use plimsoll_load::plan::Target;
use plimsoll_load::reach::{Reached, reach};
use std::net::SocketAddr;

/// Finds the target; which of its addresses are left out, and why, stands in the record once.
pub(super) async fn target(
    spec: LoadSpec<'_>,
    topology: &Topology<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Target, LabError> {
    let target = &spec.arm.target;
    let listener = target.listener.as_deref().unwrap_or("main");
    let address = topology
        .addresses()
        .get(&target.component, listener)
        .ok_or_else(|| {
            let known = topology.addresses().listeners(&target.component).join(", ");
            LabError::Input(format!(
                "target `{target}`: `{}` has no listener `{listener}` (it has: {known})",
                target.component
            ))
        })?;
    let there = Address::new(&spec.experiment.route(&address.host), address.port);
    let Reached {
        addresses,
        left_out,
    } = reach(resolve(&there).await?).await;
    for left_out in left_out {
        recorder.warn_once(&target.component, &format!("`{there}`: {left_out}"))?;
    }
    Ok(Target {
        authority: address.authority(spec.arm.settings.connections.default_port()),
        addresses,
    })
}

/// A component of our own as a target, by its name.
pub(super) async fn of_component(name: &str, topology: &Topology<'_>) -> Result<Target, LabError> {
    let address = topology.addresses().get(name, "main").ok_or_else(|| {
        LabError::Internal(format!("`{name}` is to be a target, and does not listen"))
    })?;
    Ok(Target {
        authority: address.to_string(),
        addresses: resolve(address).await?,
    })
}

async fn resolve(address: &Address) -> Result<Vec<SocketAddr>, LabError> {
    let unknown = |reason: String| {
        LabError::Environment(format!("{address}: the host has no address: {reason}"))
    };
    let found = tokio::net::lookup_host((address.host.as_str(), address.port)).await;
    let addresses: Vec<_> = found.map_err(|error| unknown(error.to_string()))?.collect();
    if addresses.is_empty() {
        return Err(unknown("the name resolves to nothing".to_owned()));
    }
    Ok(addresses)
}
