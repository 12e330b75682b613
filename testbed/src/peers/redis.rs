//! Redis for tests and checks: a server of its own at an address that nobody else uses, which may stand still, be killed, and come back
//! where it was.

use crate::child::Child;
use crate::port::own_host;
use crate::{Error, Wait};
use redis::{
    Client, ConnectionAddr, IntoConnectionInfo as _, RedisConnectionInfo, RedisResult, Value,
};
use rustix::process::Signal;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How long it may take to start, or to answer.
const PATIENCE: Wait = Wait {
    limit: Duration::from_secs(20),
    look: Duration::from_millis(2),
};

/// A Redis. Dropped, it ends.
pub struct Redis {
    /// Before the directory, so that it ends first. `None`: it was killed.
    server: Option<Child>,
    directory: TempDir,
    address: SocketAddr,
    flags: Vec<String>,
}

/// An address that nobody else uses, so that its port is free again when it was let go of.
///
/// # Errors
/// [`Error::Io`]: there is no port free at it.
pub fn own_address() -> Result<SocketAddr, Error> {
    TcpListener::bind((own_host(), 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Error::when("finding a free port"))
}

impl Redis {
    /// Starts it without anything on disk, unless these flags say otherwise.
    ///
    /// # Errors
    /// [`Error`]: there is no redis-server, or it does not take the flags.
    pub fn start(flags: &[&str]) -> Result<Self, Error> {
        Self::start_at(own_address()?, flags)
    }

    /// Starts it at an address that was found before.
    ///
    /// # Errors
    /// [`Error`], as [`Self::start`], or the address is taken.
    pub fn start_at(address: SocketAddr, flags: &[&str]) -> Result<Self, Error> {
        let directory = TempDir::new().map_err(Error::when("making a directory for Redis"))?;
        let mut redis = Self {
            server: None,
            directory,
            address,
            flags: flags.iter().map(ToString::to_string).collect(),
        };
        redis.start_again()?;
        Ok(redis)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it where it stands, or has it go on.
    ///
    /// # Errors
    /// [`Error`]: it is gone.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        match &self.server {
            Some(server) => server.signal(signal),
            None => Err(Error::Measured("redis-server was killed".to_owned())),
        }
    }

    /// Kills it. What it has on disk stays.
    ///
    /// # Errors
    /// [`Error`]: the system refuses.
    pub fn kill(&mut self) -> Result<(), Error> {
        self.server.take().map_or(Ok(()), Child::kill)
    }

    /// Has one that was killed come back at its address, with what is on disk.
    ///
    /// # Errors
    /// [`Error`], as [`Self::start_at`].
    pub fn start_again(&mut self) -> Result<(), Error> {
        let (ip, port) = (self.address.ip().to_string(), self.address.port());
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", &ip, "--port", &port.to_string()])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(self.directory.path())
            .args(&self.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let server = self.server.insert(Child::spawn(&mut command)?);
        PATIENCE.until("redis-server is ready", || match server.has_ended()? {
            true => Err(Error::Measured("redis-server has ended".to_owned())),
            false => Ok(is_ready(self.address)),
        })
    }

    /// The answer to a command: a word, a number, a text.
    ///
    /// # Errors
    /// [`Error::Measured`]: an error of its own, or no answer.
    pub fn ask(&self, words: &[&str]) -> Result<String, Error> {
        ask(self.address, words).map_err(|error| Error::at_server("asking Redis", error))
    }
}

/// Whether it answers, be it that it wants a password. While it reads what is on disk it does neither.
fn is_ready(address: SocketAddr) -> bool {
    match ask(address, &["PING"]) {
        Ok(_) => true,
        Err(error) => error.code() == Some("NOAUTH"),
    }
}

/// One command over a connection of its own.
fn ask(address: SocketAddr, words: &[&str]) -> RedisResult<String> {
    let info =
        ConnectionAddr::Tcp(address.ip().to_string(), address.port()).into_connection_info()?;
    // The name of the library would be a command of its own, which a test may count.
    let settings = RedisConnectionInfo::default().set_skip_set_lib_name();
    let client = Client::open(info.set_redis_settings(settings))?;
    let mut connection = client.get_connection_with_timeout(PATIENCE.limit)?;
    connection.set_read_timeout(Some(PATIENCE.limit))?;
    let (name, arguments) = words.split_first().unwrap_or((&"PING", &[]));
    match redis::cmd(name).arg(arguments).query(&mut connection)? {
        Value::Nil => Ok(String::new()),
        value => Ok(redis::from_redis_value(value)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_killed_one_comes_back_with_what_is_on_disk() {
        let check = |flags: &[&str], kept| {
            let mut redis = Redis::start(flags).unwrap();
            redis.ask(&["SET", "a", "two words"]).unwrap();
            redis.kill().unwrap();
            assert!(redis.ask(&["PING"]).is_err() && redis.signal(Signal::CONT).is_err());
            redis.start_again().unwrap();
            assert_eq!(redis.ask(&["GET", "a"]).unwrap(), kept);
        };
        check(&[], "");
        check(&["--appendonly", "yes"], "two words");
        assert!(Redis::start(&["--no-such-flag", "1"]).is_err());
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn one_that_stands_still_is_reaped() {
        let redis = Redis::start(&["--requirepass", "wanted"]).unwrap();
        assert!(redis.ask(&["PING"]).is_err());
        redis.signal(Signal::STOP).unwrap();
        let pid = redis.server.as_ref().unwrap().pid();
        drop(redis);
        assert!(crate::child::send(pid, Signal::CONT).is_err());
    }
}
