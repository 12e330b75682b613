//! hey. Its own `-q` is a rate per connection.

use super::Job;
use crate::Error;
use crate::bench::Bench;
use crate::peers;
use std::process::Command;

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Error> {
    let mut command = Command::new(peers::find(&bench.root, "hey")?);
    command
        .args(["-c", &job.connections.to_string()])
        .args(["-z", &format!("{}s", job.seconds())])
        .args(["-H", &crate::server::authorization()]);
    if let Some(rate) = job.rate {
        command.args(["-q", &(rate / job.connections).to_string()]);
    }
    command.arg(job.url());
    Ok(command)
}
