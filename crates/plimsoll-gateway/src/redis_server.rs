//! A Redis server: where it is, a connection to it, which waits for a silent one once a request, and transactions that are not carried out
//! late.

use crate::secrets::password::Password;
use redis::{
    Client, ConnectionAddr, ConnectionLike, ErrorKind, FromRedisValue, IntoConnectionInfo as _,
    Pipeline, RedisConnectionInfo, RedisError, RedisResult, Value,
};
use std::fmt;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// How long Redis may take for the next reply.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long it may take for all replies to one request.
const PATIENCE_OF_A_REQUEST: Duration = Duration::from_secs(5);

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
        // What names the library that calls would be two more replies to wait for.
        let settings = settings.set_skip_set_lib_name();
        let client = Client::open(address.into_connection_info()?.set_redis_settings(settings))?;
        let connection = client.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        Ok(Connection(connection))
    }
}

/// A connection that has broken at the first reply that does not come. The one below waits for each of a request's, which of a Redis that
/// stands still is as many times its patience.
pub(crate) struct Connection(redis::Connection);

impl ConnectionLike for Connection {
    fn req_packed_command(&mut self, request: &[u8]) -> RedisResult<Value> {
        let mut replies = self.req_packed_commands(request, 0, 1)?;
        Ok(replies.pop().expect("invariant: as many replies as asked"))
    }

    /// # Errors
    /// The first in Redis' own words, if it refuses a part of the request: then the connection can be used on. After all
    /// others replies may be owed: whoever gets one lets go of the connection.
    fn req_packed_commands(
        &mut self,
        request: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        self.0.send_packed_command(request)?;
        let end = Instant::now() + PATIENCE_OF_A_REQUEST;
        let mut replies = Vec::with_capacity(offset + count);
        for _ in 0..offset + count {
            if Instant::now() > end {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            replies.push(self.0.recv_response()?);
        }
        let replies: RedisResult<Vec<Value>> =
            replies.into_iter().map(Value::extract_error).collect();
        Ok(replies?.split_off(offset))
    }

    fn get_db(&self) -> i64 {
        self.0.get_db()
    }

    fn check_connection(&mut self) -> bool {
        self.0.check_connection()
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }
}

/// Whether Redis itself says what went wrong, which it does after it has looked at the whole request.
pub(crate) fn was_answered(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// Whether Redis has used up the memory that it may use, and forgets nothing by itself.
pub(crate) fn is_full(error: &RedisError) -> bool {
    error.code() == Some("OOM")
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

    /// Has these commands carried out as one transaction; what each was answered.
    ///
    /// # Errors
    /// [`was_answered`]: none was carried out, or Redis refused some of them, in its words. Others: nothing is known.
    /// After either the connection may stand in a transaction, if Redis refuses `WATCH`: let go of it.
    pub(crate) fn carry_out<T: FromRedisValue>(
        &self,
        connection: &mut Connection,
        commands: &mut Pipeline,
    ) -> RedisResult<T> {
        // What is refused here would have the commands carried out without a fence.
        let mut begin = redis::pipe();
        let begin = begin.cmd("WATCH").arg(&self.key).cmd("MULTI");
        begin.exec(connection)?;
        let replies: Vec<Value> = commands.cmd("EXEC").query(connection)?;
        match replies.into_iter().next_back() {
            Some(answers @ Value::Array(_)) => Ok(redis::from_redis_value(answers)?),
            _ => Err((ErrorKind::Client, "somebody else has written its fence").into()),
        }
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
    use plimsoll_testbed::redis::Redis;
    use rustix::process::Signal;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    #[test]
    fn without_its_password_nobody_is_dialled() {
        let conf = RedisConf::parse("redis://127.0.0.1:1").unwrap();
        let (_, password) = withheld();
        let refused = RedisConf { password, ..conf }.dial().err().unwrap();
        assert_eq!(refused.to_string(), "its password is withheld");
    }

    fn start() -> (Redis, RedisConf) {
        let redis = Redis::start(&[]).unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
        (redis, conf)
    }

    fn set(key: &str) -> Pipeline {
        let mut commands = redis::pipe();
        commands.cmd("SET").arg(key).arg("1");
        commands
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn one_that_stands_still_is_waited_for_once_a_request() {
        let (redis, conf) = start();
        let mut connection = conf.dial().unwrap();
        redis.signal(Signal::STOP).unwrap();
        let mut commands = redis::pipe();
        (0..100).for_each(|_| _ = commands.cmd("PING"));
        let before = Instant::now();
        let error = commands.exec(&mut connection).unwrap_err();
        assert!(error.is_timeout(), "{error}");
        let patience = PATIENCE..PATIENCE_OF_A_REQUEST;
        assert!(patience.contains(&before.elapsed()));
    }

    #[test]
    fn one_whose_replies_come_slowly_is_not_waited_for_to_the_end() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", server.local_addr().unwrap())).unwrap();
        let replies = std::thread::spawn(move || {
            let client = server.accept().unwrap().0;
            client.set_read_timeout(Some(PATIENCE / 2)).unwrap();
            // What is asked comes at once; each wait for more is half of what a reply may take.
            let is_there = || !matches!((&client).read(&mut [0; 1 << 16]), Ok(0));
            let replies = (0..100).take_while(|_| is_there());
            replies
                .map_while(|_| (&client).write_all(b"+PONG\r\n").ok())
                .count()
        });
        let mut connection = conf.dial().unwrap();
        let mut commands = redis::pipe();
        (0..100).for_each(|_| _ = commands.cmd("PING"));
        let error = commands.exec(&mut connection).unwrap_err();
        assert!(error.is_timeout(), "{error}");
        drop(connection);
        assert!(replies.join().unwrap() < 20);
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn what_redis_refuses_is_said_in_its_words_and_the_connection_lives_on() {
        let (redis, conf) = start();
        let mut connection = conf.dial().unwrap();
        let fence = Fence::new("fence".to_owned());
        let mut check = |before: &[&str], commands: &mut Pipeline, expected: &str, kept: &str| {
            redis.ask(before).unwrap();
            let result: RedisResult<()> = fence.carry_out(&mut connection, commands);
            let error = result.unwrap_err();
            assert!(
                was_answered(&error) && error.to_string().contains(expected),
                "{error}"
            );
            let mut get = redis::cmd("GET");
            let found: Option<String> = get.arg("a").query(&mut connection).unwrap();
            assert_eq!(found.unwrap_or_default(), kept, "{expected}");
        };
        let ping = ["PING"];
        check(&ping, set("a").cmd("GET"), "wrong number of arguments", "");
        // Nothing is taken back of what came before.
        let push = ["RPUSH", "list", "1"];
        check(&push, set("a").cmd("GET").arg("list"), "WRONGTYPE", "1");
        redis.ask(&["DEL", "a"]).unwrap();
        let no_transactions = ["ACL", "SETUSER", "default", "-multi"];
        check(&no_transactions, &mut set("a"), "multi", "");
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn behind_a_fence_that_was_raised_since_nothing_is_carried_out() {
        let (redis, conf) = start();
        let mut connection = conf.dial().unwrap();
        let mut fence = Fence::new("fence".to_owned());
        fence.raise(&mut connection).unwrap();
        let mut begin = redis::pipe();
        let begin = begin.cmd("WATCH").arg("fence").cmd("MULTI");
        begin.exec(&mut connection).unwrap();
        fence.raise(&mut conf.dial().unwrap()).unwrap();
        let replies: Vec<Value> = set("a").cmd("EXEC").query(&mut connection).unwrap();
        assert_eq!(replies.last(), Some(&Value::Nil));
        assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
        let sums: Vec<i64> = fence
            .carry_out(
                &mut connection,
                redis::pipe().cmd("INCR").arg("b").cmd("INCR").arg("b"),
            )
            .unwrap();
        assert_eq!(sums, [1, 2]);
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
