//! `delay`: `latency` to the microsecond, for who measures. Toxiproxy has no such toxic.

use super::latency::Line;
use super::{Kind, Next, Passage};
use std::time::Duration;
use tokio::time::Instant;

/// Every piece is let go of `delay` microseconds after it arrived, in order.
#[derive(Debug, Default, Clone)]
pub struct Delay {
    delay: i64,
}

impl Kind for Delay {
    const NAME: &'static str = "delay";
    const ROOM: usize = 1024;
    type State = Line;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("delay", &mut self.delay)]
    }

    fn begin(&self, now: Instant) -> Line {
        Line::new(now)
    }

    fn advance(&self, line: &mut Line, passage: &mut Passage<'_>) -> Next {
        let delay = Duration::from_micros(u64::try_from(self.delay).unwrap_or(0));
        line.advance(passage, |_| delay)
    }
}
