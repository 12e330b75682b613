//! oha, without its live view.

use super::{HTTP2_CONNECTIONS, HTTP2_STREAMS, Job, Protocol};
use crate::Error;
use crate::bench::Bench;
use crate::peers;
use std::process::Command;

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Error> {
    let mut command = Command::new(peers::find(&bench.root, "oha")?);
    command.arg("--no-tui");
    match job.target.protocol {
        Protocol::Clear => command.args(["-c", &job.connections.to_string()]),
        Protocol::Tls | Protocol::MutualTls => command
            .args(["-c", &job.connections.to_string(), "--cacert"])
            .arg(job.authority),
        Protocol::Http2 => {
            let (connections, streams) = (HTTP2_CONNECTIONS, HTTP2_STREAMS);
            command
                .args(["--http2", "-c", &connections.to_string()])
                .args(["-p", &streams.to_string()])
        }
    };
    command
        .args(["-z", &format!("{}s", job.seconds())])
        .args(["-H", &crate::server::authorization()]);
    if let Some(rate) = job.rate {
        command.args(["-q", &rate.to_string()]);
    }
    command.arg(job.url());
    Ok(command)
}
