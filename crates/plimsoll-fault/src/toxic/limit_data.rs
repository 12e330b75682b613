//! `limit_data`: the connection is closed after so many bytes.

use super::{Kind, Next, Passage};
use crate::passage::Content;
use tokio::time::Instant;

/// Exactly `bytes` bytes go on, counted from when the toxic came; then the connection is closed.
#[derive(Debug, Default, Clone)]
pub struct LimitData {
    bytes: i64,
}

impl Kind for LimitData {
    const NAME: &'static str = "limit_data";
    /// Bytes that have gone on.
    type State = usize;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("bytes", &mut self.bytes)]
    }

    fn begin(&self, _: Instant) -> usize {
        0
    }

    fn advance(&self, passed: &mut usize, passage: &mut Passage<'_>) -> Next {
        let limit = usize::try_from(self.bytes).unwrap_or(0);
        while passage.has_room()
            && let Some(first) = passage.queue.front()
        {
            let at = first.arrived;
            let Content::Data(bytes) = &first.content else {
                passage.let_go(at);
                continue;
            };
            let count = bytes.len().min(limit.saturating_sub(*passed));
            if count > 0 {
                passage.let_bytes_go(count, at);
                *passed += count;
            }
            if *passed >= limit {
                return passage.end_with(Content::Cut);
            }
        }
        Next::Idle
    }
}
