//! What is said to Redis and heard from it: sessions under `apikey-…` as Tyk writes them, changes in a stream, gateways in a set.

use crate::keys::store::Quotas as Becomes;
use crate::keys::{KeyHash, KeyStore};
use crate::tyk::RedisConf;
use redis::{
    Client, Connection, ConnectionAddr, IntoConnectionInfo as _, Pipeline, RedisConnectionInfo,
    RedisResult,
};
use std::collections::HashMap;
use std::time::Duration;

/// How long Redis may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Keys in one request.
const AT_ONCE: usize = 500;
/// Changes that the stream holds on to; whoever was away for longer reads all keys.
const STREAM_LENGTH: usize = 100_000;
/// The stream of changes: the hash of each key that was made, changed or withdrawn.
const CHANGES: &str = "plimsoll-key-changes";
/// Gateways by when they were heard of last, in seconds since 1970 by Redis' clock.
const GATEWAYS: &str = "plimsoll-gateways";
/// Seconds after which a gateway that is not heard of does not count.
const GONE_AFTER: u64 = 5;
/// An id before all others of a stream.
const BEGINNING: &str = "0-0";

/// The connection, and how far the stream has been read.
pub(super) struct Talk {
    conf: RedisConf,
    name: String,
    connection: Option<Connection>,
    /// The last change that was read; `None` before the first connection.
    read: Option<String>,
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct News {
    /// Every key of Redis is to be read: it is the first connection, or too much was missed.
    pub(super) is_first: bool,
    /// Redis has lost what it knew.
    pub(super) has_forgotten: bool,
}

impl Talk {
    pub(super) fn new(conf: &RedisConf, name: String) -> Self {
        Self {
            conf: conf.clone(),
            name,
            connection: None,
            read: None,
        }
    }

    /// Host and port, for people.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.conf.host, self.conf.port)
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Makes sure that there is a connection.
    pub(super) fn connect(&mut self) -> RedisResult<News> {
        let mut news = News {
            is_first: false,
            has_forgotten: false,
        };
        if self.connection.is_some() {
            return Ok(news);
        }
        let mut settings = RedisConnectionInfo::default().set_db(self.conf.database);
        if !self.conf.username.is_empty() {
            settings = settings.set_username(&self.conf.username);
        }
        if !self.conf.password.is_empty() {
            settings = settings.set_password(&self.conf.password);
        }
        let address = ConnectionAddr::Tcp(self.conf.host.clone(), self.conf.port);
        let client = Client::open(address.into_connection_info()?.set_redis_settings(settings))?;
        let mut connection = client.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let (oldest, newest) = ends(&mut connection)?;
        match &self.read {
            None => news.is_first = true,
            Some(read) if newest.is_none() => news.has_forgotten = read != BEGINNING,
            Some(read) => news.is_first = oldest.is_some_and(|oldest| is_before(read, &oldest)),
        }
        if news.is_first || news.has_forgotten {
            self.read = Some(newest.unwrap_or_else(|| BEGINNING.to_owned()));
        }
        self.connection = Some(connection);
        Ok(news)
    }

    fn ask<T: redis::FromRedisValue>(&mut self, request: &Pipeline) -> RedisResult<T> {
        let connection = self.connection.as_mut();
        request.query(connection.expect("invariant: a turn begins with a connection"))
    }

    /// Tells Redis what became of keys; those that it has heard of are taken out. Those that are gone come first.
    pub(super) fn hand_on(
        &mut self,
        pending: &mut HashMap<KeyHash, Becomes>,
        keys: &KeyStore,
    ) -> RedisResult<()> {
        let mut order: Vec<KeyHash> = pending.keys().copied().collect();
        order.sort_by_cached_key(|hash| keys.with(*hash, |_| ()).is_some());
        for hashes in order.chunks(AT_ONCE) {
            let mut request = redis::pipe();
            for hash in hashes {
                let (hex, quota) = (hash.to_hex(), pending[hash]);
                let key = format!("apikey-{hex}");
                let session = keys.with(*hash, |key| {
                    serde_json::Value::Object(key.shared()).to_string()
                });
                if quota == Becomes::Reset || session.is_none() {
                    request.cmd("DEL").arg(format!("quota-{hex}")).ignore();
                }
                match session {
                    Some(session) => request.cmd("SET").arg(key).arg(session).ignore(),
                    None => request.cmd("DEL").arg(key).ignore(),
                };
                let reset = u8::from(quota == Becomes::Reset);
                let add = request.cmd("XADD").arg(CHANGES).arg("MAXLEN").arg("~");
                add.arg(STREAM_LENGTH)
                    .arg("*")
                    .arg("k")
                    .arg(hex)
                    .arg("r")
                    .arg(reset);
                request.arg("g").arg(&self.name).ignore();
            }
            let () = self.ask(&request)?;
            for hash in hashes {
                pending.remove(hash);
            }
        }
        Ok(())
    }

    /// Says that this gateway lives; how many do.
    pub(super) fn heartbeat(&mut self) -> RedisResult<u32> {
        // By Redis' own clock: those of several machines differ.
        let mut request = redis::pipe();
        request.cmd("TIME");
        let ((now, _),): ((u64, u64),) = self.ask(&request)?;
        let mut request = redis::pipe();
        request
            .cmd("ZADD")
            .arg(GATEWAYS)
            .arg(now)
            .arg(&self.name)
            .ignore();
        let gone = now.saturating_sub(GONE_AFTER);
        request
            .cmd("ZREMRANGEBYSCORE")
            .arg(GATEWAYS)
            .arg("-inf")
            .arg(gone)
            .ignore();
        request.cmd("ZCARD").arg(GATEWAYS);
        let (count,): (u32,) = self.ask(&request)?;
        Ok(count)
    }

    /// Says that this gateway ends, if anybody listens.
    pub(super) fn farewell(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let mut request = redis::cmd("ZREM");
        if request
            .arg(GATEWAYS)
            .arg(&self.name)
            .query::<()>(connection)
            .is_err()
        {
            // The others stop counting it by themselves.
        }
    }

    /// Every key that Redis has, with its session.
    pub(super) fn all_keys(&mut self, mut take: impl FnMut(KeyHash, &str)) -> RedisResult<()> {
        let mut cursor = 0_u64;
        loop {
            let mut request = redis::pipe();
            let scan = request.cmd("SCAN").arg(cursor).arg("MATCH").arg("apikey-*");
            scan.arg("COUNT").arg(AT_ONCE);
            let ((next, names),): ((u64, Vec<String>),) = self.ask(&request)?;
            // Of keys that Tyk named by other hashes nothing can be known.
            let hash = |name: &String| KeyHash::from_hex(name.strip_prefix("apikey-")?);
            let hashes: Vec<KeyHash> = names.iter().filter_map(hash).collect();
            for (hash, session) in self.sessions(&hashes)? {
                if let Some(session) = session {
                    take(hash, &session);
                }
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    /// Changes that were not read yet: the key's session, or `None` where it is gone, and what becomes of its quota.
    pub(super) fn changes(
        &mut self,
        mut take: impl FnMut(KeyHash, Option<String>, Becomes),
    ) -> RedisResult<()> {
        loop {
            let read = self.read.clone().unwrap_or_else(|| BEGINNING.to_owned());
            let mut request = redis::pipe();
            let range = request.cmd("XRANGE").arg(CHANGES).arg(format!("({read}"));
            range.arg("+").arg("COUNT").arg(AT_ONCE);
            let (entries,): (Vec<(String, Vec<String>)>,) = self.ask(&request)?;
            let Some((last, _)) = entries.last().cloned() else {
                return Ok(());
            };
            let mut changed: HashMap<KeyHash, Becomes> = HashMap::new();
            for (_, fields) in entries {
                let [_, hex, _, reset, _, by] = &fields[..] else {
                    continue;
                };
                if let Some(hash) = KeyHash::from_hex(hex).filter(|_| *by != self.name) {
                    let quota = changed.entry(hash).or_insert(Becomes::Keep);
                    if reset == "1" {
                        *quota = Becomes::Reset;
                    }
                }
            }
            let hashes: Vec<KeyHash> = changed.keys().copied().collect();
            for (hash, session) in self.sessions(&hashes)? {
                take(hash, session, changed[&hash]);
            }
            self.read = Some(last);
        }
    }

    fn sessions(&mut self, hashes: &[KeyHash]) -> RedisResult<Vec<(KeyHash, Option<String>)>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut request = redis::pipe();
        let names = hashes
            .iter()
            .map(|hash| format!("apikey-{}", hash.to_hex()));
        request.cmd("MGET").arg(names.collect::<Vec<_>>());
        let (sessions,): (Vec<Option<String>>,) = self.ask(&request)?;
        Ok(hashes.iter().copied().zip(sessions).collect())
    }

    /// Adds what was spent of quotas: for each the sum over all gateways, and when it ends in seconds since 1970, if it does.
    pub(super) fn add_spent(
        &mut self,
        spent: &[(KeyHash, u32, u32)],
    ) -> RedisResult<Vec<(u32, i64)>> {
        let mut sums = Vec::new();
        for spent in spent.chunks(AT_ONCE) {
            let mut request = redis::pipe();
            for (hash, used, renews) in spent {
                let key = format!("quota-{}", hash.to_hex());
                request.cmd("INCRBY").arg(&key).arg(used);
                // Only the first of a period says when it ends.
                if *renews < u32::MAX {
                    request
                        .cmd("EXPIREAT")
                        .arg(&key)
                        .arg(renews)
                        .arg("NX")
                        .ignore();
                }
                request.cmd("EXPIRETIME").arg(&key);
            }
            let answers: Vec<i64> = self.ask(&request)?;
            let pairs = answers.chunks_exact(2);
            sums.extend(pairs.map(|pair| (u32::try_from(pair[0]).unwrap_or(u32::MAX), pair[1])));
        }
        Ok(sums)
    }
}

/// The oldest and the newest change in the stream.
fn ends(connection: &mut Connection) -> RedisResult<(Option<String>, Option<String>)> {
    type Entries = Vec<(String, Vec<String>)>;
    let mut request = redis::pipe();
    request
        .cmd("XRANGE")
        .arg(CHANGES)
        .arg("-")
        .arg("+")
        .arg("COUNT")
        .arg(1);
    request
        .cmd("XREVRANGE")
        .arg(CHANGES)
        .arg("+")
        .arg("-")
        .arg("COUNT")
        .arg(1);
    let (oldest, newest): (Entries, Entries) = request.query(connection)?;
    let id = |entries: Entries| entries.into_iter().next().map(|(id, _)| id);
    Ok((id(oldest), id(newest)))
}

/// Whether one id of a stream (milliseconds, a dash, a number) is before another.
fn is_before(one: &str, other: &str) -> bool {
    let parts = |id: &str| -> Option<(u64, u64)> {
        let (time, number) = id.split_once('-')?;
        Some((time.parse().ok()?, number.parse().ok()?))
    };
    parts(one) < parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_by_number() {
        assert!(is_before("0-0", "1-0"));
        assert!(is_before("9-5", "10-0"));
        assert!(is_before("10-9", "10-10"));
        assert!(!is_before("10-10", "10-10"));
    }
}
