//! Where records of requests and spans of traces go, and what is in them.

use plimsoll_http::otlp::Endpoint;
use plimsoll_redis::RedisConf;
use plimsoll_secrets::{Password, Withheld};
use std::path::PathBuf;
use std::time::Duration;

/// The list that tyk-pump reads.
pub const TYKS_LIST: &str = "analytics-tyk-system-analytics";
/// Bytes of a body that are recorded where nothing says it.
pub const RECORDED_BODY: usize = 16 * 1024;
/// Bytes that may wait for a sink where nothing says it.
pub const SPOOLED: u64 = 256 * 1024 * 1024;

/// Records of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyticsConfig {
    /// At least one, of each kind at most one.
    pub sinks: Vec<SinkConfig>,
    /// Where records wait for sinks that are away; in memory alone without one.
    pub spool: Option<SpoolConfig>,
    /// Bytes of each body that are recorded, where requests are recorded in detail.
    pub body: usize,
    /// Requests that no API answers leave records, too.
    pub unrouted: bool,
    /// Addresses whose requests leave none.
    pub ignored: Vec<String>,
}

impl AnalyticsConfig {
    /// Of requests that APIs answer, with a place for them still to be named.
    pub fn empty() -> Self {
        Self {
            sinks: Vec::new(),
            spool: None,
            body: RECORDED_BODY,
            unrouted: false,
            ignored: Vec::new(),
        }
    }

    /// Whether more is recorded than our own lines say.
    pub fn is_wide(&self) -> bool {
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
    pub fn renew_passwords(&self, next: &Self) {
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
pub enum SinkConfig {
    /// A file of lines.
    File {
        /// Where the file is.
        path: PathBuf,
        /// How a line is written.
        form: LineForm,
    },
    /// A file that [`Output`](crate::Output) opens.
    Output {
        /// How a line is written.
        form: LineForm,
    },
    /// A list in Redis.
    Redis(RedisSink),
    /// A table in PostgreSQL.
    Postgresql(PostgresqlSink),
    /// A collector of logs.
    Otlp(Endpoint),
}

/// How a record is written as a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineForm {
    /// A line of JSON with our names.
    #[default]
    Own,
    /// Tyk's record as JSON.
    Tyk,
}

/// A list in Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisSink {
    /// The server.
    pub conf: RedisConf,
    /// The list's key.
    pub key: String,
    /// Ten lists, by number behind the key, in place of one.
    pub several: bool,
    /// How records are written in it.
    pub form: RedisForm,
    /// After what time without a record the list goes; zero: never.
    pub expires: Duration,
}

/// How a record is written in Redis. Both are Tyk's record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RedisForm {
    /// MessagePack, as tyk-pump reads it.
    #[default]
    MsgPack,
    /// JSON.
    Json,
}

/// A table in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresqlSink {
    /// Without a password.
    pub connection: tokio_postgres::Config,
    /// The password of the connection's user.
    pub password: Password,
    /// As it stands in statements.
    pub table: String,
}

impl PostgresqlSink {
    /// How it is connected to now.
    ///
    /// # Errors
    /// While its password is withheld.
    pub fn connection(&self) -> Result<tokio_postgres::Config, Withheld> {
        let mut connection = self.connection.clone();
        if let Some(password) = self.password.reveal()? {
            connection.password(&*password);
        }
        Ok(connection)
    }

    /// Its name in messages: host and database.
    pub fn place(&self) -> String {
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
pub struct SpoolConfig {
    /// With one directory below it for each sink.
    pub directory: PathBuf,
    /// For each sink.
    pub bytes: u64,
}

/// Spans of traces.
#[derive(Debug, Clone, PartialEq)]
pub struct TracingConfig {
    /// The collector.
    pub endpoint: Endpoint,
    /// The gateway's name as a service.
    pub service: String,
    /// Of all traces, 0 to 1.
    pub share: f64,
    /// Upstreams are told the span's own id.
    pub propagate: bool,
}
