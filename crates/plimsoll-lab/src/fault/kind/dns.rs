//! `dns`: the name server of one host lies about one name.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;
use crate::topology::network::{Lie, NameFault};
use plimsoll_experiment::Answer;

pub(super) struct Lied(NameFault);

impl Lied {
    pub(super) fn new(host: String, name: String, answer: Answer) -> Self {
        let lie = match answer {
            Answer::Nxdomain => Lie::Nxdomain,
            Answer::Servfail => Lie::Servfail,
            Answer::Nothing => Lie::Nothing,
            Answer::Address(address) => Lie::Address(address),
        };
        Self(NameFault { host, name, lie })
    }
}

impl Kind for Lied {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.0.clone());
        step(async move {
            let network = network?;
            let mut network = network.write().await;
            fault
                .check(&network)
                .await
                .map_err(|error| error.to_string())?;
            fault
                .inject(&mut network)
                .await
                .map_err(|error| error.to_string())?;
            let proof = fault.prove(&network).await;
            proof
                .map(|proof| proof.0)
                .map_err(|error| error.to_string())
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.0.clone());
        step(async move {
            let network = network?;
            let mut network = network.write().await;
            fault
                .heal(&mut network)
                .await
                .map_err(|error| error.to_string())?;
            let proof = fault.prove_healed(&network).await;
            proof
                .map(|proof| proof.0)
                .map_err(|error| error.to_string())
        })
    }
}
