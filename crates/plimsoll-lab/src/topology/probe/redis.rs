//! Redis's own statistics: `INFO` once a second over one connection that stays open, in plaintext.

mod info;
mod talk;

use super::exported::Reading;
use info::Info;
use plimsoll_experiment::{RedisProbe, Secret};
use std::time::Duration;
use talk::Connection;
use tokio::time::{Instant, timeout};

/// How long a reading may take, a new connection included.
const WITHIN: Duration = Duration::from_secs(5);

/// A server that is asked.
#[derive(Debug)]
pub struct Redis {
    probe: RedisProbe,
    password: Option<Secret>,
    connection: Option<Connection>,
}

impl Redis {
    /// The server of a probe, with its password. Nothing is sent yet.
    #[must_use]
    pub fn new(probe: &RedisProbe, password: Option<Secret>) -> Self {
        Self {
            probe: probe.clone(),
            password,
            connection: None,
        }
    }

    /// Reads it, over the connection of the reading before if that still stands.
    ///
    /// # Errors
    /// Why not, in words.
    pub(super) async fn read(&mut self) -> Result<Reading, String> {
        let taken = self.connection.take();
        let reading = async {
            let mut connection = match taken {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            let text = connection.ask("INFO", &[]).await?;
            Ok::<_, String>((text, connection))
        };
        let read = timeout(WITHIN, reading).await;
        let (text, connection) =
            read.map_err(|_| format!("no answer within {} s", WITHIN.as_secs()))??;
        self.connection = Some(connection);
        let at = Instant::now();
        let exported = Info::parse(&text).exported()?;
        Ok(Reading { at, exported })
    }

    async fn connect(&self) -> Result<Connection, String> {
        let mut connection = Connection::open(&self.probe.host, self.probe.port).await?;
        if let Some(password) = &self.password {
            let user = self.probe.user.as_deref();
            let words: Vec<&str> = user.into_iter().chain([password.expose()]).collect();
            connection.ask("AUTH", &words).await?;
        }
        Ok(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::peers::redis::Redis as TestServer;

    fn started(flags: &[&str]) -> TestServer {
        TestServer::start(flags).expect("redis-server is there: run scripts/test")
    }

    fn probing(server: &TestServer, password: Option<&str>) -> Redis {
        let probe = RedisProbe {
            host: server.address().ip().to_string(),
            port: server.address().port(),
            user: None,
            password: None,
        };
        Redis::new(&probe, password.map(Secret::new))
    }

    #[tokio::test]
    #[ignore = "needs redis-server: run scripts/test"]
    async fn a_real_server_says_what_it_throws_out_and_refuses() {
        let server = started(&[
            "--maxclients",
            "4",
            "--maxmemory",
            "3mb",
            "--maxmemory-policy",
            "allkeys-random",
        ]);
        let mut probe = probing(&server, None);
        let before = probe.read().await.unwrap().exported;
        assert_eq!(before.server.connections_limit, Some(4));
        let at = server.address();
        let (host, port) = (at.ip().to_string(), at.port());
        let mut writer = Connection::open(&host, port).await.unwrap();
        let value = "x".repeat(10_000);
        for key in 0..400 {
            let key = key.to_string();
            writer.ask("SET", &[&key, &value]).await.unwrap();
        }
        let mut others = Vec::new();
        for _ in 0..4 {
            others.push(Connection::open(&host, port).await.unwrap());
        }
        // Whoever comes after the fourth is told so.
        let told = others.pop().unwrap().ask("PING", &[]).await.unwrap_err();
        assert!(told.contains("max number of clients"), "{told}");
        let after = probe.read().await.unwrap().exported;
        let server = after.since(&before, 1.0).unwrap().server;
        assert_eq!(server.connections, Some(3.0), "{server:?}");
        assert!(server.connections_rejected >= Some(1), "{server:?}");
        assert!(server.evicted_keys > Some(0), "{server:?}");
        assert!(server.data_memory_share > Some(0.5), "{server:?}");
        assert!(server.operations >= Some(400), "{server:?}");
        assert!(server.main_thread_cores > Some(0.0), "{server:?}");
    }

    #[tokio::test]
    #[ignore = "needs redis-server: run scripts/test"]
    async fn a_real_server_may_refuse_and_go() {
        let server = started(&["--requirepass", "open sesame"]);
        assert!(probing(&server, Some("open sesame")).read().await.is_ok());
        let told = probing(&server, Some("wrong")).read().await.unwrap_err();
        insta::assert_snapshot!(told, @"WRONGPASS invalid username-password pair or user is disabled.");
        let told = probing(&server, None).read().await.unwrap_err();
        insta::assert_snapshot!(told, @"NOAUTH Authentication required.");
        let mut probe = probing(&server, Some("open sesame"));
        probe.read().await.unwrap();
        drop(server);
        assert!(probe.read().await.is_err());
        let told = probe.read().await.unwrap_err();
        assert!(told.contains("refused"), "{told}");
    }
}
