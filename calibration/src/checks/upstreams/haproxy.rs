//! HAProxy, which answers by itself once it has the body.

use super::{Running, Upstream};
use crate::bench::Error;
use crate::foreign::Foreign;
use std::net::SocketAddr;
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "HAProxy",
    start: |bench| {
        let started = Foreign::told("haproxy", |address| {
            let file = bench.directory()?.join("haproxy.cfg");
            std::fs::write(&file, config(address)).map_err(Error::when("writing haproxy.cfg"))?;
            let mut command = Command::new("/usr/sbin/haproxy");
            command.args(["-db", "-f"]).arg(file);
            Ok(command)
        });
        started.map(Running::from)
    },
};

fn config(address: SocketAddr) -> String {
    format!(
        "defaults\n  mode http\n  timeout client 1h\n  timeout http-keep-alive 1h\n  timeout http-request 1h\n  option http-buffer-request\n  option http-ignore-probes\n\
         frontend main\n  bind {address}\n  http-request return status 200 content-type text/plain string fine hdr X-Seen \"%[method] %[url]\"\n"
    )
}
