//! Reloads under load of routes, shard map, certificate and list of revoked ones, by turns: no request fails, and from the acknowledgement
//! on none is served by what was before, least of all by the shard.

use super::Check;
use crate::asking::{Answer, ask};
use crate::bar::Bar;
use crate::bench::{Bench, Trouble};
use crate::gateway::Gateway;
use crate::interrupt;
use crate::mock::Mock;
use plimsoll_testbed::authority::{Authority, Issued, Names};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;
use std::fmt::Display;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "reloads",
    about: "reloads of routes, shard map, certificate and revocations under load over mutual TLS",
    run,
};

/// Clients at a time, each with a certificate of its own.
const CLIENTS: usize = 6;
/// Requests on one connection: then another is made, with a full handshake.
const ON_ONE: u32 = 40;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The shards, in the order in which everybody moves through them.
const SHARDS: [&str; 2] = ["eu", "us"];

/// What a generation consists of. Each reload makes the next one: all of them change the route, every fourth each of the others.
#[derive(Clone, Copy)]
struct Generation(u64);

impl Generation {
    /// Reloads 1, 5, 9… take the shard map one step on.
    fn map_version(self) -> u64 {
        1 + self.0.div_ceil(4)
    }

    /// Where everybody's reads go: a move takes two steps, being frozen and being done.
    fn shard(self) -> usize {
        usize::from((self.map_version() - 1) % 4 >= 2)
    }

    fn is_frozen(self) -> bool {
        (self.map_version() - 1) % 2 == 1
    }

    fn renews_certificate(self) -> bool {
        self.0 % 4 == 2
    }

    fn renews_revocations(self) -> bool {
        self.0 % 4 == 3
    }

    fn map(self) -> String {
        let (from, version) = (self.shard(), self.map_version());
        let moving = match self.is_frozen() {
            true => format!(", moving: {{ to: {}, phase: frozen }}", SHARDS[1 - from]),
            false => String::new(),
        };
        let shard = SHARDS[from];
        format!(
            "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: eu }}, us: {{ upstream: us }} }}\n\
             prefix: [{{ uri: \"urn:client/\", shard: {shard}{moving} }}]\n"
        )
    }

    fn config(self, [eu, us]: [SocketAddr; 2]) -> String {
        format!(
            "version: 1\nlisteners:\n  main:\n    address: \"127.0.0.1:0\"\n    \
             tls: {{ certificate: server.pem, key: server.key, clients: required, ca: ca.pem, crl: ca.crl }}\n\
             admin: {{ address: \"127.0.0.1:0\" }}\n\
             upstreams:\n  eu: {{ endpoints: [\"http://{eu}\"] }}\n  us: {{ endpoints: [\"http://{us}\"] }}\n\
             routes:\n  - path: /\n    sharded: true\n    rules: [{{ at: /, response_fields: {{ set: {{ X-Generation: {} }} }} }}]\n\
             shard_map: {{ file: shards.yaml, debug: true }}\n",
            self.0
        )
    }
}

/// What the clients and the one who reloads know of each other.
struct Seen {
    asked: AtomicU64,
    acknowledged: AtomicU64,
    over: AtomicBool,
    answered: AtomicU64,
    failed: AtomicU64,
    /// Served by a generation that was none of those in force meanwhile.
    outdated: AtomicU64,
    /// Served by another shard than their generation's.
    astray: AtomicU64,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let reloads = bench.pick(1000, 24);
    let authority = Authority::new()?;
    let [eu, us] = SHARDS.map(|shard| {
        let stub = json!({
            "request": { "urlPattern": ".*" },
            "response": { "status": 200, "headers": { "Content-Length": "2" }, "body": shard },
        });
        Mock::start_with(bench, &[stub], &["--no-request-journal"])
    });
    let (eu, us) = (eu?, us?);
    let behind = [eu.address, us.address];
    let own = authority.issue(&["localhost"])?;
    let first = Generation(0);
    let files = [
        ("gateway.yaml", first.config(behind)),
        ("shards.yaml", first.map()),
        ("server.pem", own.certificate),
        ("server.key", own.key),
        ("ca.pem", authority.certificate().to_owned()),
        ("ca.crl", authority.revoked(&[], 2099)?),
    ];
    let gateway = Gateway::start(bench, &files, &[])?;
    let address = gateway.main()?;
    let callers: Vec<Arc<ClientConfig>> = (0..CLIENTS)
        .map(|number| caller(&authority, number))
        .collect::<Result<_, _>>()?;
    let seen = Seen {
        asked: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
        over: AtomicBool::new(false),
        answered: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        outdated: AtomicU64::new(0),
        astray: AtomicU64::new(0),
    };
    let done = std::thread::scope(|scope| {
        for caller in &callers {
            scope.spawn(|| client(address, caller, &seen));
        }
        let done = (1..=reloads).try_for_each(|number| {
            interrupt::check()?;
            let next = Generation(number);
            write(&gateway, next, &authority, behind)?;
            seen.asked.store(number, Ordering::SeqCst);
            gateway.reload()?;
            seen.acknowledged.store(number, Ordering::SeqCst);
            if number.is_multiple_of(reloads / 4) {
                bench.progress(&format!("reload {number}/{reloads}"));
            }
            Ok(())
        });
        seen.over.store(true, Ordering::SeqCst);
        done
    });
    done?;
    gateway.child.terminate()?;
    eu.stop()?;
    us.stop()?;
    Ok(bars(&seen, reloads))
}

fn bars(seen: &Seen, reloads: u64) -> Vec<Bar> {
    let [answered, failed, outdated, astray] =
        [&seen.answered, &seen.failed, &seen.outdated, &seen.astray]
            .map(|n| n.load(Ordering::SeqCst));
    let whole = answered + failed;
    vec![
        Bar::judged(
            format!("requests during {reloads} reloads"),
            "none fails",
            format!("{failed} of {whole} failed"),
            failed == 0 && whole > reloads,
        ),
        Bar::judged(
            "after the acknowledgement",
            "none is served by a generation before",
            format!("{outdated} of {answered} were"),
            outdated == 0,
        ),
        Bar::judged(
            "shards",
            "none comes to another than its generation's",
            format!("{astray} of {answered} did"),
            astray == 0,
        ),
    ]
}

/// Writes what is new in a generation.
fn write(
    gateway: &Gateway,
    next: Generation,
    authority: &Authority,
    behind: [SocketAddr; 2],
) -> Result<(), Trouble> {
    if next.renews_certificate() {
        let own = authority.issue(&["localhost"])?;
        gateway.write("server.pem", &own.certificate)?;
        gateway.write("server.key", &own.key)?;
    }
    if next.renews_revocations() {
        // Somebody who is not among the clients.
        let other = authority.issue(&["other"])?;
        gateway.write("ca.crl", &authority.revoked(&[&other], 2099)?)?;
    }
    gateway.write("shards.yaml", &next.map())?;
    gateway.write("gateway.yaml", &next.config(behind))
}

/// How a client connects, who shows a certificate of its own and takes up no session.
fn caller(authority: &Authority, number: usize) -> Result<Arc<ClientConfig>, Trouble> {
    let Issued {
        certificate, key, ..
    } = authority.issue_for(Names {
        common_name: "client",
        uris: &[&format!("urn:client/{number}")],
        hosts: &[],
    })?;
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_slice(authority.certificate().as_bytes());
    roots.add(trusted.map_err(unusable)?).map_err(unusable)?;
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
    let chain = chain.collect::<Result<_, _>>().map_err(unusable)?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(unusable)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(unusable)?;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

fn unusable(error: impl Display) -> Trouble {
    Trouble::Measured(format!("a client's TLS: {error}"))
}

/// Asks until it is over, and judges each answer by what was in force before it asked and after it was answered.
fn client(address: SocketAddr, caller: &Arc<ClientConfig>, seen: &Seen) {
    let mut kept: Option<(StreamOwned<ClientConnection, TcpStream>, u32)> = None;
    while !seen.over.load(Ordering::SeqCst) {
        let stream = kept.take().map_or_else(|| connect(address, caller), Ok);
        let oldest = seen.acknowledged.load(Ordering::SeqCst);
        let asked = stream.and_then(|(mut stream, count)| {
            let answer = ask(
                &mut stream,
                "GET /asked HTTP/1.1\r\nHost: localhost\r\n\r\n",
            )?;
            Ok((answer, stream, count + 1))
        });
        let newest = seen.asked.load(Ordering::SeqCst);
        match asked {
            Ok((answer, stream, count)) if answer.status == 200 => {
                seen.answered.fetch_add(1, Ordering::SeqCst);
                judge(&answer, oldest..=newest, seen);
                kept = (answer.keeps() && count < ON_ONE).then_some((stream, count));
            }
            _ => {
                seen.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

fn judge(answer: &Answer, in_force: std::ops::RangeInclusive<u64>, seen: &Seen) {
    let number = |name| answer.field(name).and_then(|text| text.parse::<u64>().ok());
    let generation = number("x-generation").filter(|generation| in_force.contains(generation));
    let Some(generation) = generation.map(Generation) else {
        seen.outdated.fetch_add(1, Ordering::SeqCst);
        return;
    };
    let shard = SHARDS[generation.shard()];
    let by_this_map = number("x-shard-map-version") == Some(generation.map_version());
    let is_there = answer.body == shard.as_bytes() && answer.field("x-shard") == Some(shard);
    seen.astray
        .fetch_add(u64::from(!by_this_map || !is_there), Ordering::SeqCst);
}

fn connect(
    address: SocketAddr,
    caller: &Arc<ClientConfig>,
) -> std::io::Result<(StreamOwned<ClientConnection, TcpStream>, u32)> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let name = "localhost".try_into().map_err(std::io::Error::other)?;
    let session = ClientConnection::new(Arc::clone(caller), name).map_err(std::io::Error::other)?;
    Ok((StreamOwned::new(session, stream), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_moves_to_and_fro_frozen_in_between() {
        let steps: String = (0..20)
            .step_by(4)
            .map(|number| Generation(number + 1))
            .map(|generation| {
                let shard = SHARDS[generation.shard()];
                let frozen = if generation.is_frozen() { "*" } else { "" };
                format!("{}{shard}{frozen} ", generation.map_version())
            })
            .collect();
        assert_eq!(steps, "2eu* 3us 4us* 5eu 6eu* ");
        let same = [1, 2, 3, 4].map(|number| Generation(number).map_version());
        assert_eq!(same, [2, 2, 2, 2]);
        assert_eq!(Generation(0).map_version(), 1);
    }
}
