//! `timeout`: bytes are dropped, and the connection is closed after a while.

use super::{Kind, Next, Passage, Reach, milliseconds};
use crate::passage::Content;
use tokio::time::Instant;

/// Bytes are dropped. When none came for `timeout` milliseconds, the connection is closed; with 0 it stays open until the toxic is
/// removed, which closes it.
#[derive(Debug, Default, Clone)]
pub struct Timeout {
    timeout: i64,
}

impl Kind for Timeout {
    const NAME: &'static str = "timeout";
    /// When bytes were dropped last.
    type State = Instant;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("timeout", &mut self.timeout)]
    }

    fn begin(&self, now: Instant) -> Instant {
        now
    }

    fn advance(&self, last: &mut Instant, passage: &mut Passage<'_>) -> Next {
        while let Some(first) = passage.queue.front() {
            match first.content {
                Content::Data(_) => {
                    *last = first.arrived;
                    drop(passage.queue.pop());
                }
                Content::End | Content::Reset | Content::Cut => {
                    passage.let_all_go();
                    return match passage.queue.is_empty() {
                        true => Next::Ended,
                        false => Next::Idle,
                    };
                }
            }
        }
        if self.timeout <= 0 {
            return Next::Idle;
        }
        let due = *last + milliseconds(self.timeout);
        if due > passage.now {
            return Next::At(due);
        }
        passage.end_with(Content::Cut)
    }

    fn reach(&self) -> Reach {
        Reach {
            closes_when_removed: true,
            holds_clients: true,
            ..Reach::default()
        }
    }
}
