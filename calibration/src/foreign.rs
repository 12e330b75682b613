//! Servers that nobody here wrote, as programs of their own. One that takes a free port by itself says which; another is told one.

use crate::bench::Error;
use crate::child::Child;
use crate::{clock, port};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Another free port is tried so often.
const TRIES: usize = 5;
/// How long one may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often that is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// A program that `bench/peers/install` brings.
pub fn peer(name: &str) -> Result<PathBuf, Error> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers/bin");
    let program = peers.join(name);
    match program.exists() {
        true => Ok(program),
        false => Err(Error::Missing(format!(
            "`bench/peers/install {name}` brings it"
        ))),
    }
}

/// A running one; it ends when this is dropped.
pub struct Foreign {
    /// Where it listens.
    pub address: SocketAddr,
    _child: Child,
}

impl Foreign {
    /// Starts a program that prints its port on loopback.
    pub fn announced(command: &mut Command, name: &str) -> Result<Self, Error> {
        let mut child = spawn(command.stdout(Stdio::piped()), name)?;
        let mut line = String::new();
        if let Some(output) = child.take_stdout() {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(Error::when(format!("reading {name}'s port")))?;
        }
        let port: u16 = (line.trim().parse()).map_err(|_| does_not_start(name))?;
        Ok(Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            _child: child,
        })
    }

    /// Starts a program that is told where to listen. `command` makes it for an address that was free just now; where somebody else was faster,
    /// it is made for another.
    pub fn told(
        name: &str,
        command: impl Fn(SocketAddr) -> Result<Command, Error>,
    ) -> Result<Self, Error> {
        for _ in 0..TRIES {
            let address = port::free()?;
            let mut child = spawn(command(address)?.stdout(Stdio::null()), name)?;
            let deadline = clock::now() + PATIENCE;
            while !child.has_ended()? && clock::now() < deadline {
                if TcpStream::connect(address).is_ok() {
                    return Ok(Self {
                        address,
                        _child: child,
                    });
                }
                clock::pause(LOOK);
            }
        }
        Err(does_not_start(name))
    }
}

fn spawn(command: &mut Command, name: &str) -> Result<Child, Error> {
    let started = Child::spawn(command.stdin(Stdio::null()).stderr(Stdio::null()));
    started.map_err(|_| Error::Missing(format!("there is no {name}")))
}

fn does_not_start(name: &str) -> Error {
    Error::Measured(format!("{name} does not start"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_says_its_port_or_does_not_start() {
        let started = |script| Foreign::announced(&mut shell(script), "sh");
        let port = started("echo 4711; exec cat").map(|server| server.address.port());
        assert_eq!(port.ok(), Some(4711));
        assert!(matches!(started("echo what"), Err(Error::Measured(_))));
        assert!(matches!(started("exit 1"), Err(Error::Measured(_))));
        let missing = Foreign::announced(&mut Command::new("./is-not-there"), "it");
        assert!(matches!(missing, Err(Error::Missing(_))));
    }

    #[test]
    fn one_that_ends_instead_of_listening_has_failed() {
        let ended = Foreign::told("sh", |_| Ok(shell("exit 1")));
        assert!(matches!(ended, Err(Error::Measured(_))));
    }
}
