//! Where records of requests and spans of traces go.

use super::super::wire::analytics::{
    AnalyticsBlock, FormWord, PostgresqlBlock, RedisBlock, RedisFormWord, SpoolBlock, TracingBlock,
};
use super::super::wire::secrets::SecretText;
use super::{Checker, secrets};
use plimsoll_base::document::Path;
use plimsoll_http::otlp::{Endpoint, Signal};
use plimsoll_records::{
    AnalyticsConfig, LineForm, PostgresqlSink, RECORDED_BODY, RedisForm, RedisSink, SPOOLED,
    SinkConfig, SpoolConfig, TYKS_LIST, TracingConfig,
};
use plimsoll_redis::{OPEN_PASSWORD, RedisConf};
use plimsoll_secrets::Password;
use plimsoll_secrets::Purpose;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};

const MIB: u64 = 1024 * 1024;

/// Records of requests, and whether they are recorded in detail.
pub(super) fn analytics(
    c: &mut Checker<'_>,
    block: Option<&AnalyticsBlock>,
) -> Option<AnalyticsConfig> {
    let block = block?;
    let at = Path::root().key("analytics");
    let form = match block.form {
        FormWord::Own => LineForm::Own,
        FormWord::Tyk => LineForm::Tyk,
    };
    let mut sinks = Vec::new();
    if let Some(path) = &block.file {
        let path = PathBuf::from(path);
        sinks.push(SinkConfig::File { path, form });
    }
    if block.stdout {
        sinks.push(SinkConfig::Output { form });
    }
    let redis = block.redis.as_ref();
    let redis = redis.and_then(|block| redis_sink(c, &at.key("redis"), block));
    sinks.extend(redis.map(SinkConfig::Redis));
    let postgresql = block.postgresql.as_ref();
    let postgresql = postgresql.and_then(|block| table(c, &at.key("postgresql"), block));
    sinks.extend(postgresql.map(SinkConfig::Postgresql));
    let otlp = block.otlp.as_ref().and_then(|block| {
        let at = at.key("otlp").key("endpoint");
        endpoint(c, &at, &block.endpoint, Signal::Logs)
    });
    sinks.extend(otlp.map(SinkConfig::Otlp));
    let servers = block.redis.is_some() || block.postgresql.is_some() || block.otlp.is_some();
    if !servers && sinks.is_empty() {
        c.refuse(
            "analytics",
            "say where records go: write `file: …`, `stdout: true`, `redis`, `postgresql` or `otlp`",
        );
    }
    if !servers && block.spool.is_some() {
        let message = "records wait for servers alone: write `redis`, `postgresql` or `otlp`, or leave this out";
        c.refuse(at.key("spool"), message);
    }
    let lines = block.file.is_some() || block.stdout;
    if block.form == FormWord::Tyk && !lines {
        let message = "this is how lines are written: write `file` or `stdout`, or leave this out";
        c.refuse(at.key("form"), message);
    }
    Some(AnalyticsConfig {
        sinks,
        spool: (block.spool.as_ref()).map(|block| spool(c, &at.key("spool"), block)),
        body: body(c, &at, block),
        unrouted: true,
        ignored: Vec::new(),
    })
}

/// Names whose values are not recorded.
pub(super) fn redacted(c: &mut Checker<'_>, block: Option<&AnalyticsBlock>) -> Vec<String> {
    let names = block.map_or(&[][..], |block| &block.redact);
    let at = Path::root().key("analytics").key("redact");
    for (index, name) in names.iter().enumerate() {
        if !name.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            let message = format!("`{name}` has no letter that names are compared by");
            c.refuse(at.index(index), message);
        }
    }
    names.to_vec()
}

/// Bytes of each body that are recorded in detail.
fn body(c: &mut Checker<'_>, at: &Path, block: &AnalyticsBlock) -> usize {
    let Some(detailed) = &block.detailed else {
        return RECORDED_BODY;
    };
    let bytes = detailed.body.map_or(RECORDED_BODY as u64, |bytes| *bytes);
    let at = at.key("detailed");
    if bytes > MIB {
        c.refuse(at.key("body"), "at most 1MiB of a body is recorded");
    }
    if block.form == FormWord::Own
        && block.redis.is_none()
        && block.postgresql.is_none()
        && block.otlp.is_none()
    {
        let message = "lines of our own form have no bodies: write `form: tyk`, or leave this out";
        c.refuse(at, message);
    }
    usize::try_from(bytes).unwrap_or(RECORDED_BODY)
}

fn spool(c: &mut Checker<'_>, at: &Path, block: &SpoolBlock) -> SpoolConfig {
    let bytes = block.bytes.map_or(SPOOLED, |bytes| *bytes);
    if bytes < MIB {
        c.refuse(at.key("bytes"), "a spool has at least 1MiB");
    }
    if block.directory.is_empty() {
        c.refuse(at.key("directory"), "write a directory, such as `spool`");
    }
    SpoolConfig {
        directory: PathBuf::from(&block.directory),
        bytes,
    }
}

fn redis_sink(c: &mut Checker<'_>, at: &Path, block: &RedisBlock) -> Option<RedisSink> {
    let password = password(c, &at.key("password"), block.password.as_ref());
    let conf = match RedisConf::parse(&block.url) {
        Ok(conf) => conf,
        Err(message) => {
            c.refuse(at.key("url"), message);
            return None;
        }
    };
    if !conf.username.is_empty() && block.password.is_none() {
        c.refuse(
            at.key("url"),
            "this user has no password here: write `password` too",
        );
    }
    Some(RedisSink {
        conf: RedisConf { password, ..conf },
        key: block.key.clone().unwrap_or_else(|| TYKS_LIST.to_owned()),
        several: false,
        form: match block.form {
            RedisFormWord::Msgpack => RedisForm::MsgPack,
            RedisFormWord::Json => RedisForm::Json,
        },
        expires: block
            .expires
            .map_or(Duration::from_secs(3600), |time| *time),
    })
}

/// Password written beside a URL.
fn password(c: &mut Checker<'_>, at: &Path, written: Option<&SecretText>) -> Password {
    if let Some(SecretText::Plain(text)) = written
        && let Some(message) = Purpose::Password.objection(text)
    {
        c.refuse(at, message);
    }
    let secret = written.and_then(|text| secrets::secret(c, at, text, Purpose::Password));
    Password::new(secret)
}

/// A table, whose server is spoken to in plaintext. Nothing of the URL is shown: it may wrongly have a password in it.
fn table(c: &mut Checker<'_>, at: &Path, block: &PostgresqlBlock) -> Option<PostgresqlSink> {
    const EXAMPLE: &str =
        "this is no URL of a database: write `postgresql://user@host:port/database`";
    let table = block.table.as_deref().unwrap_or("plimsoll_analytics");
    let is_name = |name: &str| {
        let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        name.bytes().all(word)
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
    };
    if !table.split('.').all(is_name) || table.split('.').count() > 2 {
        let message = format!(
            "`{table}` is not the name of a table: write small letters, digits and `_`, perhaps `schema.table`"
        );
        c.refuse(at.key("table"), message);
    }
    let password = password(c, &at.key("password"), block.password.as_ref());
    let at = at.key("url");
    let is_url = ["postgresql://", "postgres://"]
        .iter()
        .any(|scheme| block.url.starts_with(scheme));
    if block.url.contains("sslmode=verify-") {
        refuse_tls(c, &at);
        return None;
    }
    let connection = match block.url.parse::<tokio_postgres::Config>() {
        Ok(connection) if is_url => connection,
        _ => {
            c.refuse(at, EXAMPLE);
            return None;
        }
    };
    if connection.get_ssl_mode() == SslMode::Require {
        refuse_tls(c, &at);
    }
    if connection.get_password().is_some() {
        c.refuse(at.clone(), OPEN_PASSWORD);
    }
    let has_host = matches!(connection.get_hosts(), [Host::Tcp(host)] if !host.is_empty());
    if !has_host || connection.get_user().is_none() || connection.get_dbname().is_none() {
        c.refuse(at, EXAMPLE);
    }
    Some(PostgresqlSink {
        connection,
        password,
        table: table.to_owned(),
    })
}

fn refuse_tls(c: &mut Checker<'_>, at: &Path) {
    c.refuse(
        at.clone(),
        "TLS to PostgreSQL is not available in this version: write `sslmode=disable`, and reach it on this host or through a tunnel",
    );
}

fn endpoint(c: &mut Checker<'_>, at: &Path, text: &str, signal: Signal) -> Option<Endpoint> {
    let parsed = Endpoint::parse(text, signal);
    parsed.map_err(|message| c.refuse(at.clone(), message)).ok()
}

/// Spans of traces.
pub(super) fn tracing(c: &mut Checker<'_>, block: Option<&TracingBlock>) -> Option<TracingConfig> {
    let block = block?;
    let at = Path::root().key("tracing");
    let service = block.service.as_deref().unwrap_or("plimsoll-gateway");
    if service.is_empty() {
        c.refuse(at.key("service"), "a service has a name: write one");
    }
    Some(TracingConfig {
        endpoint: endpoint(c, &at.key("endpoint"), &block.endpoint, Signal::Traces)?,
        service: service.to_owned(),
        share: block.sample.map_or(1.0, |share| *share),
        propagate: block.propagate,
    })
}
