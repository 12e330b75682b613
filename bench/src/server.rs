//! The servers and proxies under comparison, and the targets of generators: how each is started and when it is ready.

mod announced;
mod gateway;
mod go_proxy;
mod haproxy;
mod mock;
mod nginx;
mod wiremock;

use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::clock;
use crate::http;
use crate::process;
use crate::trouble::Trouble;
use rustix::process::Pid;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// What every server answers on [`PATH`].
pub const BODY: &str = "0123456789abcdefghijklmnopqrstuvwxyz\\n";
/// What is requested.
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
    /// nginx with `return 200`.
    NginxReturn,
    /// WireMock with the same stub.
    WireMock,
    /// Our gateway as a reverse proxy and nothing else.
    GatewayPlain,
    /// Our gateway with key, rate limit and analytics.
    GatewayEverything,
    /// nginx with `proxy_pass`.
    NginxProxy,
    /// HAProxy with one thread.
    HaProxy,
    /// Go's `httputil.ReverseProxy`.
    GoProxy,
}

/// A running server.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    /// Its files; they go with it.
    directory: TempDir,
}

impl Kind {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mock => "plimsoll mock",
            Self::NginxReturn => "nginx `return 200`",
            Self::WireMock => "WireMock",
            Self::GatewayPlain => "plimsoll gateway, plain",
            Self::GatewayEverything => "plimsoll gateway, everything",
            Self::NginxProxy => "nginx `proxy_pass`",
            Self::HaProxy => "HAProxy",
            Self::GoProxy => "Go ReverseProxy",
        }
    }

    /// How much longer than others it runs before it is measured: a Java machine compiles what it has seen often.
    pub fn warmup(self, ordinary: Duration) -> Duration {
        match self {
            Self::WireMock => ordinary * 8,
            _ => ordinary,
        }
    }

    /// Starts it on a processor and waits until it answers [`BODY`] on [`PATH`]. A proxy needs an upstream.
    pub fn start(
        self,
        bench: &Bench,
        cpu: usize,
        upstream: Option<SocketAddr>,
    ) -> Result<Server, Trouble> {
        let directory = bench.directory()?;
        let site = Site {
            bench,
            cpu,
            directory: directory.path(),
            upstream,
        };
        let (child, address) = match self {
            Self::Mock => mock::start(&site),
            Self::NginxReturn => nginx::start_return(&site),
            Self::WireMock => wiremock::start(&site),
            Self::GatewayPlain => gateway::start_plain(&site),
            Self::GatewayEverything => gateway::start_everything(&site),
            Self::NginxProxy => nginx::start_proxy(&site),
            Self::HaProxy => haproxy::start(&site),
            Self::GoProxy => go_proxy::start(&site),
        }?;
        let (status, body) = http::get(address, PATH, &authorization())?;
        if status != 200 || body != BODY.replace("\\n", "\n") {
            let name = self.name();
            return Err(Trouble::Behaved(format!("{name} answered {status} {body}")));
        }
        Ok(Server {
            address,
            child,
            directory,
        })
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

    /// Makes nginx serve a file of zeroes; its path.
    pub fn publish(&self, name: &str, bytes: u64) -> Result<String, Trouble> {
        let directory = self.directory.path().join("files");
        std::fs::create_dir_all(&directory)
            .and_then(|()| std::fs::File::create(directory.join(name)))
            .and_then(|file| file.set_len(bytes))
            .map_err(Trouble::io("a file to serve"))?;
        Ok(format!("/files/{name}"))
    }

    /// Requests that nginx counted. Being asked counts as one.
    pub fn nginx_requests(&self) -> Result<f64, Trouble> {
        let (_, body) = http::get(self.address, "/status", "")?;
        nginx::requests(&body).ok_or_else(|| Trouble::Behaved(format!("nginx reported {body}")))
    }
}

/// The header line with the key.
pub fn authorization() -> String {
    format!("Authorization: {KEY}\r\n")
}

/// Where a server is started.
struct Site<'a> {
    bench: &'a Bench,
    cpu: usize,
    directory: &'a Path,
    upstream: Option<SocketAddr>,
}

impl Site<'_> {
    /// Fills the `@marks@` of a committed configuration and writes it to the server's directory.
    fn render(&self, name: &str, template: &str, port: u16) -> Result<(), Trouble> {
        let mut text = template
            .replace("@dir@", &self.directory.display().to_string())
            .replace("@port@", &port.to_string())
            .replace("@body@", BODY)
            .replace("@key@", KEY);
        if let Some(upstream) = self.upstream {
            text = text.replace("@upstream@", &upstream.to_string());
        }
        let path = self.directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Trouble::io("a configuration directory"))?;
        }
        std::fs::write(path, text).map_err(Trouble::io(format!("writing {name}")))
    }

    fn spawn(&self, command: &Command, output: Output) -> Result<Child, Trouble> {
        Child::spawn(command, self.cpu, self.directory, output)
    }

    /// Starts a program that has to be told its port, and waits until it listens; another port is tried when it was taken meanwhile.
    fn listen(
        &self,
        command: impl Fn(u16) -> Result<Command, Trouble>,
    ) -> Result<(Child, SocketAddr), Trouble> {
        let mut last = None;
        for _ in 0..TRIES {
            let address = free_address()?;
            let mut child = self.spawn(&command(address.port())?, Output::Messages)?;
            match answers(&mut child, address) {
                Ok(()) => return Ok((child, address)),
                Err(trouble) => last = Some(trouble),
            }
        }
        Err(last.expect("invariant: at least one try"))
    }
}

/// Waits for any answer.
fn answers(child: &mut Child, address: SocketAddr) -> Result<(), Trouble> {
    let deadline = clock::now() + READY;
    loop {
        child.check_alive()?;
        let tried = http::get(address, PATH, &authorization());
        match tried {
            Ok((200, _)) => return Ok(()),
            Ok((status, _)) if clock::now() > deadline => {
                return Err(Trouble::Behaved(format!("still answers {status}")));
            }
            Err(trouble) if clock::now() > deadline => return Err(trouble),
            _ => clock::pause(LOOK),
        }
    }
}

fn free_address() -> Result<SocketAddr, Trouble> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Trouble::io("finding a free port"))
}
