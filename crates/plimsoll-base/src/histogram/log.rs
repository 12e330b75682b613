//! Histograms as interval logs carry them: the compressed V2 form in base64, all with the same bounds, for readers that cannot merge others.
//!
//! The form is that of HdrHistogram's `AbstractHistogram.encodeIntoCompressedByteBuffer`: a cookie, the length of what follows, and the plain
//! form compressed by zlib. Numbers are big-endian. The library would make a compressor of 300 kB for each, and a histogram of 190 kB with
//! the bounds of all.

use super::{HIGHEST_US, IN_MEMORY, TimeHistogram};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use std::ops::Range;

const COOKIE: u32 = 0x1c84_9314;
/// Where the plain form has the highest time that the histogram can hold.
const HIGHEST_AT: Range<usize> = 24..32;

/// Writes one histogram after the other.
pub struct LogEncoder {
    serializer: V2Serializer,
    plain: Vec<u8>,
    compressor: Compress,
    framed: Vec<u8>,
}

impl Default for LogEncoder {
    fn default() -> Self {
        Self {
            serializer: V2Serializer::new(),
            plain: Vec::new(),
            compressor: Compress::new(Compression::default(), true),
            framed: Vec::new(),
        }
    }
}

impl std::fmt::Debug for LogEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogEncoder").finish_non_exhaustive()
    }
}

impl LogEncoder {
    /// One of them; [`TimeHistogram::decode`] reads it.
    pub fn encode(&mut self, histogram: &TimeHistogram) -> String {
        self.plain.clear();
        self.serializer
            .serialize(&histogram.0, &mut self.plain)
            .expect(IN_MEMORY);
        // Buckets depend on the lowest time and the digits alone, which all have.
        self.plain[HIGHEST_AT].copy_from_slice(&HIGHEST_US.to_be_bytes());
        self.framed.clear();
        self.framed.extend(COOKIE.to_be_bytes());
        self.framed.extend([0; 4]);
        // More than zlib adds to what cannot be compressed: five bytes for each 16 kB or so, and its frame.
        self.framed
            .reserve(self.plain.len() + self.plain.len() / 8 + 128);
        self.compressor.reset();
        let ended =
            self.compressor
                .compress_vec(&self.plain, &mut self.framed, FlushCompress::Finish);
        assert!(
            matches!(ended, Ok(Status::StreamEnd)),
            "invariant: there is room"
        );
        let length = u32::try_from(self.framed.len() - 8).expect("invariant: some 100 kB at most");
        self.framed[4..8].copy_from_slice(&length.to_be_bytes());
        STANDARD.encode(&self.framed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::DIGITS;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::V2DeflateSerializer;
    use proptest::prelude::*;

    /// By the library, of a histogram with those bounds.
    fn by_library(histogram: &TimeHistogram) -> String {
        let mut full = Histogram::<u64>::new_with_bounds(1, HIGHEST_US, DIGITS).unwrap();
        full.add(&histogram.0).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&full, &mut bytes)
            .unwrap();
        STANDARD.encode(bytes)
    }

    proptest! {
        /// Of short and long times, with counts that compress badly, one after the other by one encoder.
        #[test]
        fn each_is_what_the_library_writes(
            histograms in prop::collection::vec(
                prop::collection::vec((0u64..4_000_000_000_000, 1u64..1 << 40), 0..300), 1..4
            )
        ) {
            let mut encoder = LogEncoder::default();
            for times in histograms {
                let mut histogram = TimeHistogram::new();
                for (nanos, count) in times {
                    histogram.record_many(nanos, count);
                }
                let encoded = encoder.encode(&histogram);
                prop_assert_eq!(&encoded, &by_library(&histogram));
                prop_assert_eq!(&TimeHistogram::decode(&encoded).unwrap(), &histogram);
            }
        }
    }

    #[test]
    fn a_count_in_every_bucket_has_room() {
        let mut histogram = TimeHistogram::new();
        let mut state = 1_u64;
        for micros in 0..200_000_u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            histogram.record_many(micros * 1_000, state >> 40 | 1);
        }
        let encoded = LogEncoder::default().encode(&histogram);
        assert_eq!(encoded, by_library(&histogram));
    }
}
