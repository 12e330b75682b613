//! A black hole for connections that are being opened: their first packet (SYN) is lost. What is open goes on.

use super::super::Network;
use super::super::probe::{self, Connection};
use super::{FaultError, LinkFault, not_proved};

/// Datagrams that prove that everything else passes.
const DATAGRAMS: u32 = 5;

pub(super) fn chains(fault: &LinkFault) -> String {
    fault.forward(
        "ether type ip ip protocol tcp tcp flags & (fin | syn | rst | ack) == syn counter drop",
    )
}

pub(super) async fn prove(fault: &LinkFault, network: &Network) -> Result<String, FaultError> {
    let silence = fault.expect(network, &Connection::Silence).await?;
    let (from, to) = fault.ends(network)?;
    match probe::datagrams(&from, &to, DATAGRAMS).await? {
        DATAGRAMS => Ok(format!("{silence}; datagrams arrived")),
        arrived => Err(not_proved(format!(
            "{silence}; but of {DATAGRAMS} datagrams {arrived} arrived"
        ))),
    }
}
