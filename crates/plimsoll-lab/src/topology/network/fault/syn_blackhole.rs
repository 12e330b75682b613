//! A black hole for connections that are being opened: their first packet (SYN) is lost. What is open goes on.

use super::super::Network;
use super::super::probe::Connection;
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
    for way in fault.ways(network)? {
        let arrived = way.arriving(DATAGRAMS).await?;
        if arrived < DATAGRAMS {
            return Err(not_proved(format!(
                "{silence}; but of {DATAGRAMS} datagrams {arrived} arrived"
            )));
        }
    }
    Ok(format!("{silence}; datagrams arrived"))
}
