//! h2load over HTTP/1.1, with one thread and one request at a time on each connection.

use super::{CONNECTIONS, Job};
use crate::bench::Bench;
use crate::peers;
use crate::trouble::Trouble;
use std::process::Command;

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Trouble> {
    let mut command = Command::new(peers::find(&bench.root, "h2load")?);
    command
        .args(["--h1", "-t1", "-m1"])
        .args(["-c", &CONNECTIONS.to_string()])
        .args(["-D", &job.seconds().to_string()])
        .args(["-H", crate::server::authorization().trim()])
        .arg(job.url());
    Ok(command)
}
