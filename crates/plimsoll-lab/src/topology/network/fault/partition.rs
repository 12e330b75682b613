//! A partition: nothing passes between two sets of hosts, of connections that exist neither.
//!
//! Both ways, everything is lost, questions for link-layer addresses (ARP) too. One way, only IP is: a switch that loses answers to such
//! questions cuts both ways as soon as somebody asks anew, and would be no partition in one direction.

use super::super::Network;
use super::super::probe::Connection;
use super::{Direction, FaultError, LinkFault, not_proved};

/// Datagrams that prove in which direction they pass.
const DATAGRAMS: u32 = 5;

pub(super) fn chains(fault: &LinkFault) -> String {
    fault.forward(match fault.direction {
        Direction::Both => "counter drop",
        Direction::OneWay => "ether type ip counter drop",
    })
}

pub(super) async fn prove(fault: &LinkFault, network: &Network) -> Result<String, FaultError> {
    let silence = fault.expect(network, &Connection::Silence).await?;
    if fault.direction == Direction::Both {
        return Ok(silence);
    }
    let mut seen = silence;
    for way in fault.ways(network)? {
        let there = way.arriving(DATAGRAMS).await?;
        let back = way.arriving_back(DATAGRAMS).await?;
        seen += &format!("; of {DATAGRAMS} datagrams {there} arrived there, {back} back");
        if (there, back) != (0, DATAGRAMS) {
            return Err(not_proved(seen));
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::super::LinkFaultKind;
    use super::super::tests::fault;
    use super::*;

    #[test]
    fn rules() {
        let check = |direction, expected: &str| {
            let chains = chains(&fault(LinkFaultKind::Partition, direction));
            let start = "chain forward {\ntype filter hook forward priority 0;\n";
            assert_eq!(chains, format!("{start}{expected}}}\n"));
        };
        check(
            Direction::Both,
            "iifname { \"a\" } oifname { \"b\", \"c\" } counter drop\niifname { \"b\", \"c\" } oifname { \"a\" } counter drop\n",
        );
        check(
            Direction::OneWay,
            "iifname { \"a\" } oifname { \"b\", \"c\" } ether type ip counter drop\n",
        );
    }
}
