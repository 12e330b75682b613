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
    until(switch, port, forwards).await?;
    until(host, INTERFACE, is_up).await
}

async fn until(inside: &NetworkNamespace, name: &str, is: fn(&Value) -> bool) -> io::Result<()> {
    let look = async || {
        let show = Program::IpShow(name.to_owned());
        let shown: Value = serde_json::from_str(&show.inside(inside, String::new()).await?)?;
        io::Result::Ok(is(&shown[0]))
    };
    let carries = async {
        while !look().await? {
            sleep(AGAIN_AFTER).await;
        }
        Ok(())
    };
    let silent = || {
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the link `{name}` does not come up"),
        )
    };
    timeout(WITHIN, carries).await.map_err(|_| silent())?
}

/// Whether a port of a bridge is up and forwards (`BR_STATE_FORWARDING` of the kernel's `if_bridge.h`, as `ip -json` names it).
fn forwards(link: &Value) -> bool {
    is_up(link) && link["linkinfo"]["info_slave_data"]["state"] == "forwarding"
}

/// Whether an interface is up (`IF_OPER_UP` of RFC 2863).
fn is_up(link: &Value) -> bool {
    link["operstate"] == "UP"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As iproute2 6.1 shows a port; fields that nobody reads are left out.
    fn port(operstate: &str, state: &str) -> Value {
        let slave = json!({"state": state, "priority": 32, "cost": 2});
        let info =
            json!({"info_kind": "veth", "info_slave_kind": "bridge", "info_slave_data": slave});
        json!({"ifname": "app-a", "operstate": operstate, "linkmode": "DEFAULT", "linkinfo": info})
    }

    #[test]
    fn a_port_carries_that_is_up_and_forwards() {
        assert!(forwards(&port("UP", "forwarding")));
        assert!(!forwards(&port("UNKNOWN", "forwarding")));
        assert!(!forwards(&port("UP", "disabled")));
        assert!(!forwards(&json!({"ifname": "app-a", "operstate": "UP"})));
    }
}
