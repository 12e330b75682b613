//! The pace of a body: `{"numberOfChunks": 5, "totalDuration": 1000}` in WireMock's `chunkedDribbleDelay`, or a bandwidth.

use crate::reader::{Node, Problems};
use std::time::Duration;

/// The time between two pieces of a body that has a bandwidth.
const STEP: Duration = Duration::from_millis(10);

/// How a body is cut and how long each piece is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// So many pieces over so long a time.
    Chunks {
        /// How many.
        count: u64,
        /// Over how long.
        total: Duration,
    },
    /// So many bytes in a second.
    Bandwidth(u64),
}

/// One piece of a body: held back for a time, then sent up to a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub wait: Duration,
    pub until: usize,
}

impl Pacing {
    pub(super) fn read_dribble(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let count = object.required("numberOfChunks", problems);
        let count = count.and_then(|node| match node.integer(problems)? {
            count @ 1.. => u64::try_from(count).ok(),
            _ => node.wrong("1 or more", problems),
        });
        let total = object.required("totalDuration", problems);
        let total = total.and_then(|node| node.milliseconds(problems));
        object.finish(&[], problems);
        Some(Self::Chunks {
            count: count?,
            total: Duration::from_millis(total?),
        })
    }

    /// The pieces of a body of so many bytes, in order; none of an empty one. As in WireMock no piece is empty, all are of one size but the
    /// last, and each waits for its share of the time.
    pub fn pieces(self, bytes: usize) -> impl Iterator<Item = Piece> {
        let all = bytes as u64;
        let (count, wait) = match self {
            Self::Chunks { count, total } => {
                let count = count.min(all);
                let share = u32::try_from(count).map_or(Duration::ZERO, |count| {
                    total.checked_div(count).unwrap_or_default()
                });
                (count, share)
            }
            Self::Bandwidth(rate) => {
                // As many pieces as steps in the time that the body takes, at least one.
                let nanos = u128::from(all) * 1_000_000_000 / u128::from(rate.max(1));
                let steps = (nanos / STEP.as_nanos()).clamp(1, u128::from(all.max(1)));
                let count = u64::try_from(steps).unwrap_or(all).min(all);
                let share = nanos / u128::from(count.max(1));
                (
                    count,
                    Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX)),
                )
            }
        };
        let size = all.checked_div(count).unwrap_or(0);
        (1..=count).map(move |index| {
            let until = if index == count { all } else { index * size };
            Piece {
                wait,
                until: usize::try_from(until).unwrap_or(bytes),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pacing: Pacing, bytes: usize, wait_millis: u64, ends: &[usize]) {
        let pieces: Vec<Piece> = pacing.pieces(bytes).collect();
        let expected: Vec<Piece> = ends
            .iter()
            .map(|end| Piece {
                wait: Duration::from_millis(wait_millis),
                until: *end,
            })
            .collect();
        assert_eq!(pieces, expected, "{pacing:?} of {bytes}");
    }

    #[test]
    fn bodies_are_cut() {
        let chunks = |count, millis| Pacing::Chunks {
            count,
            total: Duration::from_millis(millis),
        };
        check(chunks(3, 300), 10, 100, &[3, 6, 10]);
        check(chunks(5, 20), 2, 10, &[1, 2]);
        check(chunks(5, 20), 0, 0, &[]);
        check(Pacing::Bandwidth(1000), 30, 10, &[10, 20, 30]);
        check(Pacing::Bandwidth(1000), 5, 5, &[5]);
        check(Pacing::Bandwidth(10), 2, 100, &[1, 2]);
    }
}
