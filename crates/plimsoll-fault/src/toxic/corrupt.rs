//! `corrupt`: bits are flipped. Toxiproxy has no such toxic.

use super::{Kind, Next, Passage};
use crate::passage::{Content, Item};
use bytes::Bytes;
use plimsoll_base::random::Draw;
use tokio::time::Instant;

/// Each byte has one of its bits flipped with a probability of `per_million` in a million.
#[derive(Debug, Default, Clone)]
pub struct Corrupt {
    per_million: i64,
}

impl Corrupt {
    /// How many bytes stay as they are before the next that does not: geometrically distributed, by inversion.
    fn gap(&self, draw: &mut Draw) -> Option<usize> {
        let per_million = u32::try_from(self.per_million.clamp(0, 1_000_000)).ok();
        let probability = f64::from(per_million.filter(|p| *p > 0)?) / 1e6;
        if probability >= 1.0 {
            return Some(0);
        }
        let gap = (-draw.exponential() / (-probability).ln_1p()).floor();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and a gap beyond all bytes may be cut off"
        )]
        let gap = gap as usize;
        Some(gap)
    }

    fn spoil(&self, left: &mut Option<usize>, bytes: &Bytes, draw: &mut Draw) -> Bytes {
        let mut copy = bytes.to_vec();
        let mut from = 0;
        while let Some(gap) = left.or_else(|| self.gap(draw)) {
            let at = from + gap;
            let Some(byte) = copy.get_mut(at) else {
                *left = Some(at - bytes.len());
                break;
            };
            *byte ^= 1_u8 << draw.below(8);
            *left = None;
            from = at + 1;
        }
        copy.into()
    }
}

impl Kind for Corrupt {
    const NAME: &'static str = "corrupt";
    /// Bytes until the next flipped one.
    type State = Option<usize>;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("per_million", &mut self.per_million)]
    }

    fn begin(&self, _: Instant) -> Option<usize> {
        None
    }

    fn advance(&self, left: &mut Option<usize>, passage: &mut Passage<'_>) -> Next {
        while passage.has_room()
            && let Some(Item { arrived, content }) = passage.queue.pop()
        {
            let content = match content {
                Content::Data(bytes) => Content::Data(self.spoil(left, &bytes, passage.draw)),
                other @ (Content::End | Content::Reset | Content::Cut) => other,
            };
            passage.next.push(Item { arrived, content });
        }
        Next::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    #[test]
    fn the_share_of_spoilt_bytes_is_as_stated_whatever_the_pieces() {
        let corrupt = Corrupt {
            per_million: 10_000,
        };
        let spoilt: usize = (0..10)
            .map(|seed| {
                let mut draw = Draw::new(seed, Stream::Toxics, 0);
                let mut left = None;
                let pieces = (0..1_000)
                    .map(|_| corrupt.spoil(&mut left, &Bytes::from_static(&[0; 1_000]), &mut draw));
                let flipped = |bytes: Bytes| bytes.iter().filter(|byte| **byte != 0).count();
                pieces.map(flipped).sum::<usize>()
            })
            .sum();
        // 100,000 are expected of ten million; 3.3 standard deviations are 1,040.
        assert!((98_960..101_040).contains(&spoilt), "{spoilt}");
    }

    #[test]
    fn nothing_or_everything_is_spoilt_at_the_ends() {
        let mut draw = Draw::new(3, Stream::Toxics, 0);
        for (per_million, spoilt) in [(0, 0), (-1, 0), (1_000_000, 50), (i64::MAX, 50)] {
            let corrupt = Corrupt { per_million };
            let bytes = corrupt.spoil(&mut None, &Bytes::from_static(&[0; 50]), &mut draw);
            let count = bytes.iter().filter(|byte| **byte != 0).count();
            assert_eq!(count, spoilt, "{per_million}");
        }
    }
}
