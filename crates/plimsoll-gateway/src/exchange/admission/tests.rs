//! From the certificate that a client shows to the upstream that its request goes to, and to what that upstream is told: by every step that the
//! gateway takes, against what the certificate was made of. Nothing that a client writes into a request has a say.

mod der;

use super::*;
use crate::clients::identity::Kind;
use crate::clients::shard_map;
use crate::config::{GatewayConfig, MirrorLimits, Sharding, Surroundings};
use crate::origin::Origin as Start;
use plimsoll_base::digest::Digest;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::tls::CertificateDer;
use plimsoll_http::{Limits, ServerConnection};
use plimsoll_testbed::authority::Authority;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

#[test]
fn nobody_comes_to_another_shard_or_speaks_for_somebody_else() {
    requests_go_by_certificate_alone(4);
}

#[test]
#[ignore = "a million requests: cargo test --release -p plimsoll-gateway --lib none_of_a_million -- --ignored"]
fn none_of_a_million_comes_to_another_shard_at_length() {
    requests_go_by_certificate_alone(1_000);
}

/// The upstreams of the shards `s0`, `s1` and `s2`, by their place in the configuration.
const UPSTREAMS: [usize; 3] = [2, 0, 1];
/// Value that only a client writes.
const FORGED: &str = "forged";

/// A thousand requests of random clients by each of so many random maps and orders of names.
fn requests_go_by_certificate_alone(maps: u64) {
    const CLIENTS: usize = 50;
    const REQUESTS: u64 = 20;
    let mut config = config();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for index in 0..maps {
        let mut draw = Draw::new(7, Stream::Data, index);
        let clients: Vec<Client> = (0..CLIENTS).map(|_| Client::new(&mut draw)).collect();
        let (order, map) = (order(&mut draw), Map::new(&mut draw, &clients));
        let text = map.text();
        config.sharding = Some(Sharding {
            order: order.clone().into(),
            map: Arc::new(shard_map::read("shards.yaml", &text, &["u0", "u1", "u2"]).unwrap()),
            file: "shards.yaml".to_owned(),
            debug: false,
            hold: Duration::from_secs(1),
            mirror: MirrorLimits {
                body: 1024,
                queue: 1,
            },
        });
        let service = Service::new(
            &config,
            &Start::new(Instant::now(), Duration::from_secs(1)),
            None,
        );
        for client in &clients {
            let known = client.known(&order);
            for _ in 0..REQUESTS {
                let request = Request::new(&mut draw);
                let expected = map.expected(known.as_ref(), request.changes());
                let told = format!("{order:?}\n{text}{client:?}\n{request:?}");
                let outcome = runtime.block_on(request.goes(&service, client));
                assert_eq!(outcome, expected, "{told}");
                *seen.entry(expected.word()).or_default() += 1;
            }
        }
    }
    // No answer is the rule.
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen.values().all(|count| *count > maps * 20), "{seen:?}");
}

/// Outcome of a request.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    To(usize),
    ToBoth(usize, usize),
    Held,
    Refused,
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::To(_) => "to one",
            Self::ToBoth(..) => "to both",
            Self::Held => "held",
            Self::Refused => "refused",
        }
    }
}

fn pick<'a, T>(draw: &mut Draw, from: &'a [T]) -> &'a T {
    &from[usize::try_from(draw.below(from.len() as u64)).unwrap()]
}

/// A gateway with a sharded route and everything but the map.
fn config() -> GatewayConfig {
    let authority = Authority::new().unwrap();
    let own = authority.issue(&["localhost"]).unwrap();
    let text = "version: 1\nlisteners: { main: { address: ':0', tls: { certificate: own.pem, key: own.key, clients: required, ca: ca.pem } } }\nidentity: { forward: [client_cert, xfcc] }\nupstreams:\n  u0: { endpoints: ['http://127.0.0.1:1'] }\n  u1: { endpoints: ['http://127.0.0.1:2'] }\n  u2: { endpoints: ['http://127.0.0.1:3'] }\nroutes: [{ path: /, sharded: true }]\nshard_map: { file: shards.yaml }\n";
    let map = "version: 1\nmap_version: 1\nshards: { s0: { upstream: u0 } }\n";
    let around = Surroundings {
        files: &|name| match name {
            "own.pem" => Ok(own.certificate.clone().into_bytes()),
            "own.key" => Ok(own.key.clone().into_bytes()),
            "ca.pem" => Ok(authority.certificate().as_bytes().to_vec()),
            "shards.yaml" => Ok(map.as_bytes().to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        },
        variables: &|_| None,
        now: Duration::from_secs(1_800_000_000),
    };
    GatewayConfig::read("gateway.yaml", text, around)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Some of the kinds of names, in any order.
fn order(draw: &mut Draw) -> Vec<Kind> {
    let mut order = Kind::ALL.to_vec();
    draw.shuffle(&mut order);
    order.truncate(1 + usize::try_from(draw.below(4)).unwrap());
    order
}

/// How the map calls somebody: a kind, the issuer where it matters, a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    kind: Kind,
    issuer: &'static str,
    text: String,
}

/// A client's certificate, and what it was made of.
#[derive(Debug)]
struct Client {
    issuer: &'static str,
    uris: Vec<String>,
    hosts: Vec<String>,
    common_names: Vec<String>,
    der: Vec<u8>,
}

impl Client {
    fn new(draw: &mut Draw) -> Self {
        let mut names = |beginning: &str, letters: &[&str]| -> Vec<String> {
            let count = *pick(draw, &[0, 0, 1, 1, 1, 2]);
            let mut name = || {
                let letters = (0..draw.below(4)).map(|_| *pick(draw, letters));
                format!("{beginning}{}", letters.collect::<String>())
            };
            (0..count).map(|_| name()).collect()
        };
        let uris = names("urn:", &["a", "B", "/", ":"]);
        let hosts = names("h", &["a", "B", "."]);
        let common_names = names("c", &["a", "é", " b", "+"]);
        let issuer = *pick(draw, &["one", "two"]);
        let serial = draw.bits().to_be_bytes();
        Self {
            der: der::certificate(&serial, issuer, &common_names, &uris, &hosts),
            issuer,
            uris,
            hosts,
            common_names,
        }
    }

    fn fingerprint(&self) -> String {
        Digest::of(&self.der).to_hex()
    }

    fn names(&self, kind: Kind) -> Vec<String> {
        match kind {
            Kind::Uri => self.uris.clone(),
            Kind::Dns => self.hosts.iter().map(|h| h.to_lowercase()).collect(),
            Kind::IssuerCn => self.common_names.clone(),
            Kind::Sha256 => vec![self.fingerprint()],
        }
    }

    /// By which name it is known, if by any.
    fn known(&self, order: &[Kind]) -> Option<Name> {
        let kind = *order.iter().find(|kind| !self.names(**kind).is_empty())?;
        match &*self.names(kind) {
            [text] => Some(Name {
                kind,
                issuer: self.issuer,
                text: text.clone(),
            }),
            _ => None,
        }
    }
}

/// Where it puts somebody: a shard, and perhaps another one with the word for how far the move is.
type Place = (usize, Option<(usize, &'static str)>);

/// A map as a list of what it says.
struct Map {
    exact: Vec<(Name, Place)>,
    prefixes: Vec<(Name, Place)>,
    default: Option<usize>,
}

impl Map {
    /// One that names some of these clients, and what their names begin with.
    fn new(draw: &mut Draw, clients: &[Client]) -> Self {
        let mut map = Self {
            exact: Vec::new(),
            prefixes: Vec::new(),
            default: *pick(draw, &[None, None, Some(0), Some(1)]),
        };
        for _ in 0..30 {
            let client = pick(draw, clients);
            let kind = *pick(draw, &Kind::ALL);
            let Some(text) = client.names(kind).pop() else {
                continue;
            };
            let shard = usize::try_from(draw.below(3)).unwrap();
            let phase = *pick(draw, &[None, None, Some("mirroring"), Some("frozen")]);
            let place = (shard, phase.map(|phase| ((shard + 1) % 3, phase)));
            let cut = match kind {
                Kind::Sha256 => None,
                Kind::Uri => text.rfind([':', '/']).map(|at| at + 1),
                Kind::Dns | Kind::IssuerCn => Some(1),
            };
            let cut = cut.filter(|_| draw.below(3) == 0);
            let (entries, text) = match cut {
                Some(cut) => (&mut map.prefixes, text[..cut].to_owned()),
                None => (&mut map.exact, text),
            };
            let issuer = client.issuer;
            let name = Name { kind, issuer, text };
            if !entries.iter().any(|(known, _)| known.is(&name)) {
                entries.push((name, place));
            }
        }
        map
    }

    fn text(&self) -> String {
        let mut text = String::from("version: 1\nmap_version: 1\nshards:\n");
        for (shard, upstream) in UPSTREAMS.iter().enumerate() {
            writeln!(text, "  s{shard}: {{ upstream: u{upstream} }}").unwrap();
        }
        for (list, entries) in [("exact", &self.exact), ("prefix", &self.prefixes)] {
            writeln!(
                text,
                "{list}:{}",
                if entries.is_empty() { " []" } else { "" }
            )
            .unwrap();
            for (name, (shard, moving)) in entries {
                let called = match name.kind {
                    Kind::Uri => format!("uri: '{}'", name.text),
                    Kind::Dns => format!("dns: '{}'", name.text),
                    Kind::IssuerCn => format!("issuer: CN={}, cn: '{}'", name.issuer, name.text),
                    Kind::Sha256 => format!("sha256: '{}'", name.text),
                };
                let moving = moving.map_or(String::new(), |(to, phase)| {
                    format!(", moving: {{ to: s{to}, phase: {phase} }}")
                });
                writeln!(text, "  - {{ {called}, shard: s{shard}{moving} }}").unwrap();
            }
        }
        if let Some(shard) = self.default {
            writeln!(text, "default: s{shard}").unwrap();
        }
        text
    }

    /// Outcome of a request of a client that is known by this name.
    fn expected(&self, known: Option<&Name>, changes: bool) -> Outcome {
        let Some(known) = known else {
            return Outcome::Refused;
        };
        let exact = self.exact.iter().find(|(name, _)| name.is(known));
        let longest = || {
            let covering = self.prefixes.iter().filter(|(name, _)| name.covers(known));
            covering.max_by_key(|(name, _)| name.text.len())
        };
        let place = exact.or_else(longest).map(|(_, place)| *place);
        let place = place.or(self.default.map(|shard| (shard, None)));
        match place {
            None => Outcome::Refused,
            Some((_, Some((_, "frozen")))) if changes => Outcome::Held,
            Some((shard, Some((to, "mirroring")))) => {
                Outcome::ToBoth(UPSTREAMS[shard], UPSTREAMS[to])
            }
            Some((shard, _)) => Outcome::To(UPSTREAMS[shard]),
        }
    }
}

impl Name {
    fn is(&self, other: &Self) -> bool {
        self.covers(other) && self.text == other.text
    }

    fn covers(&self, other: &Self) -> bool {
        let same_issuer = self.kind != Kind::IssuerCn || self.issuer == other.issuer;
        self.kind == other.kind && same_issuer && other.text.starts_with(&self.text)
    }
}

/// A request in which its client claims to be somebody else.
#[derive(Debug)]
struct Request {
    method: &'static str,
    /// The connection is a trusted proxy's.
    trusted: bool,
    bytes: String,
}

impl Request {
    fn new(draw: &mut Draw) -> Self {
        const CLAIMS: [&str; 19] = [
            "Cf-Client-Cert-Sha256",
            "Client-Cert",
            "Client-Cert-Chain",
            "SSL-Client-S-DN",
            "WL-Proxy-Client-Cert",
            "X-Amzn-Mtls-Clientcert",
            "X-Amzn-Mtls-Clientcert-Subject",
            "X-ARR-ClientCert",
            "X-Client-Cert",
            "X-Client-DN",
            "X-Client-Verify",
            "X-Forwarded-Client-Cert",
            "X-Forwarded-Tls-Client-Cert",
            "X-Forwarded-Tls-Client-Cert-Info",
            "X-Shard",
            "X-Shard-Map-Version",
            "X-Shard-Mirror",
            "X-SSL-Client-Cert",
            "X-TLS-Client-Subject",
        ];
        let method = *pick(draw, &["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"]);
        let mut bytes = format!(
            "{method} /{} HTTP/1.1\r\nHost: s1\r\n",
            pick(draw, &["", "s1", "?shard=s1"])
        );
        for _ in 0..draw.below(5) {
            let name = pick(draw, &CLAIMS)
                .chars()
                .map(|letter| match draw.below(4) {
                    0 => letter.to_ascii_uppercase(),
                    1 => letter.to_ascii_lowercase(),
                    2 if letter == '-' => '_',
                    _ => letter,
                });
            let name: String = name.collect();
            write!(bytes, "{name}: {FORGED} s1 urn:a\r\n").unwrap();
        }
        bytes.push_str("X-Kept: kept\r\n\r\n");
        Self {
            method,
            trusted: draw.below(2) == 0,
            bytes,
        }
    }

    fn changes(&self) -> bool {
        !matches!(self.method, "GET" | "HEAD" | "OPTIONS")
    }

    /// Where it goes if it is this client's, by the steps of [`admit`]. The upstream hears the client's certificate, and nothing that is forged.
    async fn goes(&self, service: &Service, client: &Client) -> Outcome {
        let (read, write) = (self.bytes.as_bytes(), tokio::io::sink());
        let mut reader = ServerConnection::new(read, write, Limits::default()).requests;
        assert!(reader.next_head().await.unwrap());
        let head = reader.head();
        let chain = [CertificateDer::from(&*client.der)];
        let context = ClientContext::of(&chain, service).unwrap();
        let mut noted = String::new();
        let (index, path, options) = find(service, head, &mut noted).unwrap();
        let destination = match destination(service, index, Some(&context), self.changes()) {
            Ok(destination) => destination,
            Err(refused) if refused.held.is_some() => return Outcome::Held,
            Err(refused) => {
                assert_eq!(refused.refusal.answer.status(), 403);
                return Outcome::Refused;
            }
        };
        let mut outgoing = crate::routing::outgoing::Outgoing::default();
        let target = Target {
            path: &path,
            route: &service.routes[index],
            preserve_host: false,
            edits: None,
            underscores: service.underscores,
        };
        let origin = Origin {
            peer: "192.0.2.1",
            trusted: self.trusted,
            secured: true,
            certificate: &context.fields,
            pseudonym: &service.pseudonym,
            traceparent: None,
        };
        outgoing.write(head, target, &options, origin);
        let mut sent = Vec::new();
        outgoing.send(&mut sent, "upstream.example:80");
        client.is_told_of(&String::from_utf8(sent).unwrap());
        match destination.mirror {
            Some(mirror) => Outcome::ToBoth(destination.upstream, mirror.upstream),
            None => Outcome::To(destination.upstream),
        }
    }
}

impl Client {
    /// Holds what an upstream gets against this certificate.
    fn is_told_of(&self, sent: &str) {
        let fields: Vec<(&str, &str)> = sent.lines().filter_map(|l| l.split_once(": ")).collect();
        let said = |name: &str| -> Vec<&str> {
            let same = fields
                .iter()
                .filter(|(own, _)| own.eq_ignore_ascii_case(name));
            same.map(|(_, value)| *value).collect()
        };
        assert!(!sent.contains(FORGED), "{sent}");
        assert_eq!(said("X-Kept"), ["kept"], "{sent}");
        let [certificate] = said("Client-Cert")[..] else {
            panic!("{sent}");
        };
        let certificate = certificate.trim_matches(':');
        let certificate = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, certificate);
        assert_eq!(certificate.unwrap(), self.der, "{sent}");
        let [told] = said("X-Forwarded-Client-Cert")[..] else {
            panic!("{sent}");
        };
        let hash = format!("Hash={};", self.fingerprint());
        assert!(told.starts_with(&hash), "{sent}");
    }
}
