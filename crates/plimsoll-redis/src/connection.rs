//! A connection to a Redis server, which waits for a silent one once a request.

use redis::{ConnectionLike, ErrorKind, RedisError, RedisResult, Value};
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// How long Redis may take for the next reply.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How long it may take for all replies to one request.
const PATIENCE_OF_A_REQUEST: Duration = Duration::from_secs(5);

/// A connection, which is closed by the first reply that does not come. The library's waits for each of a request's: of a Redis that
/// stands still, as many times its patience.
pub struct Connection(pub(crate) Option<redis::Connection>);

impl Connection {
    /// Nothing is asked by it any more.
    pub(crate) fn close(&mut self) {
        self.0 = None;
    }
}

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

pub(crate) fn as_answered(reply: Value) -> RedisResult<Value> {
    match reply {
        Value::ServerError(error) => Err(error.into()),
        reply => Ok(reply),
    }
}

/// Whether Redis itself says what went wrong, which it does after it has looked at the whole request.
pub fn was_answered(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// Whether Redis has used up the memory that it may use, and forgets nothing by itself.
pub fn is_full(error: &RedisError) -> bool {
    error.code() == Some("OOM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedisConf;
    use crate::rig::{commands, start};
    use rustix::process::Signal;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

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
}
