//! h2load with one thread: over HTTP/1.1 with one request at a time on each connection, or over HTTP/2.

use super::{HTTP2_CONNECTIONS, HTTP2_STREAMS, Job, Protocol};
use crate::Error;
use crate::bench::Bench;
use crate::peers;
use std::process::Command;

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Error> {
    let mut command = Command::new(peers::find(&bench.root, "h2load")?);
    command
        .arg("-t1")
        .args(["-D", &job.seconds().to_string()])
        .args(["-H", &crate::server::authorization()])
        .arg(job.url());
    match job.target.protocol {
        Protocol::Http2 => command
            .args(["-c", &HTTP2_CONNECTIONS.to_string()])
            .args(["-m", &HTTP2_STREAMS.to_string()]),
        Protocol::Clear | Protocol::Tls | Protocol::MutualTls => {
            command.args(["--h1", "-m1", "-c", &job.connections.to_string()])
        }
    };
    Ok(command)
}
