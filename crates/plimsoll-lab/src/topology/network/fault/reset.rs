//! Resets: every packet of TCP to the other hosts is answered with a reset, those of connections that exist too.

use super::super::Layout;
use super::super::layout::link_address;
use super::LinkFault;

/// A chain for each port at which such packets come in. Hosts are known by their link-layer addresses, whatever address of IP moved to them.
pub(super) fn chains(fault: &LinkFault, layout: &Layout) -> String {
    let flows = fault.flows().into_iter();
    let chains = flows.flat_map(|(from, to)| {
        let to = to.iter().filter_map(|host| layout.address(host));
        let to: Vec<String> = to.map(link_address).collect();
        let to = to.join(", ");
        from.iter().map(move |host| {
            format!(
                "chain port-{host} {{\ntype filter hook ingress device \"{host}\" priority 0;\nether daddr {{ {to} }} ip protocol tcp counter reject with tcp reset\n}}\n"
            )
        })
    });
    chains.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::fault;
    use super::super::{Direction, LinkFaultKind};
    use super::*;
    use plimsoll_experiment::Network;

    #[test]
    fn a_chain_for_each_port() {
        let hosts = ["a", "b", "c"].map(str::to_owned).to_vec();
        let layout = Layout::new(&Network {
            zones: [("z".to_owned(), hosts)].into(),
            ..Network::default()
        });
        let chains = chains(&fault(LinkFaultKind::Reset, Direction::OneWay), &layout);
        assert_eq!(
            chains,
            "chain port-a {\ntype filter hook ingress device \"a\" priority 0;\nether daddr { 02:00:0a:4d:01:02, 02:00:0a:4d:01:03 } ip protocol tcp counter reject with tcp reset\n}\n"
        );
    }
}
