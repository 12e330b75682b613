//! How a running gateway is told what to do: to stop, to read its configuration anew, and to hand over.

use crate::config::GatewayConfig;
use crate::listening::handover::Handover;
use plimsoll_base::document::Problems;
use plimsoll_records::Output;
use std::{fmt, io};
use tokio::sync::watch;

/// Reads the configuration anew, from wherever it came.
pub type Source = Box<dyn Fn() -> Result<GatewayConfig, Problems> + Send>;

/// The ends by which a gateway is told.
#[derive(Debug)]
pub struct Controls {
    /// Becomes true, or loses its sender, when the gateway is to stop.
    pub stop: watch::Receiver<bool>,
    /// Where lines go that the configuration wants on standard output.
    pub output: Output,
    /// How it reloads; without this it serves by one configuration as long as it lives.
    pub reload: Option<Reload>,
    /// Sockets that it takes over from another process, and hands over itself.
    pub handover: Handover,
}

/// How a gateway reloads.
pub struct Reload {
    /// Changes when the configuration is to be read anew.
    pub hangups: watch::Receiver<u64>,
    /// How it is read.
    pub source: Source,
}

/// Only how it stops; lines go nowhere.
impl From<watch::Receiver<bool>> for Controls {
    fn from(stop: watch::Receiver<bool>) -> Self {
        Self {
            stop,
            output: Output(Box::new(io::sink())),
            reload: None,
            handover: Handover::default(),
        }
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload").finish_non_exhaustive()
    }
}
