//! Reloads under load of routes, shard map, certificate and list of revoked ones, by turns: no request fails, and from the acknowledgement
//! on none is served by what was before, least of all by the shard; nor is a connection.

use super::Check;
use crate::asking::{Answer, ask};
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::gateway::Gateway;
use crate::interrupt;
use crate::mock::Mock;
use plimsoll_testbed::authority::{Authority, Issued, Names};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{AlertDescription, ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;
use std::fmt::Display;
use std::net::{SocketAddr, TcpStream};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

const REQUEST: &str = "GET /asked HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The shards, in the order in which everybody moves through them.
const SHARDS: [&str; 2] = ["eu", "us"];

/// A generation of the gateway's files. Each reload makes the next one: all of them change the route, every fourth each of the others.
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

/// The shared knowledge of the clients and the one who reloads.
#[derive(Default)]
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
    /// The certificates of the gateway, each with the generation from which on it shows it, in order.
    leaves: Mutex<Vec<(u64, CertificateDer<'static>)>>,
    handshakes: AtomicU64,
    /// Those in which it showed a certificate of a generation that was not in force meanwhile.
    stale: AtomicU64,
    /// Clients that were served, then revoked.
    revoked: AtomicU64,
    /// Those of them that were served after that, too, or not clearly refused.
    let_in: AtomicU64,
}

impl Seen {
    /// From this generation on the gateway shows this certificate.
    fn shows(&self, generation: u64, certificate: &str) -> Result<(), Error> {
        let leaf = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(unusable)?;
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        leaves.push((generation, leaf));
        Ok(())
    }

    /// Whether a certificate is that of one of these generations.
    fn is_of(&self, leaf: &CertificateDer<'_>, in_force: &RangeInclusive<u64>) -> bool {
        let leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        let newer = leaves.partition_point(|(from, _)| from <= in_force.start());
        let mut possible = leaves[newer.saturating_sub(1)..]
            .iter()
            .take_while(|(from, _)| from <= in_force.end());
        possible.any(|(_, own)| own == leaf)
    }
}

/// Who reloads what.
struct Stage<'a> {
    gateway: &'a Gateway,
    address: SocketAddr,
    authority: &'a Authority,
    behind: [SocketAddr; 2],
    seen: &'a Seen,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
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
    let seen = Seen::default();
    seen.shows(0, &own.certificate)?;
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
    let stage = Stage {
        gateway: &gateway,
        address,
        authority: &authority,
        behind,
        seen: &seen,
    };
    let done = std::thread::scope(|scope| {
        for caller in &callers {
            scope.spawn(|| client(address, caller, &seen));
        }
        let done = (1..=reloads).try_for_each(|number| {
            interrupt::check()?;
            step(&stage, Generation(number))?;
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
    let [handshakes, stale, revoked, let_in] =
        [&seen.handshakes, &seen.stale, &seen.revoked, &seen.let_in]
            .map(|n| n.load(Ordering::SeqCst));
    let to_be_revoked = (1..=reloads).map(Generation);
    let to_be_revoked = to_be_revoked.filter(|it| it.renews_revocations()).count();
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
        Bar::judged(
            "certificates",
            "every handshake shows the generation's",
            format!("{stale} of {handshakes} showed another"),
            stale == 0 && handshakes > 0,
        ),
        Bar::judged(
            "clients that a reload revokes",
            "each is served before, and refused after",
            format!("{let_in} of {revoked} were not refused; {to_be_revoked} were to be revoked"),
            let_in == 0 && u64::try_from(to_be_revoked).is_ok_and(|all| all == revoked),
        ),
    ]
}

/// One reload. Whom it revokes asks before and after it.
fn step(stage: &Stage<'_>, next: Generation) -> Result<(), Error> {
    let seen = stage.seen;
    let revoked = write(stage, next)?;
    let served = revoked.as_ref().map(|caller| once(stage.address, caller));
    seen.asked.store(next.0, Ordering::SeqCst);
    stage.gateway.reload()?;
    seen.acknowledged.store(next.0, Ordering::SeqCst);
    let (Some(caller), Some(served)) = (revoked, served) else {
        return Ok(());
    };
    // Who was not served before is not refused for being revoked.
    if served.is_ok_and(|answer| answer.status == 200) {
        seen.revoked.fetch_add(1, Ordering::SeqCst);
    }
    let is_refused = once(stage.address, &caller).is_err_and(|error| is_refusal(&error));
    seen.let_in
        .fetch_add(u64::from(!is_refused), Ordering::SeqCst);
    Ok(())
}

/// Whether a connection was ended by who took it: by an alert, or by a reset that overtakes it.
fn is_refusal(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    let revoked = rustls::Error::AlertReceived(AlertDescription::CertificateRevoked);
    let kinds = [
        BrokenPipe,
        ConnectionAborted,
        ConnectionReset,
        UnexpectedEof,
    ];
    cause == Some(&revoked) || (cause.is_none() && kinds.contains(&error.kind()))
}

/// Writes what is new in a generation; how a client connects that it revokes.
fn write(stage: &Stage<'_>, next: Generation) -> Result<Option<Arc<ClientConfig>>, Error> {
    let Stage {
        gateway, authority, ..
    } = stage;
    if next.renews_certificate() {
        let own = authority.issue(&["localhost"])?;
        stage.seen.shows(next.0, &own.certificate)?;
        gateway.write("server.pem", &own.certificate)?;
        gateway.write("server.key", &own.key)?;
    }
    let mut revoked = None;
    if next.renews_revocations() {
        // Somebody who is not among the clients.
        let other = issued(authority, CLIENTS)?;
        gateway.write("ca.crl", &authority.revoked(&[&other], 2099)?)?;
        revoked = Some(showing(authority, &other)?);
    }
    gateway.write("shards.yaml", &next.map())?;
    gateway.write("gateway.yaml", &next.config(stage.behind))?;
    Ok(revoked)
}

fn issued(authority: &Authority, number: usize) -> Result<Issued, Error> {
    authority.issue_for(Names {
        common_name: "client",
        uris: &[&format!("urn:client/{number}")],
        hosts: &[],
    })
}

/// How a client connects, who shows a certificate of its own and takes up no session.
fn caller(authority: &Authority, number: usize) -> Result<Arc<ClientConfig>, Error> {
    showing(authority, &issued(authority, number)?)
}

/// How a client connects, who shows this certificate and takes up no session.
fn showing(authority: &Authority, issued: &Issued) -> Result<Arc<ClientConfig>, Error> {
    let Issued {
        certificate, key, ..
    } = issued;
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

fn unusable(error: impl Display) -> Error {
    Error::Measured(format!("a client's TLS: {error}"))
}

/// Asks until it is over, and judges each answer by what was in force before it asked and after it was answered.
fn client(address: SocketAddr, caller: &Arc<ClientConfig>, seen: &Seen) {
    let mut kept: Option<(StreamOwned<ClientConnection, TcpStream>, u32)> = None;
    while !seen.over.load(Ordering::SeqCst) {
        // A connection may be taken by what is in force when it is made; the handshake comes with the first request.
        let taken_by = seen.acknowledged.load(Ordering::SeqCst);
        let stream = kept.take().map_or_else(|| connect(address, caller), Ok);
        let oldest = seen.acknowledged.load(Ordering::SeqCst);
        let asked = stream.and_then(|(mut stream, count)| {
            let answer = ask(&mut stream, REQUEST)?;
            Ok((answer, stream, count + 1))
        });
        let newest = seen.asked.load(Ordering::SeqCst);
        match asked {
            Ok((answer, stream, count)) if answer.status == 200 => {
                seen.answered.fetch_add(1, Ordering::SeqCst);
                judge(&answer, oldest..=newest, seen);
                if count == 1 {
                    judge_leaf(stream.conn.peer_certificates(), taken_by..=newest, seen);
                }
                kept = (answer.keeps() && count < ON_ONE).then_some((stream, count));
            }
            _ => {
                seen.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// Asks once, over a connection of its own.
fn once(address: SocketAddr, caller: &Arc<ClientConfig>) -> std::io::Result<Answer> {
    let (mut stream, _) = connect(address, caller)?;
    ask(&mut stream, REQUEST)
}

/// Judges what the gateway showed in a handshake.
fn judge_leaf(chain: Option<&[CertificateDer<'_>]>, in_force: RangeInclusive<u64>, seen: &Seen) {
    let leaf = chain.and_then(|chain| chain.first());
    let is_of_it = leaf.is_some_and(|leaf| seen.is_of(leaf, &in_force));
    seen.handshakes.fetch_add(1, Ordering::SeqCst);
    seen.stale.fetch_add(u64::from(!is_of_it), Ordering::SeqCst);
}

fn judge(answer: &Answer, in_force: RangeInclusive<u64>, seen: &Seen) {
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
    fn a_certificate_is_judged_by_the_generations_in_force() {
        let seen = Seen::default();
        let authority = Authority::new().unwrap();
        let issued = [0, 2, 6].map(|from| {
            let own = authority.issue(&["localhost"]).unwrap();
            seen.shows(from, &own.certificate).unwrap();
            CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()
        });
        let check = |in_force: RangeInclusive<u64>, expected: [bool; 3]| {
            let found = issued.each_ref().map(|leaf| seen.is_of(leaf, &in_force));
            assert_eq!(found, expected, "{in_force:?}");
        };
        check(0..=1, [true, false, false]);
        check(1..=2, [true, true, false]);
        check(2..=5, [false, true, false]);
        check(5..=6, [false, true, true]);
        check(6..=9, [false, false, true]);
        judge_leaf(Some(&issued[..1]), 2..=5, &seen);
        judge_leaf(Some(&issued[1..]), 2..=5, &seen);
        judge_leaf(None, 2..=5, &seen);
        let [handshakes, stale] = [&seen.handshakes, &seen.stale].map(|n| n.load(Ordering::SeqCst));
        assert_eq!((handshakes, stale), (3, 2));
    }

    #[test]
    fn only_who_is_shut_out_is_refused() {
        use std::io::{Error, ErrorKind};
        let alert = |alert| Error::other(rustls::Error::AlertReceived(alert));
        assert!(is_refusal(&alert(AlertDescription::CertificateRevoked)));
        assert!(is_refusal(&ErrorKind::ConnectionReset.into()));
        assert!(!is_refusal(&alert(AlertDescription::InternalError)));
        assert!(!is_refusal(&ErrorKind::WouldBlock.into()));
        assert!(!is_refusal(&ErrorKind::ConnectionRefused.into()));
    }

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
