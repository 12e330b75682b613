//! How fast a body flows: whether its pieces are worth a pipe.

use plimsoll_http::splice;

/// Bytes that a sink takes at once only if it is fast: more than the system holds for a slow one.
const SURELY_FAST: u32 = 256 * 1024;

/// Whether a body comes in large pieces that go as they come.
#[derive(Debug, Default)]
pub(super) struct Speed {
    /// Whether the last piece was large.
    is_bulk: bool,
    /// Whether the sink has not taken a piece that was spliced.
    was_slow: bool,
    /// Bytes that the sink has taken at once since it last did not; counted as far as anybody asks.
    at_once: u32,
}

impl Speed {
    /// How much may be spliced: no more than the sink has taken at once, for what it does not take is queued. None where reading costs less.
    pub(super) fn most(&self) -> Option<usize> {
        let is_fast = self.at_once >= SURELY_FAST || !self.was_slow && self.at_once > 0;
        (self.is_bulk && is_fast).then_some(self.at_once as usize)
    }

    /// Takes note of a piece, and of how much of it and before it was queued. One that was not read and is queued now was read after all,
    /// and cost more than it would have.
    pub(super) fn moved(&mut self, bytes: usize, queued: usize, is_spliced: bool) {
        self.is_bulk = bytes >= splice::LEAST_BYTES;
        if queued == 0 {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.at_once = self.at_once.saturating_add(bytes);
            return;
        }
        self.at_once = 0;
        self.was_slow |= is_spliced;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: usize = 64 * 1024;
    const SPLICED: usize = 256 * 1024;

    #[test]
    fn a_sink_gets_no_more_at_once_than_it_has_taken() {
        let mut speed = Speed::default();
        let mut after = |bytes, queued, spliced| {
            speed.moved(bytes, queued, spliced);
            speed.most()
        };
        assert_eq!(after(4_000, 0, false), None);
        assert_eq!(after(READ, 0, false), Some(69_536));
        assert_eq!(after(69_536, 0, true), Some(139_072));
        // Little comes at a time.
        assert_eq!(after(20_000, 0, true), None);
        assert_eq!(after(READ, 0, false), Some(224_608));
        assert_eq!(after(READ, 1, false), None);
        assert_eq!(after(READ, 0, false), Some(READ));
    }

    #[test]
    fn a_sink_that_was_slow_must_prove_that_it_is_fast() {
        let mut speed = Speed::default();
        let mut after = |bytes, queued, spliced| {
            speed.moved(bytes, queued, spliced);
            speed.most()
        };
        assert_eq!(after(SPLICED, SPLICED, true), None);
        for _ in 0..10 {
            assert_eq!(after(READ, 0, false), None);
            assert_eq!(after(READ, 0, false), None);
            assert_eq!(after(READ, 1, false), None);
        }
        let proof = [(); 4].map(|()| after(READ, 0, false));
        assert_eq!(proof, [None, None, None, Some(SPLICED)]);
    }
}
