//! Where a Redis server is and who calls; connecting to it.

use crate::connection::{Connection, PATIENCE};
use plimsoll_secrets::Password;
use redis::{Client, ConnectionAddr, IntoConnectionInfo as _, RedisConnectionInfo, RedisResult};
use std::fmt;
use std::io;

/// Warning about a password in the URL of a server.
pub const OPEN_PASSWORD: &str = "a password does not stand in the URL: write it as `password`, best as `password: { env: NAME }` or `{ file: PATH }`";

/// Where Redis is, and who calls. Shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisConf {
    /// The server's name or address.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// Who calls; empty without a name.
    pub username: String,
    /// The password of whoever calls, if one is needed.
    pub password: Password,
    /// The number of the database.
    pub database: i64,
}

impl RedisConf {
    /// Reads `redis://user@host:port/database`, for which the password is said beside it.
    ///
    /// # Errors
    /// A sentence that says what to write, and nothing of what was written: that may be a password.
    pub fn parse(url: &str) -> Result<Self, &'static str> {
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
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Connects, with what the password is now.
    ///
    /// # Errors
    /// Redis', or the system's; that the password is withheld.
    pub fn dial(&self) -> RedisResult<Connection> {
        let address = ConnectionAddr::Tcp(self.host.clone(), self.port);
        // Names of the library that calls would be replies to wait for, and it waits for each.
        let settings = RedisConnectionInfo::default().set_skip_set_lib_name();
        let client = Client::open(address.into_connection_info()?.set_redis_settings(settings))?;
        let mut greeting = redis::pipe();
        if let Some(password) = self.password.reveal().map_err(io::Error::other)? {
            greeting.cmd("AUTH");
            if !self.username.is_empty() {
                greeting.arg(&self.username);
            }
            greeting.arg(&*password);
        }
        if self.database != 0 {
            greeting.cmd("SELECT").arg(self.database);
        }
        let connection = client.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let mut connection = Connection(Some(connection));
        if !greeting.is_empty() {
            greeting.exec(&mut connection)?;
        }
        Ok(connection)
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
    use plimsoll_http::Url;
    use plimsoll_secrets::{CachedSecret, Purpose, Reference, Secret, Source};

    #[test]
    fn without_its_password_nobody_is_dialled() {
        let conf = RedisConf::parse("redis://127.0.0.1:1").unwrap();
        let source = Source {
            secret: "prod/records".to_owned(),
            region: "eu-central-1".to_owned(),
            endpoint: Url::parse("https://secrets.example").unwrap(),
        };
        let reference = Reference { source, key: None };
        let withheld = CachedSecret::new(reference, Purpose::Password);
        let password = Password::new(Some(Secret::Cached(withheld.into())));
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
