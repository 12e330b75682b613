//! Where records of requests and spans of traces go, and what is in them.

use plimsoll_http::otlp::Endpoint;
use plimsoll_redis::RedisConf;
use plimsoll_secrets::{Password, Withheld};
use std::path::PathBuf;
use std::time::Duration;

/// The list that tyk-pump reads.
pub(crate) const TYKS_LIST: &str = "analytics-tyk-system-analytics";
/// Bytes of a body that are recorded where nothing says it.
pub(crate) const RECORDED_BODY: usize = 16 * 1024;
/// Bytes that may wait for a sink where nothing says it.
pub(crate) const SPOOLED: u64 = 256 * 1024 * 1024;

/// Records of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnalyticsConfig {
    /// At least one, of each kind at most one.
    pub(crate) sinks: Vec<SinkConfig>,
    /// Where records wait for sinks that are away; in memory alone without one.
    pub(crate) spool: Option<SpoolConfig>,
    /// Bytes of each body that are recorded, where requests are recorded in detail.
    pub(crate) body: usize,
    /// Requests that no API answers leave records, too.
    pub(crate) unrouted: bool,
    /// Addresses whose requests leave none.
    pub(crate) ignored: Vec<String>,
}

impl AnalyticsConfig {
    /// Of requests that APIs answer, with a place for them still to be named.
    pub(crate) fn empty() -> Self {
        Self {
            sinks: Vec::new(),
            spool: None,
            body: RECORDED_BODY,
            unrouted: false,
            ignored: Vec::new(),
        }
    }

    /// Whether more is recorded than our own lines say.
    pub(crate) fn is_wide(&self) -> bool {
        let narrow = |sink: &SinkConfig| {
            matches!(
                sink,
                SinkConfig::File {
                    form: LineForm::Own,
                    ..
                } | SinkConfig::Output {
                    form: LineForm::Own
                }
            )
        };
        !self.sinks.iter().all(narrow)
    }

    /// Has the next connections be made with the passwords that `next` says, whose sinks are the same.
    pub(crate) fn renew_passwords(&self, next: &Self) {
        for (own, next) in self.sinks.iter().zip(&next.sinks) {
            match (own, next) {
                (SinkConfig::Redis(own), SinkConfig::Redis(next)) => {
                    own.conf.password.renew(&next.conf.password);
                }
                (SinkConfig::Postgresql(own), SinkConfig::Postgresql(next)) => {
                    own.password.renew(&next.password);
                }
                _ => {}
            }
        }
    }
}

/// A place that records go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SinkConfig {
    File {
        path: PathBuf,
        form: LineForm,
    },
    /// A file that [`crate::Controls::output`] opens.
    Output {
        form: LineForm,
    },
    Redis(RedisSink),
    Postgresql(PostgresqlSink),
    /// A collector of logs.
    Otlp(Endpoint),
}

/// How a record is written as a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LineForm {
    #[default]
    Own,
    Tyk,
}

/// A list in Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedisSink {
    pub(crate) conf: RedisConf,
    pub(crate) key: String,
    /// Ten lists, by number behind the key, in place of one.
    pub(crate) several: bool,
    pub(crate) form: RedisForm,
    /// After what time without a record the list goes; zero: never.
    pub(crate) expires: Duration,
}

/// How a record is written in Redis. Both are Tyk's record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RedisForm {
    #[default]
    MsgPack,
    Json,
}

/// A table in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PostgresqlSink {
    /// Without a password.
    pub(crate) connection: tokio_postgres::Config,
    pub(crate) password: Password,
    /// As it stands in statements.
    pub(crate) table: String,
}

impl PostgresqlSink {
    /// How it is connected to now.
    ///
    /// # Errors
    /// While its password is withheld.
    pub(crate) fn connection(&self) -> Result<tokio_postgres::Config, Withheld> {
        let mut connection = self.connection.clone();
        if let Some(password) = self.password.reveal()? {
            connection.password(&*password);
        }
        Ok(connection)
    }

    /// Its name in messages: host and database.
    pub(crate) fn place(&self) -> String {
        use tokio_postgres::config::Host;
        let host = match self.connection.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => String::new(),
        };
        let port = self.connection.get_ports().first().unwrap_or(&5432);
        let database = self.connection.get_dbname().unwrap_or_default();
        format!("postgresql://{host}:{port}/{database}")
    }
}

/// Where records wait on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpoolConfig {
    /// With one directory below it for each sink.
    pub(crate) directory: PathBuf,
    /// For each sink.
    pub(crate) bytes: u64,
}

/// Recording of the requests of one route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Nothing.
    pub(crate) off: bool,
    /// The whole request and response, as far as [`AnalyticsConfig::body`] goes.
    pub(crate) detailed: bool,
    /// Id and name as an API; the route's path without them.
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) organisation: String,
    /// Seconds after which its records expire; 0: never.
    pub(crate) expires_after: u64,
}

/// Spans of traces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TracingConfig {
    pub(crate) endpoint: Endpoint,
    /// The gateway's name as a service.
    pub(crate) service: String,
    /// Of all traces, 0 to 1.
    pub(crate) share: f64,
    /// Upstreams are told the span's own id.
    pub(crate) propagate: bool,
}
