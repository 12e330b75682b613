//! `noop`: nothing happens.

use super::Kind;
use tokio::time::Instant;

/// A toxic without effect.
#[derive(Debug, Default, Clone)]
pub struct Noop;

impl Kind for Noop {
    const NAME: &'static str = "noop";
    type State = ();

    fn begin(&self, _: Instant) {}
}
