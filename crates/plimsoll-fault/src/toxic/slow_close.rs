//! `slow_close`: the end of a direction is passed on later.

use super::{Kind, Next, Passage, milliseconds};
use crate::passage::Content;
use tokio::time::Instant;

/// FIN waits for `delay` milliseconds; bytes do not wait.
#[derive(Debug, Default, Clone)]
pub struct SlowClose {
    delay: i64,
}

impl Kind for SlowClose {
    const NAME: &'static str = "slow_close";
    type State = ();

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("delay", &mut self.delay)]
    }

    fn begin(&self, _: Instant) {}

    fn advance(&self, (): &mut (), passage: &mut Passage<'_>) -> Next {
        while passage.has_room()
            && let Some(first) = passage.queue.front()
        {
            let due = match first.content {
                Content::End => first.arrived + milliseconds(self.delay),
                Content::Data(_) | Content::Reset | Content::Cut => first.arrived,
            };
            if due > passage.now {
                return Next::At(due);
            }
            passage.let_go(due);
        }
        Next::Idle
    }
}
