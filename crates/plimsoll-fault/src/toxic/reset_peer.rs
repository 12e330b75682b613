//! `reset_peer`: the connection is reset after its first byte.

use super::{Kind, Next, Passage, milliseconds};
use crate::passage::Content;
use tokio::time::Instant;

/// RST to both ends, `timeout` milliseconds after the first byte or the end that came while this toxic was there; what comes
/// meanwhile is dropped.
#[derive(Debug, Default, Clone)]
pub struct ResetPeer {
    timeout: i64,
}

impl Kind for ResetPeer {
    const NAME: &'static str = "reset_peer";
    /// When the first byte came.
    type State = Option<Instant>;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("timeout", &mut self.timeout)]
    }

    fn begin(&self, _: Instant) -> Option<Instant> {
        None
    }

    fn advance(&self, first: &mut Option<Instant>, passage: &mut Passage<'_>) -> Next {
        if let Some(item) = passage.queue.front() {
            first.get_or_insert(item.arrived);
            passage.queue.clear();
        }
        let Some(first) = *first else {
            return Next::Idle;
        };
        let due = first + milliseconds(self.timeout);
        if due > passage.now {
            return Next::At(due);
        }
        passage.end_with(Content::Reset)
    }
}
