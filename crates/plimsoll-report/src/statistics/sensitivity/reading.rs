//! The way that callers use a link, read from its slopes and its turns together.

use super::estimate::Estimate;
use super::slope::NEGLIGIBLE_SLOPE;

/// An interval over 0 that is narrower than this leaves no room for a wait worth naming.
pub const NARROW: f64 = 0.1;

/// A slope that comes within this share of the turns is as large as they are: turns are counted, and have no interval of their own.
const ALIKE_WITHIN: f64 = 0.1;

/// A wider interval may hold the turns by chance.
const ROUGH: f64 = 0.5;

/// With fewer turns than this per exchange, most exchanges have none.
const HALF: f64 = 0.5;

/// How callers use a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The slope is 0, and that closely.
    NotWaitedFor,
    /// The slope is the number of turns per exchange.
    InSequence,
    /// The slope is smaller than the number of turns.
    Overlapped,
    /// The mean rises with the delay, and most exchanges do not.
    SomeRequests,
    /// The slope is larger than the number of turns.
    BeyondItsTurns,
    /// The figure falls as the delay grows.
    Falls,
    /// The interval reaches from 0 to the number of turns.
    NotTold,
}

impl Reading {
    /// The reading of the slopes of mean and median of a link with so many turns per exchange (client bytes after server bytes begin one).
    ///
    /// "Some requests only" is said where the mean's slope is above 0 and the median's is told apart from it and not from 0, or where fewer
    /// than every other exchange has a turn. The median stands still only if the delays are large beside the spread of response times: with
    /// a spread much larger than the delays it moves as the mean does, and the turns alone tell.
    #[must_use]
    pub fn of(mean: &Estimate, median: &Estimate, turns_per_exchange: f64) -> Self {
        let (least, most) = (
            turns_per_exchange * (1.0 - ALIKE_WITHIN),
            turns_per_exchange * (1.0 + ALIKE_WITHIN),
        );
        let still = median.holds(0.0) && median.high < mean.value;
        if mean.high < -NEGLIGIBLE_SLOPE {
            Self::Falls
        } else if mean.low <= 0.0 && mean.high >= -NEGLIGIBLE_SLOPE && mean.width() < NARROW {
            Self::NotWaitedFor
        } else if mean.low > most {
            Self::BeyondItsTurns
        } else if mean.low > 0.0 && (still || turns_per_exchange < HALF) {
            Self::SomeRequests
        } else if mean.high < least {
            Self::Overlapped
        } else if mean.low > 0.0 && mean.width() < ROUGH {
            Self::InSequence
        } else {
            Self::NotTold
        }
    }

    /// The reading in words, for a line of a report.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotWaitedFor => "callers do not wait for it",
            Self::InSequence => "in sequence: callers wait for each of its turns",
            Self::Overlapped => {
                "parallel or after the answer: callers do not wait for all of its turns"
            }
            Self::SomeRequests => {
                "some requests only, as behind a cache: most exchanges do not wait for it"
            }
            Self::BeyondItsTurns => {
                "queueing, or waits that are no turns: callers wait for more than its turns"
            }
            Self::Falls => {
                "callers are answered sooner the later it answers, as by an error or a fallback"
            }
            Self::NotTold => "not told: the interval is too wide",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around((value, reach): (f64, f64)) -> Estimate {
        Estimate {
            value,
            low: value - reach,
            high: value + reach,
        }
    }

    #[test]
    fn readings() {
        let check = |mean: (f64, f64), median: (f64, f64), turns: f64, expected: Reading| {
            let reading = Reading::of(&around(mean), &around(median), turns);
            assert_eq!(reading, expected, "{mean:?} {median:?} {turns}");
        };
        let wide = 0.1;
        check((3.0, wide), (3.0, wide), 3.0, Reading::InSequence);
        check((0.95, 0.01), (0.95, 0.01), 1.0, Reading::InSequence);
        check((0.0, 0.04), (0.0, 0.04), 1.0, Reading::NotWaitedFor);
        check((0.02, 0.04), (0.0, 0.04), 0.0, Reading::NotWaitedFor);
        check((0.0, wide), (0.0, wide), 1.0, Reading::Overlapped);
        check((0.6, wide), (0.6, wide), 1.0, Reading::Overlapped);
        check((1.0, wide), (1.0, wide), 2.0, Reading::Overlapped);
        // One of twenty requests calls twice; every tenth calls once, and the spread is too large for the median to stand still.
        check((0.1, 0.02), (0.0, 0.03), 0.1, Reading::SomeRequests);
        check((0.1, 0.05), (0.08, 0.05), 0.1, Reading::SomeRequests);
        check((0.4, wide), (0.0, wide), 1.0, Reading::SomeRequests);
        check((2.0, wide), (2.0, wide), 1.0, Reading::BeyondItsTurns);
        check((0.4, wide), (0.0, wide), 0.1, Reading::BeyondItsTurns);
        check((-0.3, wide), (-0.3, wide), 1.0, Reading::Falls);
        check((0.5, 0.6), (0.5, 0.6), 1.0, Reading::NotTold);
        check((0.0, wide), (0.0, wide), 0.1, Reading::NotTold);
    }

    #[test]
    fn sentences() {
        let check = |reading: Reading, part: &str| assert!(reading.sentence().contains(part));
        check(Reading::NotWaitedFor, "callers do not wait for it");
        check(Reading::InSequence, "in sequence");
        check(Reading::Overlapped, "parallel or after the answer");
        check(Reading::SomeRequests, "some requests only");
        check(
            Reading::BeyondItsTurns,
            "queueing, or waits that are no turns",
        );
    }
}
