//! `power_off`: a host loses its power. First its plug, so that nobody is told; then all that runs on it ends, and its network with it. When it has
//! power again, it is a new host, on which its components are started anew.

use super::super::{Outcome, Step, step};
use super::kill::end;
use super::{Kind, told};
use crate::topology::component::Topology;
use crate::topology::network::PowerFault;
use std::time::Duration;

pub(super) struct PowerOff(PowerFault);

impl PowerOff {
    pub(super) fn new(host: String) -> Self {
        Self(PowerFault { host })
    }
}

impl Kind for PowerOff {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.0.clone());
        let components = topology.on_host(&fault.host);
        let running = components.iter().filter_map(|name| {
            let target = topology.target(name)?;
            Some((target, topology.take_down(name)?))
        });
        let running: Vec<_> = running.collect();
        step(async move {
            let network = network?;
            let checked = fault.check(&*network.read().await).await;
            // Whatever it was like before: from here on it is without power, so that one heal fits all.
            let unplugged = fault.unplug(&*network.read().await).await;
            for (target, mut child) in running {
                end(&target, &mut child).await?;
            }
            checked.map_err(|error| error.to_string())?;
            unplugged.map_err(|error| error.to_string())?;
            let mut network = network.write().await;
            fault.power_off(&mut network).await;
            told(fault.prove(&network.downgrade()).await)
        })
    }

    fn restart_within(&self, topology: &Topology<'_>) -> Duration {
        let components = topology.on_host(&self.0.host);
        components
            .iter()
            .map(|name| topology.ready_within(name))
            .sum()
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.0.clone());
        let components = topology.on_host(&fault.host);
        let missing = components
            .into_iter()
            .filter(|name| topology.target(name).is_none());
        let missing: Vec<String> = missing.collect();
        let starting: Vec<_> = missing
            .into_iter()
            .map(|name| {
                let starting = topology.begin(&name);
                (name, starting)
            })
            .collect();
        Box::pin(async move {
            let mut started = Vec::new();
            let healing = async {
                let network = network?;
                let mut power = network.write().await;
                // One that was not taken for want of a proof.
                fault.power_off(&mut power).await;
                fault
                    .heal(&mut power)
                    .await
                    .map_err(|error| error.to_string())?;
                drop(power);
                for (name, starting) in starting {
                    let starting = starting.map_err(|error| error.to_string())?;
                    started.push((name, starting.await.map_err(|error| error.to_string())?));
                }
                let network = network.read().await;
                told(fault.prove_healed(&network).await)
            };
            let proof = healing.await;
            Outcome { proof, started }
        })
    }
}
