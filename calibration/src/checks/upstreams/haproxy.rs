//! HAProxy, which answers by itself once it has the body.

use super::{Process, Running, Upstream};
use crate::bench::{Bench, Trouble};
use crate::child::Child;
use crate::clock;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "HAProxy",
    start,
};

/// Another free port is tried so often.
const TRIES: usize = 5;
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(5);

fn start(bench: &Bench) -> Result<Running, Trouble> {
    for _ in 0..TRIES {
        let directory = bench.directory()?;
        let address = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .map_err(Trouble::when("finding a free port"))?;
        let file = directory.join("haproxy.cfg");
        std::fs::write(&file, config(address)).map_err(Trouble::when("writing haproxy.cfg"))?;
        let mut command = Command::new("/usr/sbin/haproxy");
        command
            .args(["-db", "-f"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let started = Child::spawn(&mut command);
        let mut child = started.map_err(|_| Trouble::Missing("there is no haproxy".to_owned()))?;
        while !child.has_ended()? {
            if TcpStream::connect(address).is_ok() {
                return Ok(Running {
                    address,
                    _process: Process::Child(child),
                });
            }
            clock::pause(LOOK);
        }
    }
    Err(Trouble::Measured("haproxy does not start".to_owned()))
}

fn config(address: SocketAddr) -> String {
    format!(
        "defaults\n  mode http\n  timeout client 1h\n  timeout http-keep-alive 1h\n  timeout http-request 1h\n  option http-buffer-request\n  option http-ignore-probes\n\
         frontend main\n  bind {address}\n  http-request return status 200 content-type text/plain string fine hdr X-Seen \"%[method] %[url]\"\n"
    )
}
