//! `partition`, `blackhole`, `rst` and `loss`: rules in the switch of the network, which connections that exist meet too.

use super::super::{Step, step};
use super::{Kind, told};
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
            let proving = async {
                fault.check(&network).await?;
                fault.inject(&network).await?;
                fault.prove(&network).await
            };
            told(proving.await)
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let (network, fault) = (topology.network(), self.fault.clone());
        step(async move {
            let (network, fault) = (network?, fault.ok_or("it was never injected")?);
            let network = network.read().await;
            let proving = async {
                fault.heal(&network).await?;
                fault.prove_healed(&network).await
            };
            told(proving.await)
        })
    }
}
