//! `noop`: nothing happens.

use super::{Kind, Next, Passage};
use tokio::time::Instant;

/// A toxic without effect.
#[derive(Debug, Default, Clone)]
pub struct Noop;

impl Kind for Noop {
    const NAME: &'static str = "noop";
    type State = ();

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        Vec::new()
    }

    fn begin(&self, _: Instant) {}

    fn advance(&self, (): &mut (), passage: &mut Passage<'_>) -> Next {
        passage.let_all_go();
        Next::Idle
    }
}
