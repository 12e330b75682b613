//! How long a peer is waited for while a body moves: long enough for an honest pause, not for a drip.
//!
//! A limit on silence alone lets a peer hold a connection for as long as it likes with a byte now and then. So patience is a credit:
//! waiting uses it up, bytes earn it back, and it never exceeds the longest silence.

use std::time::Duration;

/// Least speed of a peer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The longest silence, which is also the credit at the start.
    pub silence: Duration,
    /// Bytes that earn a second of waiting; 0 asks for no pace: every byte earns the whole silence anew.
    pub bytes_per_second: u64,
}

/// The credit of one peer in one direction of one body.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pace: Pace,
    left: Duration,
    /// Bytes that have earned their time.
    counted: u64,
}

impl Patience {
    /// The credit at the start.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            left: pace.silence,
            counted: 0,
        }
    }

    /// How long the peer may be waited for now that so many bytes have moved since the start.
    pub fn allowance(&mut self, bytes: u64) -> Duration {
        self.earn(bytes);
        self.left()
    }

    /// So many bytes have moved since the start.
    pub fn earn(&mut self, bytes: u64) {
        let fresh = bytes.saturating_sub(self.counted);
        self.counted = self.counted.max(bytes);
        let earned = match self.pace.bytes_per_second {
            0 if fresh > 0 => self.pace.silence,
            0 => Duration::ZERO,
            rate => Duration::from_millis(fresh.saturating_mul(1000) / rate),
        };
        self.left = self.left.saturating_add(earned).min(self.pace.silence);
    }

    /// How long it may be waited for.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.left
    }

    /// It was waited for so long.
    pub fn waited(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long a peer is waited for in all that sends `bytes` after every `pause`; `None`: for ever.
    fn borne(bytes_per_second: u64, pause: Duration, bytes: u64) -> Option<Duration> {
        let pace = Pace {
            silence: 60 * SECOND,
            bytes_per_second,
        };
        let mut patience = Patience::new(pace);
        for turn in 0..10_000 {
            let allowance = patience.allowance(u64::from(turn) * bytes);
            if allowance < pause {
                return Some(pause * turn + allowance);
            }
            patience.waited(pause);
        }
        None
    }

    #[test]
    fn a_drip_is_borne_for_a_while_and_a_steady_peer_for_ever() {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs());
        assert_eq!(seconds(borne(1024, 61 * SECOND, 1)), Some(60));
        assert_eq!(seconds(borne(1024, SECOND, 1)), Some(60));
        assert_eq!(seconds(borne(1024, SECOND, 512)), Some(119));
        assert_eq!(seconds(borne(1024, SECOND, 1024)), None);
        assert_eq!(seconds(borne(1024, 59 * SECOND, 1 << 20)), None);
        assert_eq!(seconds(borne(0, 59 * SECOND, 1)), None);
        assert_eq!(seconds(borne(0, 61 * SECOND, 1)), Some(60));
    }

    #[test]
    fn what_came_fast_is_no_credit_for_later() {
        let pace = Pace {
            silence: 10 * SECOND,
            bytes_per_second: 1,
        };
        let mut patience = Patience::new(pace);
        assert_eq!(patience.allowance(1_000_000), 10 * SECOND);
        patience.waited(10 * SECOND);
        assert_eq!(patience.allowance(1_000_000), Duration::ZERO);
    }
}
