//! Whether a host's link carries. One that is set up does so a moment later, when the kernel's work queue had its turn, which waits for
//! whoever else makes or takes networks; until then what is sent is lost, and sent again only after a second.

use super::layout::INTERFACE;
use super::program::Program;
use crate::topology::namespace::NetworkNamespace;
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long a link may take.
const WITHIN: Duration = Duration::from_secs(10);
/// Between two looks.
const AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Waits until both ends of a link carry: the `port` of the switch, and the interface of the host.
///
/// # Errors
/// The system's, and [`io::ErrorKind::TimedOut`] for a link that does not come to carry.
pub(super) async fn carries(
    switch: &NetworkNamespace,
    port: &str,
    host: &NetworkNamespace,
) -> io::Result<()> {
    let both = async {
        until(switch, port, forwards).await?;
        until(host, INTERFACE, is_up).await
    };
    timeout(WITHIN, both)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn until(inside: &NetworkNamespace, name: &str, is: fn(&Value) -> bool) -> io::Result<()> {
    loop {
        let show = Program::IpShow(name.to_owned());
        let shown: Value = serde_json::from_str(&show.inside(inside, String::new()).await?)?;
        if is(&shown[0]) {
            return Ok(());
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// Whether a port of a bridge forwards (`BR_STATE_FORWARDING` of the kernel's `if_bridge.h`, as `ip -json` names it).
fn forwards(link: &Value) -> bool {
    link["linkinfo"]["info_slave_data"]["state"] == "forwarding"
}

/// Whether an interface is up (`IF_OPER_UP` of RFC 2863).
fn is_up(link: &Value) -> bool {
    link["operstate"] == "UP"
}
