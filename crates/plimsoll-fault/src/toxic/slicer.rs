//! `slicer`: bytes go on in small slices, with a pause after each.

use super::{Kind, Next, Passage};
use crate::passage::Content;
use plimsoll_base::random::Draw;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Slices of about `average_size` ± `size_variation` bytes, `delay` microseconds apart. A piece is halved, at a place that varies,
/// until its parts are small enough, so that the sizes are even.
#[derive(Debug, Default, Clone)]
pub struct Slicer {
    average_size: i64,
    size_variation: i64,
    delay: i64,
}

/// How far one connection is.
#[derive(Debug)]
pub struct Progress {
    /// The sizes of the first piece's slices that are still to go.
    sizes: VecDeque<usize>,
    /// When the next may.
    free: Instant,
}

impl Slicer {
    /// The sizes of the slices of a piece.
    fn sizes(&self, length: usize, draw: &mut Draw, sizes: &mut VecDeque<usize>) {
        let size = |value: i64| usize::try_from(value).unwrap_or(0);
        let variation = size(self.size_variation);
        let largest = size(self.average_size).saturating_add(variation).max(1);
        if length <= largest {
            sizes.push_back(length);
            return;
        }
        let width = u64::try_from(2 * variation.min(length)).unwrap_or(u64::MAX);
        let offset = match width {
            0 => 0,
            width => usize::try_from(draw.below(width)).unwrap_or(0),
        };
        let middle = (length / 2 + offset).saturating_sub(variation.min(length));
        let middle = middle.clamp(1, length - 1);
        self.sizes(middle, draw, sizes);
        self.sizes(length - middle, draw, sizes);
    }
}

impl Kind for Slicer {
    const NAME: &'static str = "slicer";
    type State = Progress;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![
            ("average_size", &mut self.average_size),
            ("size_variation", &mut self.size_variation),
            ("delay", &mut self.delay),
        ]
    }

    fn begin(&self, now: Instant) -> Progress {
        Progress {
            sizes: VecDeque::new(),
            free: now,
        }
    }

    fn advance(&self, progress: &mut Progress, passage: &mut Passage<'_>) -> Next {
        let pause = Duration::from_micros(u64::try_from(self.delay).unwrap_or(0));
        while passage.has_room()
            && let Some(first) = passage.queue.front()
        {
            let due = first.arrived.max(progress.free);
            if due > passage.now {
                return Next::At(due);
            }
            let Content::Data(bytes) = &first.content else {
                passage.let_go(due);
                continue;
            };
            if progress.sizes.is_empty() {
                self.sizes(bytes.len(), passage.draw, &mut progress.sizes);
            }
            let size = progress.sizes.pop_front().unwrap_or(usize::MAX);
            passage.let_bytes_go(size, due);
            progress.free = due + pause;
        }
        Next::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    fn sizes(average_size: i64, size_variation: i64, length: usize) -> Vec<usize> {
        let slicer = Slicer {
            average_size,
            size_variation,
            delay: 0,
        };
        let mut sizes = VecDeque::new();
        slicer.sizes(length, &mut Draw::new(1, Stream::Toxics, 0), &mut sizes);
        sizes.into()
    }

    #[test]
    fn slices_add_up_and_none_is_longer_than_average_and_variation() {
        for (average, variation, length) in [(64, 32, 32_768), (10, 0, 1_000), (5, 100, 999)] {
            let sizes = sizes(average, variation, length);
            assert_eq!(sizes.iter().sum::<usize>(), length);
            let largest = usize::try_from(average + variation).unwrap();
            assert!(sizes.iter().all(|size| (1..=largest).contains(size)));
        }
    }

    #[test]
    fn sizes_of_zero_are_single_bytes() {
        assert_eq!(sizes(0, 0, 5), [1; 5]);
        assert_eq!(sizes(-3, -1, 3), [1; 3]);
    }
}
