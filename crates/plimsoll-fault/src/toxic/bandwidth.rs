//! `bandwidth`: bytes go on at a limited rate.

use super::{Kind, Next, Passage};
use crate::passage::Content;
use std::time::Duration;
use tokio::time::Instant;

/// At most `rate` kilobytes (1,000 bytes) a second, in slices of at most 100 ms each; 0 or less is no limit.
#[derive(Debug, Default, Clone)]
pub struct Bandwidth {
    rate: i64,
}

impl Kind for Bandwidth {
    const NAME: &'static str = "bandwidth";
    /// Further pieces are there when the first has gone, however late the timer was and TCP opened its window. More would end uploads early.
    const ROOM: usize = 8;
    /// When the last slice was through.
    type State = Instant;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("rate", &mut self.rate)]
    }

    fn begin(&self, now: Instant) -> Instant {
        now
    }

    fn advance(&self, free: &mut Instant, passage: &mut Passage<'_>) -> Next {
        let Some(per_millisecond) = usize::try_from(self.rate).ok().filter(|rate| *rate > 0) else {
            passage.let_all_go();
            return Next::Idle;
        };
        while passage.has_room()
            && let Some(first) = passage.queue.front()
        {
            let Content::Data(bytes) = &first.content else {
                passage.let_go(first.arrived.max(*free));
                continue;
            };
            let slice = bytes.len().min(per_millisecond.saturating_mul(100));
            #[expect(clippy::cast_precision_loss, reason = "a piece is at most 32 KiB")]
            let seconds = slice as f64 / (per_millisecond as f64 * 1_000.0);
            let due = first.arrived.max(*free) + Duration::from_secs_f64(seconds);
            if due > passage.now {
                return Next::At(due);
            }
            *free = due;
            passage.let_bytes_go(slice, due);
        }
        Next::Idle
    }
}
