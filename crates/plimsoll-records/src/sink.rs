//! Sinks: where records go. An open set, one file each, of the same shape: it is opened, and records are delivered to it.
//!
//! A sink may wait: it has a thread of its own, see [`crate::sink_worker`], which also keeps what it did not take.

mod file;
mod lines;
mod otlp;
mod otlp_logs;
mod otlp_spans;
mod parts;
mod postgresql;
mod protobuf;
mod redis;
mod stdout;

use crate::entry::Entry;
use crate::output::Output;
use crate::settings::{SinkConfig, TracingConfig};
use std::io;

/// Somewhere that records go.
pub(crate) trait Sink: Send {
    /// Has it take these records, all of them or none unless it says otherwise.
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed>;
}

/// Why records were not taken.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The sink is away: none of them is there, and they may be delivered again.
    Away(String),
    /// The last so many of them are lost: the sink does not take them, however often it is asked.
    Lost { records: u64, why: String },
}

/// Facts of a sink before it is opened.
pub(crate) struct Opened {
    /// Its name in metrics, and its directory in the spool.
    pub(crate) kind: &'static str,
    /// Its name in messages; it has no secret.
    pub(crate) name: String,
    pub(crate) sink: Box<dyn Sink>,
    /// It may be away, and what it does not take is kept for it.
    pub(crate) remote: bool,
}

/// Opens a sink. `output` is where lines for the operator go.
///
/// # Errors
/// The system's, for a file.
pub(crate) fn open(
    config: &SinkConfig,
    origin: &str,
    output: &mut Option<Output>,
) -> io::Result<Opened> {
    let local = |kind, name, sink| Opened {
        kind,
        name,
        sink,
        remote: false,
    };
    let remote = |kind, name, sink| Opened {
        kind,
        name,
        sink,
        remote: true,
    };
    Ok(match config {
        SinkConfig::File { path, form } => {
            let sink = file::Sink::open(path, *form)?;
            local("file", path.display().to_string(), Box::new(sink))
        }
        SinkConfig::Output { form } => {
            let output = output.take().unwrap_or(Output(Box::new(io::sink())));
            let sink = stdout::Sink::new(output, *form);
            local("stdout", "standard output".to_owned(), Box::new(sink))
        }
        SinkConfig::Redis(config) => {
            let sink = redis::Sink::new(config.clone(), origin);
            remote("redis", config.conf.place(), Box::new(sink))
        }
        SinkConfig::Postgresql(config) => {
            let sink = postgresql::Sink::new(config)?;
            remote("postgresql", config.place(), Box::new(sink))
        }
        SinkConfig::Otlp(endpoint) => {
            let sink = otlp_logs::Sink::new(endpoint.clone())?;
            remote("otlp", endpoint.to_string(), Box::new(sink))
        }
    })
}

/// Opens the sink of spans.
///
/// # Errors
/// The system's, when its runtime cannot be made.
pub(crate) fn open_spans(config: &TracingConfig) -> io::Result<Opened> {
    Ok(Opened {
        kind: "spans",
        name: config.endpoint.to_string(),
        sink: Box::new(otlp_spans::Sink::new(config)?),
        remote: true,
    })
}
