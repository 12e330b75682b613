//! The Redis of keys and of records, and what records are.

use super::Check;
use super::wire::{StorageWire, Wire};
use plimsoll_records::{
    AnalyticsConfig, RECORDED_BODY, RedisForm, RedisSink, SinkConfig, TYKS_LIST,
};
use plimsoll_redis::RedisConf;
use plimsoll_secrets::{Password, Secret};
use std::time::Duration;

/// Records of requests, which go to a list in Redis.
pub(super) fn analytics(
    c: &mut Check<'_>,
    wire: &mut Wire,
    storage: Option<&RedisConf>,
    password: Option<Secret>,
) -> Option<AnalyticsConfig> {
    if wire.enable_analytics != Some(true) {
        return None;
    }
    let config = wire.analytics_config.take().unwrap_or_default();
    if config.kind.as_deref() == Some("rpc") {
        c.refuse(
            "analytics_config.type",
            "records go to Redis: write `redis`",
        );
    }
    if !matches!(
        config.serializer_type.as_deref(),
        None | Some("" | "msgpack")
    ) {
        let message = "records are written as `msgpack`: write that, or leave it out";
        c.refuse("analytics_config.serializer_type", message);
    }
    let conf = match wire.enable_separate_analytics_store {
        Some(true) => redis(
            c,
            "analytics_storage",
            wire.analytics_storage.take(),
            password,
        ),
        _ => storage.cloned(),
    };
    let Some(conf) = conf else {
        let message = "records go to the Redis of `storage`: write that too, or switch this off";
        c.refuse("enable_analytics", message);
        return None;
    };
    let expires = config
        .storage_expiration_time
        .filter(|seconds| *seconds > 0);
    let redis = RedisSink {
        conf,
        key: TYKS_LIST.to_owned(),
        several: config.enable_multiple_analytics_keys.unwrap_or(false),
        form: RedisForm::MsgPack,
        expires: Duration::from_secs(u64::from(expires.unwrap_or(60))),
    };
    Some(AnalyticsConfig {
        sinks: vec![SinkConfig::Redis(redis)],
        spool: None,
        body: RECORDED_BODY,
        unrouted: false,
        ignored: config.ignored_ips.unwrap_or_default(),
    })
}

/// A Redis server, if one is named.
pub(super) fn redis(
    c: &mut Check<'_>,
    at: &str,
    wire: Option<StorageWire>,
    password: Option<Secret>,
) -> Option<RedisConf> {
    let wire = wire?;
    let kind = wire.kind.unwrap_or_default();
    let is_named = wire.host.is_some() || wire.addrs.is_some() || wire.hosts.is_some();
    if kind.is_empty() && !is_named {
        return None;
    }
    if kind != "redis" {
        c.refuse(
            &format!("{at}.type"),
            "keys are kept in memory, or in `redis`",
        );
    }
    let hosts = wire.hosts.unwrap_or_default().0;
    if hosts.len() > 1 {
        c.refuse(
            &format!("{at}.hosts"),
            "one Redis server alone is spoken to",
        );
    }
    let mut hosts = hosts
        .into_iter()
        .map(|(host, port)| format!("{host}:{}", &*port));
    let mut addrs = wire.addrs.unwrap_or_default().into_iter();
    let first = addrs.next().or_else(|| hosts.next());
    let (host, port) = match first {
        Some(address) => match address
            .rsplit_once(':')
            .map(|(host, port)| (host, port.parse()))
        {
            Some((host, Ok(port))) => (host.to_owned(), port),
            _ => {
                c.refuse(&format!("{at}.addrs"), "write `host:port`");
                (String::new(), 0)
            }
        },
        None => (
            wire.host
                .filter(|host| !host.is_empty())
                .unwrap_or_else(|| "localhost".to_owned()),
            wire.port.filter(|port| *port > 0).unwrap_or(6379),
        ),
    };
    Some(RedisConf {
        host,
        port,
        username: wire.username.unwrap_or_default(),
        password: Password::new(password),
        database: i64::from(wire.database.unwrap_or(0)),
    })
}
