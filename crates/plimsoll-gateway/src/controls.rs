//! How a running gateway is told what to do: to stop, and to read its configuration anew.

use crate::config::GatewayConfig;
use plimsoll_base::document::Problems;
use std::fmt;
use tokio::sync::watch;

/// Reads the configuration anew, from wherever it came.
pub type Source = Box<dyn Fn() -> Result<GatewayConfig, Problems> + Send>;

/// The ends by which a gateway is told.
#[derive(Debug)]
pub struct Controls {
    /// Becomes true, or loses its sender, when the gateway is to stop.
    pub stop: watch::Receiver<bool>,
    /// How it reloads; without this it serves by one configuration as long as it lives.
    pub reload: Option<Reload>,
}

/// How a gateway reloads.
pub struct Reload {
    /// Changes when the configuration is to be read anew.
    pub hangups: watch::Receiver<u64>,
    /// How it is read.
    pub source: Source,
}

impl From<watch::Receiver<bool>> for Controls {
    fn from(stop: watch::Receiver<bool>) -> Self {
        Self { stop, reload: None }
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload").finish_non_exhaustive()
    }
}
