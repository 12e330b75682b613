//! The server may suddenly open hardly any more descriptors, and more clients come than it has left. Others who are connected already
//! go on; when the attack ends, there is room again under the same limit.

use super::connections::Held;
use super::server::{Patience, Server};
use super::{Attack, Case, Told, When};
use crate::Wait;
use crate::bench::{Bench, Error};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

const CLIENTS: usize = 500;
/// Enough for the others, who are connected already, and for some of the attack.
const LIMIT: u64 = 150;
/// How long it may take until there is room again.
const AGAIN: Wait = Wait::up_to(Duration::from_secs(5));

pub const CASE: Case = Case {
    what: "no descriptors left",
    growth_mib: 8.0,
    // Who needs a new connection gets 503, or waits.
    may_fail: 0.01,
    when: When::During,
    patience: Patience::Short,
    begin,
    told: Told::Seen("one client more gets 503 or waits; then room again"),
};

struct Exhausted {
    pid: Pid,
    address: SocketAddr,
    /// The limit as it was before.
    limit: Rlimit,
    held: Held,
}

fn begin(_: &Bench, server: &Server) -> Result<Box<dyn Attack>, Error> {
    let pid = server.pid();
    let limit = lower(pid, LIMIT)?;
    Ok(Box::new(Exhausted {
        pid,
        address: server.address,
        limit,
        held: Held::open(server.address, CLIENTS)?,
    }))
}

impl Attack for Exhausted {
    fn end(self: Box<Self>) -> Result<String, Error> {
        let Self {
            pid,
            address,
            limit,
            held,
        } = *self;
        // Nobody was left to be accepted with: a new client waits, or is refused.
        let starved = super::server::ask(address, Duration::from_millis(200));
        drop(held);
        let back = AGAIN.until("room for a new client", || {
            let answer = super::server::ask(address, Duration::from_secs(1));
            Ok(answer.is_ok_and(|text| text.starts_with("HTTP/1.1 200")))
        });
        set(pid, limit)?;
        back?;
        Ok(format!(
            "{CLIENTS} clients for {LIMIT} descriptors; one more: {}; then room again",
            turned_away(starved)?
        ))
    }
}

/// How one client more was kept out, which it must be: 503, or no word in its time.
fn turned_away(starved: std::io::Result<String>) -> Result<&'static str, Error> {
    match starved {
        Ok(text) if text.starts_with("HTTP/1.1 503 ") => Ok("503"),
        Ok(text) => Err(Error::Measured(format!(
            "one client more got `{}`",
            text.lines().next().unwrap_or_default()
        ))),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok("waited")
        }
        Err(error) => Err(Error::at_server("one client more", error)),
    }
}

/// Lowers the limit of another process, but not what it may be raised to; what it was.
pub fn lower(pid: Pid, current: u64) -> Result<Rlimit, Error> {
    let path = format!("/proc/{}/limits", pid.as_raw_nonzero());
    let text = std::fs::read_to_string(path).map_err(|e| Error::at_process("reading limits", e))?;
    let line = text.lines().find(|line| line.starts_with("Max open files"));
    let maximum = line.and_then(|line| line.split_whitespace().nth(4)?.parse().ok());
    let limit = Rlimit {
        current: Some(current),
        maximum,
    };
    set(pid, limit)
}

fn set(pid: Pid, limit: Rlimit) -> Result<Rlimit, Error> {
    prlimit(Some(pid), Resource::Nofile, limit)
        .map_err(|e| Error::at_process("limiting descriptors", e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_more_waits_or_gets_503() {
        let check = |starved: std::io::Result<&str>, expected: Option<&str>| {
            let found = turned_away(starved.map(str::to_owned));
            assert_eq!(found.ok(), expected);
        };
        check(Ok("HTTP/1.1 503 Service Unavailable\r\n"), Some("503"));
        check(Err(ErrorKind::WouldBlock.into()), Some("waited"));
        check(Ok("HTTP/1.1 200 OK\r\n"), None);
        check(Ok(""), None);
        check(Err(ErrorKind::ConnectionRefused.into()), None);
    }
}
