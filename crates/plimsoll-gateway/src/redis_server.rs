//! A Redis server: where it is, a connection to it, on which each reply may take a second, and transactions that are not carried out late.

use crate::secrets::password::Password;
use redis::{
    Client, Connection, ConnectionAddr, ErrorKind, IntoConnectionInfo as _, Pipeline,
    RedisConnectionInfo, RedisResult,
};
use std::fmt;
use std::io;
use std::time::Duration;

/// How long Redis may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is said of a password in the URL of a server.
pub(crate) const OPEN_PASSWORD: &str = "a password does not stand in the URL: write it as `password`, best as `password: { env: NAME }` or `{ file: PATH }`";

/// Where Redis is, and who calls. Shows no password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RedisConf {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) username: String,
    pub(crate) password: Password,
    pub(crate) database: i64,
}

impl RedisConf {
    /// Reads `redis://user@host:port/database`, for which the password is said beside it.
    ///
    /// # Errors
    /// A sentence that says what to write, and nothing of what was written: that may be a password.
    pub(crate) fn parse(url: &str) -> Result<Self, &'static str> {
        const EXAMPLE: &str = "this is no URL of Redis: write `redis://user@host:port/database`";
        if url.starts_with("rediss://") {
            return Err(
                "TLS to Redis is not available in this version: write `redis://…`, and reach it on this host or through a tunnel",
            );
        }
        if !url.starts_with("redis://") {
            return Err(EXAMPLE);
        }
        let info = url.into_connection_info().map_err(|_| EXAMPLE)?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(EXAMPLE);
        };
        let settings = info.redis_settings();
        if settings.password().is_some_and(|text| !text.is_empty()) {
            return Err(OPEN_PASSWORD);
        }
        Ok(Self {
            host: host.clone(),
            port: *port,
            username: settings.username().unwrap_or_default().to_owned(),
            password: Password::default(),
            database: settings.db(),
        })
    }

    /// Host and port, for people.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Connects, with what the password is now.
    ///
    /// # Errors
    /// Redis', or the system's; that the password is withheld.
    pub(crate) fn dial(&self) -> RedisResult<Connection> {
        let mut settings = RedisConnectionInfo::default().set_db(self.database);
        if !self.username.is_empty() {
            settings = settings.set_username(&self.username);
        }
        if let Some(password) = self.password.reveal().map_err(io::Error::other)? {
            settings = settings.set_password(&*password);
        }
        let address = ConnectionAddr::Tcp(self.host.clone(), self.port);
        let client = Client::open(address.into_connection_info()?.set_redis_settings(settings))?;
        let connection = client.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        Ok(connection)
    }
}

/// What keeps transactions of a connection that has broken from being carried out after those of the next one: a Redis that stood still may
/// read the broken connection to its end only when it has answered another. So every transaction watches a key, and that key is written
/// before the next connection goes on where the last one broke off.
#[derive(Debug)]
pub(crate) struct Fence {
    key: String,
    /// How often it was written: never the same twice.
    raised: u64,
}

/// Seconds that Redis keeps a fence.
const FENCE_KEPT: u64 = 24 * 60 * 60;

impl Fence {
    /// One under a key of its own, which nobody else writes.
    pub(crate) fn new(key: String) -> Self {
        Self { key, raised: 0 }
    }

    /// What earlier connections have not had carried out by now, never is.
    ///
    /// # Errors
    /// Redis', or the system's: then nothing is known.
    pub(crate) fn raise(&mut self, connection: &mut Connection) -> RedisResult<()> {
        self.raised += 1;
        let mut set = redis::cmd("SET");
        set.arg(&self.key).arg(self.raised);
        set.arg("EX").arg(FENCE_KEPT).exec(connection)
    }

    /// Has a transaction carried out, as a whole.
    ///
    /// # Errors
    /// Redis', of the transaction; the system's, or that the fence was written meanwhile.
    pub(crate) fn carry_out(
        &self,
        connection: &mut Connection,
        transaction: &mut Pipeline,
    ) -> RedisResult<()> {
        redis::cmd("WATCH").arg(&self.key).exec(connection)?;
        let done: Option<()> = transaction.atomic().query(connection)?;
        done.ok_or_else(|| (ErrorKind::Client, "somebody has written the fence").into())
    }
}

impl fmt::Debug for RedisConf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisConf({}/{})", self.place(), self.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::password::tests::withheld;

    #[test]
    fn without_its_password_nobody_is_dialled() {
        let conf = RedisConf::parse("redis://127.0.0.1:1").unwrap();
        let (_, password) = withheld();
        let refused = RedisConf { password, ..conf }.dial().err().unwrap();
        assert_eq!(refused.to_string(), "its password is withheld");
    }

    #[test]
    fn urls() {
        let check = |url: &str, expected: &str| {
            let parsed = RedisConf::parse(url);
            let shown = parsed.map(|c| format!("{c:?} {}", c.username));
            assert_eq!(
                shown.as_deref().unwrap_or_else(|message| message),
                expected,
                "{url}"
            );
        };
        check("redis://u@cache:7000/3", "RedisConf(cache:7000/3) u");
        check("redis://127.0.0.1", "RedisConf(127.0.0.1:6379/0) ");
        check("redis://u:p%40ss@cache:7000/3", OPEN_PASSWORD);
        check("redis://:p@cache", OPEN_PASSWORD);
        let none = "this is no URL of Redis: write `redis://user@host:port/database`";
        for url in [
            "",
            "cache:7000",
            "http://cache",
            "redis://u:p@",
            "unix:///x",
        ] {
            check(url, none);
        }
        let refused = RedisConf::parse("rediss://cache").unwrap_err();
        assert!(refused.contains("TLS to Redis"));
    }
}
