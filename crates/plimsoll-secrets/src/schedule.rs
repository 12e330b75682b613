//! When a kept secret is asked for next, and how long what was heard last may be used.

use std::time::Duration;

/// The pause after a failure, which doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// When it is asked for again after it was heard, in parts of the time to live: at the earliest and at the latest. What is left is for
/// the call itself, and for a second one if that fails.
const EARLIEST: f64 = 0.6;
const LATEST: f64 = 0.8;

/// Times that hold for every secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// For how long a value is as good as new. Above zero.
    pub ttl: Duration,
    /// For how much longer it is used while no newer one can be had.
    pub stale: Duration,
    /// How long the first value is waited for.
    pub wait: Duration,
}

impl Times {
    /// How long after it was heard a secret is asked for again. `chance` lies between 0 and 1: those that were heard together are not
    /// asked for together.
    pub(crate) fn refresh(&self, chance: f64) -> Duration {
        self.ttl.mul_f64(EARLIEST + (LATEST - EARLIEST) * chance)
    }

    /// How long after the `failures`-th failure in a row it is tried again: between half of the pause and all of it.
    pub(crate) fn pause(failures: u32, chance: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
        let pause = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
        pause.mul_f64(0.5 + chance / 2.0)
    }

    /// Freshness of a value of this age.
    pub(crate) fn worth(&self, age: Duration) -> Freshness {
        if age < self.ttl {
            Freshness::Fresh
        } else if age < self.ttl.saturating_add(self.stale) {
            Freshness::Stale
        } else {
            Freshness::Nothing
        }
    }

    /// At which age a value is worth less than `now` for the next time, if ever.
    pub(crate) fn turns(&self, now: Freshness) -> Option<Duration> {
        match now {
            Freshness::Fresh => Some(self.ttl),
            Freshness::Stale => Some(self.ttl.saturating_add(self.stale)),
            Freshness::Nothing => None,
        }
    }
}

/// Freshness of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Fresh,
    /// It is used, for want of a newer one.
    Stale,
    /// It is withheld.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        ttl: Duration::from_secs(100),
        stale: Duration::from_secs(50),
        wait: Duration::from_secs(10),
    };

    #[test]
    fn it_is_asked_for_before_it_expires() {
        let asked = [0.0, 0.5, 1.0].map(|chance| TIMES.refresh(chance).as_secs());
        assert_eq!(asked, [60, 70, 80]);
    }

    #[test]
    fn pauses_double_up_to_a_minute() {
        let pauses = [1, 2, 3, 7, 8, 1000].map(|failures| Times::pause(failures, 1.0).as_millis());
        assert_eq!(pauses, [500, 1000, 2000, 32_000, 60_000, 60_000]);
        assert_eq!(Times::pause(1, 0.0).as_millis(), 250);
    }

    #[test]
    fn a_value_grows_stale_and_is_withheld_then() {
        let worth = [0, 99, 100, 149, 150].map(|age| TIMES.worth(Duration::from_secs(age)));
        let (fresh, stale) = (Freshness::Fresh, Freshness::Stale);
        assert_eq!(worth, [fresh, fresh, stale, stale, Freshness::Nothing]);
        let turns = [fresh, stale, Freshness::Nothing].map(|worth| TIMES.turns(worth));
        let seconds = turns.map(|turn| turn.map(|time| time.as_secs()));
        assert_eq!(seconds, [Some(100), Some(150), None]);
    }
}
