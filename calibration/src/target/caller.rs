//! A service that calls dependencies, with a call structure that is known: this program again, which the lab starts as a component.
//!
//! `plimsoll-calibration caller --port 8080 --call 127.0.0.1:9000/a --call 127.0.0.1:9000/b,127.0.0.1:9001/c` does some work of its own for
//! each request, then asks for a, then for b and c side by side, and then answers. Each connection has a thread of its own, and whatever is
//! not asked for costs next to nothing. A delay of d of each answer of a dependency then lengthens a request by d for each turn that stands
//! between the request and its answer, and by nothing else; `checks/slopes/structures.rs` says what that is for each structure.
//!
//! Own work takes an exponential time, so that response times spread as those of real services do. Without any spread the intervals of
//! slopes would be narrower than the tenth of a millisecond by which a timer is late.

use super::{ANSWER, next_request};
use crate::asking::ask;
use crate::bench::Error;
use crate::clock;
use crate::places::Places;
use clap::Parser;
use plimsoll_base::random::{Draw, Stream};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The first argument that makes this program a caller.
pub const WORD: &str = "caller";

/// How often a call is made at most, while its answer is no success.
const ATTEMPTS: u32 = 2;

/// Nobody asks a caller to end: it is killed.
static STOP: AtomicBool = AtomicBool::new(false);

/// The call structure, as arguments.
#[derive(Debug, Parser)]
#[command(name = WORD)]
struct Arguments {
    /// Where it listens, on loopback.
    #[arg(long)]
    port: u16,
    /// Mean time of its own work, in milliseconds.
    #[arg(long)]
    work_ms: f64,
    /// Key of what it draws.
    #[arg(long)]
    seed: u64,
    /// A step: `HOST:PORT/PATH`, or several with commas between, which are called side by side; repeatable, one step after the other.
    #[arg(long)]
    call: Vec<String>,
    /// Share of requests that call at all; the others find everything in a cache.
    #[arg(long, default_value_t = 1.0)]
    share: f64,
    /// Only each so many-th request calls.
    #[arg(long, default_value_t = 1)]
    each: u64,
    /// Calls come after the answer.
    #[arg(long)]
    after: bool,
    /// Every call has a TLS connection of its own; the authority that is trusted.
    #[arg(long)]
    ca: Option<PathBuf>,
    /// So many requests may call at once.
    #[arg(long)]
    pool: Option<usize>,
}

/// The state that connections share.
struct Caller {
    arguments: Arguments,
    steps: Vec<Vec<Dependency>>,
    places: Places,
    tls: Option<Arc<ClientConfig>>,
    requests: AtomicU64,
}

/// Whom a call goes to.
struct Dependency {
    address: SocketAddr,
    path: String,
    /// Idle connections; the one that became so last is the next to be used.
    kept: Mutex<Vec<TcpStream>>,
}

/// This program as a component of an experiment: a caller with these arguments beyond the port.
pub fn component(arguments: &[String]) -> Result<Value, Error> {
    let here = std::env::current_exe().map_err(|e| Error::io("finding this program", e))?;
    let here = here.display().to_string();
    let fixed = [&here, WORD, "--port", "${self.port}"].map(str::to_owned);
    let command: Vec<&String> = fixed.iter().chain(arguments).collect();
    Ok(json!({ "command": command }))
}

/// Serves until it is killed. `arguments`: those behind [`WORD`].
pub fn run(arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    let words = std::iter::once(WORD.to_owned()).chain(arguments);
    let arguments =
        Arguments::try_parse_from(words).map_err(|error| Error::Missing(error.to_string()))?;
    let listening = |error| Error::io("listening", error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).map_err(listening)?;
    let caller = Arc::new(Caller::new(arguments)?);
    loop {
        let (stream, _) = listener.accept().map_err(listening)?;
        let caller = Arc::clone(&caller);
        std::thread::spawn(move || {
            if caller.serve(stream).is_err() {
                // The client is gone, or sees that a dependency is.
            }
        });
    }
}

impl Caller {
    fn new(arguments: Arguments) -> Result<Self, Error> {
        let step = |text: &String| text.split(',').map(Dependency::parse).collect();
        Ok(Self {
            steps: arguments.call.iter().map(step).collect::<Result<_, _>>()?,
            places: Places::new(arguments.pool),
            tls: arguments.ca.as_deref().map(trusting).transpose()?,
            requests: AtomicU64::new(0),
            arguments,
        })
    }

    fn serve(self: &Arc<Self>, mut client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let Arguments {
            work_ms,
            seed,
            share,
            each,
            after,
            ..
        } = self.arguments;
        while next_request(&mut client, &STOP) {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            let mut draw = Draw::new(seed, Stream::Data, number);
            clock::sleep(Duration::from_secs_f64(draw.exponential() * work_ms / 1e3));
            let calls = number.is_multiple_of(each) && draw.unit() < share;
            if calls && !after {
                self.call()?;
            }
            client.write_all(ANSWER)?;
            if calls && after {
                let own = Arc::clone(self);
                std::thread::spawn(move || {
                    if let Err(error) = own.call() {
                        crate::say(&format!("a call after the answer: {error}"));
                    }
                });
            }
        }
        Ok(())
    }

    /// Carries out all steps, one after the other.
    fn call(&self) -> io::Result<()> {
        let _place = self.places.take();
        self.steps.iter().try_for_each(|step| self.step(step))
    }

    /// All calls of a step, side by side.
    fn step(&self, calls: &[Dependency]) -> io::Result<()> {
        let Some((first, others)) = calls.split_first() else {
            return Ok(());
        };
        std::thread::scope(|scope| {
            let ask = |dependency| self.ask(dependency);
            let others = others.iter().map(|other| scope.spawn(move || ask(other)));
            let others: Vec<_> = others.collect();
            ask(first)?;
            others.into_iter().try_for_each(|other| {
                let failed = |_| io::Error::other("a call panicked");
                other.join().map_err(failed)?
            })
        })
    }

    /// One call, again where it does not succeed.
    fn ask(&self, dependency: &Dependency) -> io::Result<()> {
        for attempt in 1..=ATTEMPTS {
            let request = format!(
                "GET {} HTTP/1.1\r\nHost: {}\r\nX-Attempt: {attempt}\r\n\r\n",
                dependency.path, dependency.address
            );
            let status = match &self.tls {
                None => dependency.over_kept(&request)?,
                Some(config) => dependency.over_tls(config, &request)?,
            };
            if (200..300).contains(&status) {
                return Ok(());
            }
        }
        Err(io::Error::other("a dependency does not succeed"))
    }
}

impl Dependency {
    /// From `HOST:PORT/PATH`.
    fn parse(text: &str) -> Result<Self, Error> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(address, path)| Some((address.parse().ok()?, path)));
        let (address, path) =
            parts.ok_or_else(|| Error::Missing(format!("`{text}` is not HOST:PORT/PATH")))?;
        Ok(Self {
            address,
            path: format!("/{path}"),
            kept: Mutex::new(Vec::new()),
        })
    }

    /// Asks over a connection that is kept; the status.
    fn over_kept(&self, request: &str) -> io::Result<u16> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = kept().pop();
        let mut stream = match idle {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let answer = ask(&mut stream, request)?;
        if answer.keeps() {
            kept().push(stream);
        }
        Ok(answer.status)
    }

    /// Asks over a TLS connection of its own.
    fn over_tls(&self, config: &Arc<ClientConfig>, request: &str) -> io::Result<u16> {
        let name = ServerName::IpAddress(self.address.ip().into());
        let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, self.connect()?);
        Ok(ask(&mut stream, request)?.status)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Trusts what this authority issued, and does a full handshake each time.
fn trusting(authority: &Path) -> Result<Arc<ClientConfig>, Error> {
    let certificate = CertificateDer::from_pem_file(authority).map_err(unusable)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(unusable)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

fn unusable(error: impl Display) -> Error {
    Error::Measured(format!("a caller's TLS: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Acceptor;
    use std::io::Read as _;

    /// A dependency that answers the first attempt with 503; and the paths and attempts that it was asked for.
    fn dependency() -> (Acceptor, Arc<Mutex<Vec<String>>>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let acceptor = Acceptor::start(move |mut stream, _| {
            let mut bytes = [0; 2048];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let is_refused = text.contains("/flaky") && text.contains("X-Attempt: 1");
                seen.lock().unwrap().push(text);
                let answer: &[u8] = match is_refused {
                    true => b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
                    false => ANSWER,
                };
                stream.write_all(answer).unwrap();
            }
        });
        (acceptor.unwrap(), asked)
    }

    #[test]
    fn steps_are_called_in_order_and_again_where_they_fail() {
        let (acceptor, asked) = dependency();
        let at = acceptor.address;
        let check = |calls: &[String], expected: &[&str]| {
            let fixed = ["caller", "--port=0", "--work-ms=0", "--seed=1"].map(str::to_owned);
            let calls = calls.iter().map(|call| format!("--call={call}"));
            let words = fixed.into_iter().chain(calls);
            let caller = Caller::new(Arguments::parse_from(words)).unwrap();
            caller.call().unwrap();
            let mut seen = asked.lock().unwrap();
            let paths = seen.drain(..).map(|text| {
                let path = text.split(' ').nth(1).unwrap_or_default();
                path.to_owned()
            });
            assert_eq!(paths.collect::<Vec<_>>(), expected);
        };
        check(&[], &[]);
        check(&[format!("{at}/a"), format!("{at}/b/c")], &["/a", "/b/c"]);
        check(&[format!("{at}/a,{at}/a")], &["/a", "/a"]);
        check(&[format!("{at}/flaky")], &["/flaky", "/flaky"]);
        assert!(Dependency::parse("no address").is_err());
    }
}
