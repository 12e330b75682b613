//! `refuse`: nobody listens. Toxiproxy has no such toxic; its `enabled: false` closes connections where this resets them.

use super::{Kind, Next, Passage, Reach};
use tokio::time::Instant;

/// The proxy listens no more, and its connections are reset; when the last of these is removed, it listens again.
#[derive(Debug, Default, Clone)]
pub struct Refuse;

impl Kind for Refuse {
    const NAME: &'static str = "refuse";
    type State = ();

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        Vec::new()
    }

    fn begin(&self, _: Instant) {}

    fn advance(&self, (): &mut (), passage: &mut Passage<'_>) -> Next {
        passage.let_all_go();
        Next::Idle
    }

    fn reach(&self) -> Reach {
        Reach {
            refuses: true,
            ..Reach::default()
        }
    }
}
