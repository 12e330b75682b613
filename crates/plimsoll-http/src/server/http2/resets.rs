//! How often a client may cut off streams of its own: beginning them and cutting them off at once costs it nothing, and the server a lot.
//! Pure.

use tokio::time::Instant;

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By the server, or by both ends.
    Complete,
    /// By a reset of the client.
    CutOff,
}

/// A client's allowance of streams that it may cut off.
#[derive(Debug)]
pub(super) struct Resets {
    left: f64,
    most: f64,
    per_second: f64,
    at: Instant,
}

impl Resets {
    /// A client that may cut off `most` at once from `now` on, and so many more for each second that passes.
    pub(super) fn new(most: u32, per_second: u32, now: Instant) -> Self {
        let most = f64::from(most);
        Self {
            left: most,
            most,
            per_second: f64::from(per_second),
            at: now,
        }
    }

    /// An exchange is over. A stream that was let end earns the client another that it may not.
    pub(super) fn ended(&mut self, how: Ending, now: Instant) {
        match how {
            Ending::Complete => self.earn(1.0, now),
            Ending::CutOff => self.earn(0.0, now),
        }
    }

    /// So many streams were cut off just now; whether the client may go on.
    pub(super) fn cut_off(&mut self, count: u32, now: Instant) -> bool {
        self.earn(0.0, now);
        self.left -= f64::from(count);
        self.left >= 0.0
    }

    fn earn(&mut self, more: f64, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * self.per_second + more).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn so_many_may_be_cut_off_as_are_left_to_end_or_time_allows() {
        let start = Instant::now();
        let mut resets = Resets::new(3, 10, start);
        let mut row = |endings: &str, millis: u64| -> String {
            let now = start + Duration::from_millis(millis);
            let goes_on = endings.chars().map(|ending| match ending {
                'x' => resets.cut_off(1, now),
                _ => {
                    resets.ended(Ending::Complete, now);
                    true
                }
            });
            goes_on
                .map(|goes_on| if goes_on { '+' } else { '!' })
                .collect()
        };
        assert_eq!(row("xxx", 0), "+++");
        assert_eq!(row(".x.x.x", 0), "++++++");
        assert_eq!(row("......xxxx", 0), "+++++++++!");
        assert_eq!(row("xx", 250), "+!");
        assert_eq!(row("xxxx", 100_000), "+++!");
    }
}
