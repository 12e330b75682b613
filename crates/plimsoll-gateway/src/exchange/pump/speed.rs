//! How fast a body flows: whether its pieces are worth a pipe.

use plimsoll_http::splice;

/// Bytes that a sink takes at once only if it is fast: more than the system holds for a slow client.
const SURELY_FAST: u32 = 256 * 1024;

/// Whether a body comes in large pieces that go as they come.
#[derive(Debug, Default)]
pub(super) struct Speed {
    /// Whether the last piece was large.
    is_bulk: bool,
    /// Bytes in a row that were not queued, or as many as it holds.
    at_once: u32,
    /// How many of those it takes to splice.
    proof: u32,
}

impl Speed {
    /// How much may be spliced: no more than has gone at once, for what the sink does not take is queued. None where reading costs less.
    pub(super) fn most(&self) -> Option<usize> {
        let is_fast = self.at_once >= self.proof.max(1);
        (self.is_bulk && is_fast).then_some(self.at_once as usize)
    }

    /// Takes note of a piece, and of how much of it and before it is queued. One that was spliced and is queued now was copied after all, and
    /// has cost more than if it had been read: each of those asks for twice the proof.
    pub(super) fn moved(&mut self, bytes: usize, queued: usize, is_spliced: bool) {
        self.is_bulk = bytes >= splice::LEAST_BYTES;
        if queued == 0 {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.at_once = self.at_once.saturating_add(bytes);
            return;
        }
        self.at_once = 0;
        if is_spliced {
            self.proof = SURELY_FAST.max(self.proof.saturating_mul(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: usize = 64 * 1024;
    const SPLICED: usize = 256 * 1024;

    fn after(speed: &mut Speed, bytes: usize, queued: usize, is_spliced: bool) -> Option<usize> {
        speed.moved(bytes, queued, is_spliced);
        speed.most()
    }

    #[test]
    fn a_sink_gets_no_more_at_once_than_it_has_taken() {
        let speed = &mut Speed::default();
        assert_eq!(after(speed, 4_000, 0, false), None);
        assert_eq!(after(speed, READ, 0, false), Some(69_536));
        assert_eq!(after(speed, 69_536, 0, true), Some(139_072));
        // Little comes at a time.
        assert_eq!(after(speed, 20_000, 0, true), None);
        assert_eq!(after(speed, READ, 0, false), Some(224_608));
        assert_eq!(after(speed, READ, 1, false), None);
        assert_eq!(after(speed, 4_000, 0, false), None);
        assert_eq!(after(speed, READ, 0, false), Some(69_536));
    }

    #[test]
    fn a_sink_that_was_slow_must_prove_that_it_is_fast() {
        let speed = &mut Speed::default();
        assert_eq!(after(speed, SPLICED, SPLICED, true), None);
        for _ in 0..10 {
            assert_eq!(after(speed, READ, 0, false), None);
            assert_eq!(after(speed, READ, 0, false), None);
            assert_eq!(after(speed, READ, 1, false), None);
        }
        let proof = [(); 4].map(|()| after(speed, READ, 0, false));
        assert_eq!(proof, [None, None, None, Some(SPLICED)]);
        assert_eq!(after(speed, SPLICED, 1, true), None);
        let proof = [(); 8].map(|()| after(speed, READ, 0, false));
        assert_eq!(proof[6..], [None, Some(2 * SPLICED)]);
    }
}
