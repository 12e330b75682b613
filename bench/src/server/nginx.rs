//! nginx: as a server of constant answers, in clear, by TLS and by HTTP/2, and as a reverse proxy.

use super::{Listener, Site};
use crate::port;
use crate::program::Program;
use crate::protocol::Protocol;
use crate::{Error, authority, peers};
use std::cell::Cell;
use std::net::SocketAddr;
use std::process::Command;

const RETURN: &str = include_str!("../../config/nginx-return.conf.in");

/// With so many workers.
pub(super) fn start_return(site: &Site<'_>, workers: u32) -> Result<(Program, SocketAddr), Error> {
    listen(site, &with_workers(RETURN, workers), || Ok(()))
}

/// With so many workers.
pub(super) fn start_proxy(site: &Site<'_>, workers: u32) -> Result<(Program, SocketAddr), Error> {
    let template = include_str!("../../config/nginx-proxy.conf.in");
    listen(site, &with_workers(template, workers), || Ok(()))
}

/// Several workers have a listening socket each, over which the kernel spreads connections. (Our shards share one, and who accepts first has
/// the connection.)
fn with_workers(template: &str, workers: u32) -> String {
    let reuseport = if workers > 1 { " reuseport" } else { "" };
    template
        .replace("@workers@", &workers.to_string())
        .replace("@reuseport@", reuseport)
}

/// Constant answers on two ports, on the second by another protocol. Its requests are counted on the first.
pub(super) fn start_beside(
    site: &Site<'_>,
    protocol: Protocol,
) -> Result<(Program, SocketAddr, Listener), Error> {
    let template = match protocol {
        Protocol::Clear => "",
        Protocol::Tls | Protocol::MutualTls => include_str!("../../config/nginx-tls.conf.in"),
        Protocol::Http2 => include_str!("../../config/nginx-http2.conf.in"),
    };
    authority::certify(site.directory)?;
    let listener = Cell::new(None);
    let (program, address) = listen(site, &with_workers(RETURN, 1), || {
        let second = port::free()?;
        listener.set(Some(second));
        let text = template.replace("@listener@", &second.port().to_string());
        site.render("listener.conf", &text, 0)
    })?;
    let listener = Listener {
        address: listener.get().unwrap_or(address),
        protocol,
    };
    Ok((program, address, listener))
}

/// `prepare` is done before every try.
fn listen(
    site: &Site<'_>,
    template: &str,
    prepare: impl Fn() -> Result<(), Error>,
) -> Result<(Program, SocketAddr), Error> {
    let nginx = peers::find(&site.bench.root, "nginx")?;
    site.listen(|port| {
        prepare()?;
        site.render("nginx.conf", template, port)?;
        let mut command = Command::new(&nginx);
        command
            .args(["-e", "stderr", "-c"])
            .arg(site.directory.join("nginx.conf"));
        Ok(command)
    })
}

/// The third figure of the third line of `stub_status`: requests served.
pub(super) fn requests(status: &str) -> Option<f64> {
    let line = status.lines().nth(2)?;
    line.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_the_last_of_three_counters() {
        let status = "Active connections: 1 \nserver accepts handled requests\n 2 3 45 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(requests(status), Some(45.0));
        assert_eq!(requests("404"), None);
    }
}
