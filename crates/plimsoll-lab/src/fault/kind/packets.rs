//! `partition`, `blackhole`, `rst` and `loss`: rules in the switch of the network, which connections that exist meet too.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;
use crate::topology::network::{Direction, LinkFault, LinkFaultKind};
use plimsoll_experiment::{PacketEffect, Packets};

pub(super) struct Between {
    packets: Packets,
    /// Once it has a number.
    fault: Option<LinkFault>,
}

impl Between {
    pub(super) fn new(packets: Packets) -> Self {
        Self {
            packets,
            fault: None,
        }
    }
}

impl Kind for Between {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let network = topology.network();
        let fault = LinkFault::new(
            match self.packets.effect {
                PacketEffect::Partition => LinkFaultKind::Partition,
                PacketEffect::Blackhole => LinkFaultKind::SynBlackhole,
                PacketEffect::Reset => LinkFaultKind::Reset,
                PacketEffect::Loss(share) => LinkFaultKind::Loss(share),
            },
            self.packets.from.clone(),
            self.packets.to.clone(),
            match self.packets.one_way {
                true => Direction::OneWay,
                false => Direction::Both,
            },
            topology.next_number(),
        );
        self.fault = Some(fault.clone());
        step(async move {
            let network = network?;
            let network = network.read().await;
            fault
                .check(&network)
                .await
                .map_err(|error| error.to_string())?;
            fault
                .inject(&network)
                .await
                .map_err(|error| error.to_string())?;
            let proof = fault.prove(&network).await;
            proof
                .map(|proof| proof.0)
                .map_err(|error| error.to_string())
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.fault.clone());
        step(async move {
            let (network, fault) = (network?, fault.ok_or("it was never injected")?);
            let network = network.read().await;
            fault
                .heal(&network)
                .await
                .map_err(|error| error.to_string())?;
            let proof = fault.prove_healed(&network).await;
            proof
                .map(|proof| proof.0)
                .map_err(|error| error.to_string())
        })
    }
}
