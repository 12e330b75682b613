//! The real slowhttptest, as `bench/peers/install slowhttptest` brings it.

use super::Attack;
use super::server::Server;
use crate::bench::Error;
use crate::child::Child;
use crate::clock;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long it may take to end beyond the length that it was told.
const GRACE: Duration = Duration::from_secs(10);

/// When all of its clients have connected.
const CONNECTED: Duration = Duration::from_secs(1);

/// How `chrt` ends when there is no such program.
const NOT_FOUND: i32 = 127;

/// One that runs.
struct Slow {
    child: Child,
    clients: u32,
}

/// Starts `clients` of them at once, for `seconds` at most; it ends earlier when all have been ended.
pub fn start(
    server: &Server,
    path: &str,
    clients: u32,
    seconds: u32,
    options: &[&str],
) -> Result<Box<dyn Attack>, Error> {
    // Clients are elsewhere, in life: they take no processor time from the others here. The lowest of the ordinary priorities would not do:
    // the kernel lets even that one end its slice of milliseconds before it gives way.
    let mut command = Command::new("chrt");
    command
        .args(["--idle", "0", "slowhttptest"])
        .args(options)
        .args(["-c", &clients.to_string(), "-r", &clients.to_string()])
        .args(["-l", &seconds.to_string(), "-v", "0"])
        .args(["-u", &format!("http://{}{path}", server.address)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = Child::spawn(&mut command)?;
    clock::pause(CONNECTED);
    Ok(Box::new(Slow { child, clients }))
}

impl Attack for Slow {
    fn end(mut self: Box<Self>) -> Result<String, Error> {
        let status = self.child.wait(GRACE)?;
        if status.code() == Some(NOT_FOUND) {
            return Err(Error::Missing(
                "no slowhttptest: bench/peers/install slowhttptest".to_owned(),
            ));
        }
        Ok(format!(
            "slowhttptest with {} clients, {status}",
            self.clients
        ))
    }
}
