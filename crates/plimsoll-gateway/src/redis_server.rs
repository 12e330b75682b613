//! A Redis server: where it is, a connection to it, which waits for a silent one once a request, and commands that are carried out now or
//! never.

use plimsoll_secrets::Password;
use redis::{
    Arg, Client, Cmd, ConnectionAddr, ConnectionLike, ErrorKind, FromRedisValue,
    IntoConnectionInfo as _, Pipeline, RedisConnectionInfo, RedisError, RedisResult, Value,
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

/// A connection, which is closed by the first reply that does not come. The library's waits for each of a request's: of a Redis that
/// stands still, as many times its patience.
pub(crate) struct Connection(Option<redis::Connection>);

impl ConnectionLike for Connection {
    fn req_packed_command(&mut self, request: &[u8]) -> RedisResult<Value> {
        let mut replies = self.req_packed_commands(request, 0, 1)?;
        Ok(replies.pop().expect("invariant: as many replies as asked"))
    }

    /// # Errors
    /// The first in Redis' own words, if it refuses a part of the request: then the connection can be used on. All others close it.
    fn req_packed_commands(
        &mut self,
        request: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let closed = || io::Error::from(io::ErrorKind::NotConnected);
        let mut connection = self.0.take().ok_or_else(closed)?;
        let replies = exchange(&mut connection, request, offset + count)?;
        self.0 = Some(connection);
        let replies: RedisResult<Vec<Value>> = replies.into_iter().map(as_answered).collect();
        Ok(replies?.split_off(offset))
    }

    /// That of the settings, which know none: `dial` chooses it by itself.
    fn get_db(&self) -> i64 {
        self.0.as_ref().map_or(0, ConnectionLike::get_db)
    }

    fn check_connection(&mut self) -> bool {
        self.0
            .as_mut()
            .is_some_and(redis::Connection::check_connection)
    }

    fn is_open(&self) -> bool {
        self.0.as_ref().is_some_and(redis::Connection::is_open)
    }
}

/// Sends a request, and waits for as many replies.
fn exchange(
    connection: &mut redis::Connection,
    request: &[u8],
    count: usize,
) -> RedisResult<Vec<Value>> {
    let end = Instant::now() + PATIENCE_OF_A_REQUEST;
    connection.send_packed_command(request)?;
    let mut replies = Vec::with_capacity(count);
    for _ in 0..count {
        if Instant::now() > end {
            return Err(io::Error::from(io::ErrorKind::TimedOut).into());
        }
        replies.push(connection.recv_response()?);
    }
    Ok(replies)
}

fn as_answered(reply: Value) -> RedisResult<Value> {
    match reply {
        Value::ServerError(error) => Err(error.into()),
        reply => Ok(reply),
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

/// What keeps a connection that has broken from having anything carried out after the next one: a Redis that stalled may read the broken
/// connection to its end only when it has answered another. So whatever is carried out looks at a key first, and every connection writes
/// that key before all else.
#[derive(Debug)]
pub(crate) struct Fence {
    key: String,
    /// What was written last: never the same twice.
    raised: u128,
}

/// Seconds that Redis keeps a fence at which nobody looks.
const FENCE_KEPT: u64 = 24 * 60 * 60;

/// Writes the fence.
const RAISE: &str = "return redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])";
/// Carries out groups of commands, if the fence is as it was written, each up to its first refusal; what the commands of each were answered.
/// A group is told as the number of its commands and these, a command as that of its words.
const CARRY_OUT: &str = "
    if redis.call('GETEX', KEYS[1], 'EX', ARGV[2]) ~= ARGV[1] then return false end
    local groups, at = {}, 3
    while at <= #ARGV do
        local answers, refused, commands = {}, false, tonumber(ARGV[at])
        at = at + 1
        for _ = 1, commands do
            local last = at + ARGV[at]
            if not refused then
                local answer = redis.pcall(unpack(ARGV, at + 1, last))
                answers[#answers + 1] = answer
                refused = type(answer) == 'table' and answer.err
            end
            at = last + 1
        end
        groups[#groups + 1] = answers
    end
    return groups";

/// What a Redis that is full does with commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// It carries none of them out.
    Refuse,
    /// All: they free memory, or need next to none.
    CarryOut,
}

impl WhenFull {
    /// What a script begins with.
    fn flags(self) -> &'static str {
        match self {
            Self::Refuse => "#!lua",
            Self::CarryOut => "#!lua flags=allow-oom",
        }
    }
}

impl Fence {
    /// One under a key of its own, which nobody else writes.
    pub(crate) fn new(key: String) -> Self {
        let raised = plimsoll_http::clock::since_epoch().as_nanos();
        Self { key, raised }
    }

    /// What earlier connections have not had carried out by now, never is.
    ///
    /// # Errors
    /// Redis', or the system's: then nothing is known.
    pub(crate) fn raise(&mut self, connection: &mut Connection) -> RedisResult<()> {
        self.raised += 1;
        self.script(WhenFull::CarryOut, RAISE).exec(connection)
    }

    /// Has groups of commands carried out with nothing in between, each up to its first refusal.
    ///
    /// # Errors
    /// [`was_answered`]: none was carried out, and Redis says why, be it that it [is full](is_full). Others: nothing is known.
    pub(crate) fn carry_out(
        &self,
        connection: &mut Connection,
        when_full: WhenFull,
        groups: &[Pipeline],
    ) -> RedisResult<Vec<Answers>> {
        let mut request = self.script(when_full, CARRY_OUT);
        for group in groups {
            request.arg(group.len());
            for command in group.cmd_iter() {
                let words = command.args_iter();
                request.arg(words.len());
                for word in words {
                    match word {
                        Arg::Simple(word) => _ = request.arg(word),
                        _ => unreachable!("invariant: a word is no cursor of an iteration"),
                    }
                }
            }
        }
        match connection.req_packed_command(&request.get_packed_command())? {
            Value::Array(groups) => groups.into_iter().map(Answers::read).collect(),
            _ => Err((ErrorKind::Client, "its fence was written meanwhile").into()),
        }
    }

    /// Has one group carried out.
    ///
    /// # Errors
    /// As of [`Fence::carry_out`].
    pub(crate) fn carry_out_one(
        &self,
        connection: &mut Connection,
        when_full: WhenFull,
        group: Pipeline,
    ) -> RedisResult<Answers> {
        let mut answers = self.carry_out(connection, when_full, &[group])?;
        Ok(answers.pop().unwrap_or(Answers(Vec::new())))
    }

    /// A script, with what each is told: the fence, what it says, and how long it is kept.
    fn script(&self, when_full: WhenFull, body: &str) -> Cmd {
        let mut eval = redis::cmd("EVAL");
        let script = format!("{}\n{body}", when_full.flags());
        eval.arg(script).arg(1).arg(&self.key);
        eval.arg(self.raised.to_string()).arg(FENCE_KEPT);
        eval
    }
}

/// What the commands of a group were answered, the last of which may be refused: then those behind it were not carried out.
#[derive(Debug, PartialEq)]
pub(crate) struct Answers(Vec<RedisResult<Value>>);

impl Answers {
    fn read(group: Value) -> RedisResult<Self> {
        let answers: Vec<Value> = redis::from_redis_value(group)?;
        Ok(Self(answers.into_iter().map(as_answered).collect()))
    }

    /// What the command of this number was answered, if it was carried out.
    pub(crate) fn of<T: FromRedisValue>(&self, number: usize) -> Option<T> {
        let answer = self.0.get(number)?.as_ref().ok()?;
        redis::from_redis_value_ref(answer).ok()
    }

    /// What all commands were answered.
    ///
    /// # Errors
    /// The refusal, if one was refused.
    pub(crate) fn all<T: FromRedisValue>(self) -> RedisResult<T> {
        let answers: RedisResult<Vec<Value>> = self.0.into_iter().collect();
        Ok(redis::from_redis_value(Value::Array(answers?))?)
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
    use plimsoll_testbed::redis::Redis;
    use rustix::process::Signal;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

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

    fn start() -> (Redis, RedisConf) {
        let redis = Redis::start(&[]).unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
        (redis, conf)
    }

    /// A connection, and the fence that is raised on it.
    fn behind_a_fence(conf: &RedisConf) -> (Connection, Fence) {
        let (mut connection, mut fence) = (conf.dial().unwrap(), Fence::new("fence".to_owned()));
        fence.raise(&mut connection).unwrap();
        (connection, fence)
    }

    /// Commands, a line each.
    fn commands(lines: &str) -> Pipeline {
        let mut commands = redis::pipe();
        for line in lines.lines() {
            let mut words = line.split(' ');
            commands.cmd(words.next().unwrap());
            words.for_each(|word| _ = commands.arg(word));
        }
        commands
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn one_that_stands_still_is_waited_for_once_a_request() {
        let (redis, conf) = start();
        let mut connection = conf.dial().unwrap();
        redis.signal(Signal::STOP).unwrap();
        let before = Instant::now();
        let error = commands(&"PING\n".repeat(100)).exec(&mut connection);
        assert!(error.unwrap_err().is_timeout());
        let patience = PATIENCE..PATIENCE_OF_A_REQUEST;
        assert!(patience.contains(&before.elapsed()));
        // What it still owes is nobody's answer.
        redis.signal(Signal::CONT).unwrap();
        assert!(!connection.is_open() && commands("PING").exec(&mut connection).is_err());
    }

    #[test]
    #[ignore = "takes as long as it is waited for a request: run scripts/test"]
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
        let error = commands(&"PING\n".repeat(100)).exec(&mut connection);
        assert!(error.unwrap_err().is_timeout());
        assert!((2..20).contains(&replies.join().unwrap()));
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_group_is_carried_out_up_to_its_first_refusal_and_the_others_are() {
        let (redis, conf) = start();
        redis.ask(&["RPUSH", "list", "1"]).unwrap();
        let (mut connection, fence) = behind_a_fence(&conf);
        let groups = [
            "INCR a\nGET list\nINCR a",
            "INCR b\nGET none\nNO such",
            "INCR a",
        ]
        .map(commands);
        let groups = fence.carry_out(&mut connection, WhenFull::Refuse, &groups);
        let [first, second, third] = &groups.unwrap()[..] else {
            panic!("three groups");
        };
        assert_eq!((first.of(0), first.of::<Value>(1)), (Some(1), None));
        assert_eq!(first.0.len(), 2);
        let refusal = |answers: &Answers| answers.0.last().unwrap().clone().unwrap_err();
        let wrong = refusal(first);
        assert!(
            was_answered(&wrong) && wrong.to_string().contains("WRONGTYPE"),
            "{wrong}"
        );
        assert_eq!((second.of(0), second.of(1)), (Some(1), Some(Value::Nil)));
        assert!(was_answered(&refusal(second)));
        assert_eq!(third.0, [Ok(Value::Int(2))]);
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn without_the_right_to_a_fence_nothing_is_carried_out() {
        for refused in ["-eval", "-getex"] {
            let (redis, conf) = start();
            let (mut connection, fence) = behind_a_fence(&conf);
            redis.ask(&["ACL", "SETUSER", "default", refused]).unwrap();
            let set = [commands("SET a 1")];
            let error = fence.carry_out(&mut connection, WhenFull::Refuse, &set);
            assert!(was_answered(&error.unwrap_err()));
            assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
        }
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn behind_a_fence_that_was_raised_since_nothing_is_carried_out() {
        let (redis, conf) = start();
        let (mut connection, mut fence) = behind_a_fence(&conf);
        let before = Fence {
            key: fence.key.clone(),
            ..fence
        };
        fence.raise(&mut conf.dial().unwrap()).unwrap();
        let set = [commands("SET a 1")];
        for when_full in [WhenFull::Refuse, WhenFull::CarryOut] {
            let error = before.carry_out(&mut connection, when_full, &set);
            assert!(!was_answered(&error.unwrap_err()));
            assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
            fence.carry_out(&mut connection, when_full, &set).unwrap();
            assert_eq!(redis.ask(&["DEL", "a"]).unwrap(), "1");
        }
        // A Redis that has lost its fence has lost more.
        redis.ask(&["FLUSHALL"]).unwrap();
        let lost = fence.carry_out(&mut connection, WhenFull::Refuse, &set);
        assert!(!was_answered(&lost.unwrap_err()));
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn one_that_is_full_carries_out_what_frees_memory_and_nothing_else() {
        let (redis, conf) = start();
        redis.ask(&["SET", "a", "1"]).unwrap();
        redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
        let (mut connection, fence) = behind_a_fence(&conf);
        let delete = [commands("DEL a\nSET b 1")];
        let error = fence.carry_out(&mut connection, WhenFull::Refuse, &delete);
        assert!(is_full(&error.unwrap_err()));
        assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "1");
        let answers = fence.carry_out(&mut connection, WhenFull::CarryOut, &delete);
        assert_eq!(answers.unwrap()[0].of(0), Some(1));
        assert_eq!(redis.ask(&["EXISTS", "a", "b"]).unwrap(), "1");
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
