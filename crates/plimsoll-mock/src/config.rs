//! Configuration of a mock.

use crate::outgoing::OutgoingConfig;
use crate::records::journal::JournalLimits;
use plimsoll_http::tls::ServerTls;
use plimsoll_http::{Limits, Pace};
use plimsoll_wiremock::reader::surroundings::Templating;
use plimsoll_wiremock::response::delay::DelayPrecision;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The configuration of a mock. Start from [`MockConfig::new`] and change what should differ.
#[derive(Debug, Clone)]
pub struct MockConfig {
    /// Where to listen in plaintext, if at all; port 0 asks for any free port.
    pub listen: Option<SocketAddr>,
    /// Where to listen over TLS, if at all.
    pub https: Option<Https>,
    /// The directory with `mappings/` and `__files/`. Without one, stubs come over the admin API alone.
    pub root_dir: Option<PathBuf>,
    /// Whether answers are packed with gzip for clients that accept it.
    pub gzip: bool,
    /// Whether a client in plaintext may begin with the preface of HTTP/2. Over TLS what is spoken is agreed on.
    pub http2_in_clear: bool,
    /// Whether go-bench-suite's endpoints answer what no stub matches.
    pub builtins: Builtins,
    /// Where the counters are kept so that they survive this process; without a path they live in memory.
    pub counters: Option<PathBuf>,
    /// How many threads serve, each with a runtime of its own.
    pub shards: usize,
    /// Reproduces delays and minted ids.
    pub seed: u64,
    /// Whether sampled delays are rounded to whole milliseconds, as in WireMock.
    pub delay_precision: DelayPrecision,
    /// How many requests are kept for the admin API to show.
    pub journal: JournalLimits,
    /// How many unmatched requests a second get a table of differences from the nearest stub; the others get one line.
    pub differences_per_second: u32,
    /// Which responses are templates.
    pub templating: Templating,
    /// Who may use the routes below `/__admin`.
    pub admin: AdminAccess,
    /// Whether those routes want TLS as well.
    pub admin_requires_https: bool,
    /// Origins whose pages may use those routes, too, as browsers write them: `https://example.com:8443`.
    pub admin_origins: Vec<String>,
    /// Whether pages of any origin may read what stubs answer (`--enable-stub-cors`).
    pub stub_cors: bool,
    /// Limits on requests.
    pub limits: Limits,
    /// How many clients there may be at a time, over all shards; a further one gets 503. Never more than there are descriptors for.
    pub connections: u32,
    /// How long a client is waited for.
    pub timeouts: Timeouts,
    /// To whom the mock itself may send requests, and how.
    pub outgoing: OutgoingConfig,
    /// Where every request is sent on that no stub of the root directory answers (`--proxy-all`).
    pub proxy_all: Option<String>,
    /// Whether to write a mapping of each request that is sent on, with patterns for these of its fields (`--record-mappings`, `--match-headers`).
    pub record: Option<Vec<String>>,
    /// Where the times of other servers are written, as an HdrHistogram interval log.
    pub record_latency: Option<PathBuf>,
    /// How long requests under way may take to end when the mock is stopped.
    pub grace: Duration,
}

/// A listener over TLS.
#[derive(Debug, Clone)]
pub struct Https {
    /// Where to listen; port 0 asks for any free port.
    pub listen: SocketAddr,
    /// Who the mock is there, and whom it serves.
    pub tls: ServerTls,
}

/// How long a client is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For a whole head, once its first byte came: 408.
    pub head: Duration,
    /// For the first byte of a request: the connection closes.
    pub idle: Duration,
    /// For a body to come (408) and for an answer to be taken (a reset).
    pub body: Pace,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            body: Pace {
                silence: Duration::from_secs(60),
                bytes_per_second: 1024,
            },
        }
    }
}

/// Whether go-bench-suite's endpoints answer what no stub matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Builtins {
    /// As long as no stubs are in use: there is no root directory, and none has come over the admin API.
    #[default]
    WithoutStubs,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Who may use the admin API.
#[derive(Debug, Clone, Default)]
pub enum AdminAccess {
    /// Whoever reaches it under a loopback name; only possible when listening on loopback.
    #[default]
    Loopback,
    /// Whoever knows these credentials (HTTP Basic).
    Credentials(Credentials),
    /// Whoever reaches it.
    Open,
}

/// A user and a password. Its password cannot be printed.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: String,
}

impl MockConfig {
    /// A mock with nothing configured: one shard, no stubs, the admin API for loopback.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen: Some(listen),
            https: None,
            gzip: true,
            http2_in_clear: true,
            root_dir: None,
            builtins: Builtins::default(),
            counters: None,
            shards: 1,
            seed: 0,
            delay_precision: DelayPrecision::default(),
            journal: JournalLimits::default(),
            differences_per_second: 10,
            templating: Templating::default(),
            admin: AdminAccess::default(),
            admin_requires_https: false,
            admin_origins: Vec::new(),
            stub_cors: false,
            limits: Limits::default(),
            connections: 20_000,
            timeouts: Timeouts::default(),
            outgoing: OutgoingConfig::default(),
            proxy_all: None,
            record: None,
            record_latency: None,
            grace: Duration::from_secs(10),
        }
    }
}

impl Credentials {
    /// Credentials for the admin API.
    #[must_use]
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
        }
    }

    /// The text that HTTP Basic encodes (RFC 7617).
    pub(crate) fn pair(&self) -> String {
        format!("{}:{}", self.user, self.password)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}:…)", self.user)
    }
}
