//! Redis for tests and checks: a server of its own at an address that nobody else uses, which may stand still, be killed, and come back
//! where it was.

use crate::child::Child;
use crate::{Error, clock};
use rustix::process::Signal;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// How long it may take to start, or to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether it has started.
const LOOK: Duration = Duration::from_millis(2);

/// A Redis. Dropped, it ends.
pub struct Redis {
    /// Before the directory, so that it ends first. `None`: it was killed.
    server: Option<Child>,
    directory: TempDir,
    address: SocketAddr,
    flags: Vec<String>,
}

/// An address that nobody else uses, so that its ports are free again when they were let go of: of the loopback's network, with the number
/// of this process.
///
/// # Errors
/// [`Error::Io`]: there is no port free at it.
pub fn own_address() -> Result<SocketAddr, Error> {
    static GIVEN: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let host = [127, 128 | high, low, GIVEN.fetch_add(1, Ordering::Relaxed)];
    TcpListener::bind((IpAddr::from(host), 0))
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

    /// The same at an address that was found before.
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
        let deadline = clock::now() + PATIENCE;
        while !is_ready(self.address) {
            if server.has_ended()? {
                return Err(Error::Measured("redis-server has ended".to_owned()));
            }
            if clock::now() > deadline {
                let late = format!("redis-server is not ready after {PATIENCE:?}");
                return Err(Error::Measured(late));
            }
            clock::sleep(LOOK);
        }
        Ok(())
    }

    /// What it answers to a command: a word, a number, a text.
    ///
    /// # Errors
    /// [`Error::Measured`]: an error of its own, or no answer.
    pub fn ask(&self, words: &[&str]) -> Result<String, Error> {
        let asked = ask(self.address, words);
        asked.map_err(|error| Error::at_server("asking Redis", error))
    }
}

/// Whether it answers, be it that it wants a password. While it reads what is on disk it does neither.
fn is_ready(address: SocketAddr) -> bool {
    match ask(address, &["PING"]) {
        Ok(_) => true,
        Err(error) => error.to_string().starts_with("NOAUTH"),
    }
}

/// One command over a connection of its own.
fn ask(address: SocketAddr, words: &[&str]) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request += &format!("${}\r\n{word}\r\n", word.len());
    }
    stream.write_all(request.as_bytes())?;
    answer(&mut BufReader::new(stream))
}

/// An answer of RESP that is one value; a missing one is empty.
fn answer(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, rest) = line.trim_end().split_at_checked(1).unwrap_or_default();
    match kind {
        "+" | ":" => Ok(rest.to_owned()),
        "-" => Err(io::Error::other(rest.to_owned())),
        "$" => {
            let length: i64 = rest.parse().map_err(io::Error::other)?;
            let length = u64::try_from(length).unwrap_or(0);
            let mut text = String::new();
            stream.take(length).read_to_string(&mut text)?;
            Ok(text)
        }
        "" => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Err(io::Error::other(format!("an answer like `{line}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_one_value_or_an_error() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = answer(&mut text.as_bytes()).map_err(|error| error.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("+PONG\r\n", Ok("PONG"));
        check(":12\r\n", Ok("12"));
        check("$5\r\na\r\nbc\r\n", Ok("a\r\nbc"));
        check("$-1\r\n", Ok(""));
        check("-LOADING wait\r\n", Err("LOADING wait"));
        assert!(answer(&mut "".as_bytes()).is_err() && answer(&mut "*0\r\n".as_bytes()).is_err());
    }

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
