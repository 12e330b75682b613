//! The servers and proxies under comparison, and the targets of generators: how each is started and when it is ready.

mod announced;
mod fault;
mod gateway;
mod go_proxy;
mod haproxy;
pub mod mock;
mod nginx;
mod shards;
pub mod tyk;
mod upstream;
mod wiremock;

use crate::Error;
use crate::authority;
use crate::bench::{Bench, Lengths};
use crate::clock;
use crate::http;
use crate::limits;
use crate::placement::Cpus;
use crate::port;
use crate::process;
use crate::program::{Output, Program};
use crate::protocol::Protocol;
use crate::secured::Clients;
use mock::Setting;
use rustix::process::Pid;
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
pub use upstream::Upstream;

/// The answer of every server on [`PATH`].
pub const BODY: &str = "0123456789abcdefghijklmnopqrstuvwxyz\\n";
/// A document of 2 kB that is sent to stubs which look into it.
pub const DOCUMENT: &str = include_str!("../config/document.json");
/// The path that is requested.
pub const PATH: &str = "/bench";
/// The key that the gateway with everything asks for. Every proxy gets it, and every proxy passes it on.
pub const KEY: &str = "bench-0123456789abcdef";

/// How long a server may take until it answers: a Java machine starts in seconds.
const READY: Duration = Duration::from_secs(60);
/// How often readiness is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Another free port is tried so often.
const TRIES: usize = 3;

/// A kind of server, by the name in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Our mock with one stub.
    Mock,
    /// Our mock with other stubs, or told to do more.
    MockWith(Setting),
    /// nginx with `return 200`.
    NginxReturn,
    /// nginx with `return 200` and so many workers.
    NginxReturnWorkers(u32),
    /// nginx with `return 200`, and a second port for another protocol.
    NginxBeside(Protocol),
    /// WireMock with the same stub.
    WireMock,
    /// Our gateway as a reverse proxy and nothing else.
    GatewayPlain,
    /// Our gateway with key, rate limit and analytics.
    GatewayEverything,
    /// Our gateway, which asks clients for certificates and routes by them.
    GatewayShards,
    /// HAProxy, which does the same.
    HaProxyShards,
    /// The plain one with spans of this share of its requests.
    GatewayTraced(&'static str),
    /// The plain one with so many routes, of which the last is asked for.
    GatewayRoutes(u32),
    /// Our gateway with Tyk's files and so many keys, each of which was used.
    GatewayKeys(u32),
    /// The plain one with so many shards, whatever processors it has.
    GatewayThreads(u32),
    /// nginx with `proxy_pass`.
    NginxProxy,
    /// nginx with `proxy_pass` and so many workers.
    NginxProxyWorkers(u32),
    /// HAProxy with one thread.
    HaProxy,
    /// Go's `httputil.ReverseProxy`.
    GoProxy,
    /// Our fault proxy with one shard and no toxic.
    Fault,
    /// Toxiproxy without a toxic.
    Toxiproxy,
    /// HAProxy with one thread, which only moves bytes.
    HaProxyTcp,
}

/// Where a server takes load, and how.
#[derive(Debug, Clone, Copy)]
pub struct Listener {
    /// Where.
    pub address: SocketAddr,
    /// By which protocol.
    pub protocol: Protocol,
}

impl Listener {
    /// The scheme of its URLs.
    pub fn scheme(self) -> &'static str {
        match self.protocol {
            Protocol::Clear | Protocol::Http2 => "http",
            Protocol::Tls | Protocol::MutualTls => "https",
        }
    }
}

/// A running server.
pub struct Server {
    kind: Kind,
    /// Where it listens, in clear.
    pub address: SocketAddr,
    /// Where load goes.
    pub listener: Listener,
    /// Where it is asked about itself, if it says so.
    pub admin: Option<SocketAddr>,
    child: Program,
    /// Its files; they go with it.
    directory: TempDir,
}

impl Kind {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mock => "plimsoll mock",
            Self::MockWith(setting) => setting.name(),
            Self::NginxReturn | Self::NginxReturnWorkers(_) | Self::NginxBeside(_) => {
                "nginx `return 200`"
            }
            Self::WireMock => "WireMock",
            Self::GatewayPlain => "plimsoll gateway, plain",
            Self::GatewayEverything => "plimsoll gateway, everything",
            Self::GatewayShards => "plimsoll gateway, shards",
            Self::HaProxyShards => "HAProxy, shards",
            Self::GatewayTraced(_) => "plimsoll gateway, spans",
            Self::GatewayRoutes(_) => "plimsoll gateway, routes",
            Self::GatewayKeys(_) => "plimsoll gateway, Tyk's files",
            Self::GatewayThreads(_) => "plimsoll gateway, several shards",
            Self::NginxProxy | Self::NginxProxyWorkers(_) => "nginx `proxy_pass`",
            Self::HaProxy => "HAProxy",
            Self::GoProxy => "Go ReverseProxy",
            Self::Fault => "plimsoll fault",
            Self::Toxiproxy => "Toxiproxy",
            Self::HaProxyTcp => "HAProxy, `mode tcp`",
        }
    }

    /// How long it runs before it is measured: a Java machine compiles what it has seen often.
    pub fn warmup(self, lengths: Lengths) -> Duration {
        match self {
            Self::WireMock => lengths.long_lead(),
            _ => lengths.lead(),
        }
    }

    /// Starts it on these processors and waits until it answers [`BODY`] on [`PATH`]. A proxy needs an upstream.
    pub fn start(
        self,
        bench: &Bench,
        cpus: impl Into<Cpus>,
        upstream: Option<Upstream>,
    ) -> Result<Server, Error> {
        let directory = bench.directory()?;
        let site = Site {
            bench,
            cpus: cpus.into(),
            directory: directory.path(),
            upstream,
            admin: Cell::new(None),
        };
        let (child, address, listener) = match self {
            Self::NginxBeside(protocol) => nginx::start_beside(&site, protocol),
            Self::GatewayShards => shards::start_gateway(&site),
            Self::HaProxyShards => shards::start_haproxy(&site),
            _ => self.start_in_clear(&site),
        }?;
        let (status, body) = match listener.protocol {
            Protocol::MutualTls => (200, asked_with_certificate(&site, listener.address)?),
            _ => http::get(address, PATH, &AUTHORIZATION)?,
        };
        if status != 200 || body != BODY.replace("\\n", "\n") {
            let name = self.name();
            return Err(Error::Measured(format!("{name} answered {status} {body}")));
        }
        let admin = site.admin.get();
        Ok(Server {
            kind: self,
            address,
            listener,
            admin,
            child,
            directory,
        })
    }

    fn start_in_clear(self, site: &Site<'_>) -> Result<(Program, SocketAddr, Listener), Error> {
        let (child, address) = match self {
            Self::Mock => mock::start(site, Setting::Plain),
            Self::MockWith(setting) => mock::start(site, setting),
            Self::NginxReturn | Self::NginxBeside(_) => nginx::start_return(site, 1),
            Self::NginxReturnWorkers(count) => nginx::start_return(site, count),
            Self::WireMock => wiremock::start(site),
            Self::GatewayPlain | Self::GatewayShards => gateway::start_plain(site),
            Self::GatewayEverything => gateway::start_everything(site),
            Self::GatewayTraced(share) => gateway::start_traced(site, share),
            Self::GatewayRoutes(count) => gateway::start_routes(site, count),
            Self::GatewayThreads(count) => gateway::start_threads(site, count),
            Self::GatewayKeys(count) => tyk::start(site, count),
            Self::NginxProxy => nginx::start_proxy(site, 1),
            Self::NginxProxyWorkers(count) => nginx::start_proxy(site, count),
            Self::HaProxy | Self::HaProxyShards => haproxy::start(site, haproxy::REVERSE_PROXY),
            Self::GoProxy => go_proxy::start(site),
            Self::Fault => fault::start_ours(site),
            Self::Toxiproxy => fault::start_toxiproxy(site),
            Self::HaProxyTcp => haproxy::start(site, haproxy::PROXY_OF_TCP),
        }?;
        let protocol = Protocol::Clear;
        Ok((child, address, Listener { address, protocol }))
    }
}

impl Server {
    /// The id of its first process.
    pub fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// User and system time since it started, of its whole tree.
    pub fn processor_time(&self) -> Duration {
        process::processor_time(self.pid())
    }

    /// The directory of its files.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The certificate of the authority that vouches for it, where it speaks TLS.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join(authority::AUTHORITY)
    }

    /// Makes nginx serve a file of zeroes; its path.
    pub fn publish(&self, name: &str, bytes: u64) -> Result<String, Error> {
        let directory = self.directory.path().join("files");
        std::fs::create_dir_all(&directory)
            .and_then(|()| std::fs::File::create(directory.join(name)))
            .and_then(|file| file.set_len(bytes))
            .map_err(Error::when("a file to serve"))?;
        Ok(format!("/files/{name}"))
    }

    /// Requests that it has received, by its own counter, which nginx and our mock have. Being asked counts as one.
    pub fn requests(&self) -> Result<f64, Error> {
        let (path, read): (_, fn(&str) -> Option<f64>) = match self.kind {
            Kind::NginxReturn | Kind::NginxReturnWorkers(_) | Kind::NginxBeside(_) => {
                ("/status", nginx::requests)
            }
            _ => ("/__admin/metrics", mock::requests),
        };
        let (status, body) = http::get(self.address, path, &[])?;
        let name = self.kind.name();
        read(&body).ok_or_else(|| Error::Measured(format!("{name} counts nothing: {status}")))
    }
}

/// The header line with the key, for the command lines of generators.
pub fn authorization() -> String {
    let [(name, key)] = AUTHORIZATION;
    format!("{name}: {key}")
}

/// The field with the key.
const AUTHORIZATION: [(&str, &str); 1] = [("Authorization", KEY)];

/// Where a server is started.
pub struct Site<'a> {
    /// The bench.
    pub bench: &'a Bench,
    /// Its processors.
    pub cpus: Cpus,
    /// Its files.
    pub directory: &'a Path,
    /// The server behind a proxy.
    pub upstream: Option<Upstream>,
    /// Where the server is asked about itself, once it has said so.
    pub admin: Cell<Option<SocketAddr>>,
}

impl Site<'_> {
    /// Fills the `@marks@` of a committed configuration and writes it to the server's directory.
    fn render(&self, name: &str, template: &str, port: u16) -> Result<(), Error> {
        let mut text = template
            .replace("@dir@", &self.directory.display().to_string())
            .replace("@port@", &port.to_string())
            .replace("@body@", BODY)
            .replace("@connections@", &limits::connections().to_string())
            .replace("@key@", KEY);
        if let Some(upstream) = self.upstream {
            text = upstream.fill(&text);
        }
        let path = self.directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::when("a configuration directory"))?;
        }
        std::fs::write(path, text).map_err(Error::when(format!("writing {name}")))
    }

    fn spawn(&self, command: &Command, output: Output) -> Result<Program, Error> {
        Program::spawn(command, self.cpus, self.directory, output)
    }

    /// Starts a program that has to be told its port, and waits until it listens; another port is tried when it was taken meanwhile.
    fn listen(
        &self,
        command: impl Fn(u16) -> Result<Command, Error>,
    ) -> Result<(Program, SocketAddr), Error> {
        let mut last = None;
        for _ in 0..TRIES {
            let address = port::free()?;
            let mut child = self.spawn(&command(address.port())?, Output::Messages)?;
            match answers(&mut child, address) {
                Ok(()) => return Ok((child, address)),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("invariant: at least one try"))
    }
}

/// The answer of a proxy to a client that shows a certificate.
fn asked_with_certificate(site: &Site<'_>, address: SocketAddr) -> Result<String, Error> {
    let clients = Clients::of(site.directory)?;
    let answered = clients.connected(0, address, PATH);
    let (_, body) = answered.map_err(Error::when("asking with a certificate"))?;
    Ok(body)
}

/// Waits for any answer.
fn answers(child: &mut Program, address: SocketAddr) -> Result<(), Error> {
    let deadline = clock::now() + READY;
    loop {
        child.check_alive()?;
        let tried = http::get(address, PATH, &AUTHORIZATION);
        match tried {
            Ok((200, _)) => return Ok(()),
            Ok((status, _)) if clock::now() > deadline => {
                return Err(Error::Measured(format!("still answers {status}")));
            }
            Err(error) if clock::now() > deadline => return Err(error),
            _ => clock::pause(LOOK),
        }
    }
}
