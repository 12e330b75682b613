//! nginx with one worker: as a server of a constant answer, and as a reverse proxy.

use super::Site;
use crate::child::Child;
use crate::peers;
use crate::trouble::Trouble;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start_return(site: &Site<'_>) -> Result<(Child, SocketAddr), Trouble> {
    start(site, include_str!("../../config/nginx-return.conf.in"))
}

pub(super) fn start_proxy(site: &Site<'_>) -> Result<(Child, SocketAddr), Trouble> {
    start(site, include_str!("../../config/nginx-proxy.conf.in"))
}

fn start(site: &Site<'_>, template: &str) -> Result<(Child, SocketAddr), Trouble> {
    let nginx = peers::find(&site.bench.root, "nginx")?;
    site.listen(|port| {
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
