//! `dns`: the name server of one host lies about one name.

use super::super::{Step, step};
use super::{Kind, told};
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
            let proving = async {
                fault.check(&network).await?;
                fault.inject(&mut network).await?;
                fault.prove(&network.downgrade()).await
            };
            told(proving.await)
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.0.clone());
        step(async move {
            let network = network?;
            let mut network = network.write().await;
            let proving = async {
                fault.heal(&mut network).await?;
                fault.prove_healed(&network.downgrade()).await
            };
            told(proving.await)
        })
    }
}
