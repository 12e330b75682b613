//! The buckets in which a server counts its own times: 32 to an octave, from 1.024 µs to 73 min.
//!
//! A bucket is at most 1/32 of its times wide, so its middle is within 1/64 (1.6 %) of each. Shorter times count as the shortest, longer
//! ones as the longest. Which bucket takes three instructions to tell: no table, no search, no floating point.

/// Buckets of one shard.
pub const TIME_BUCKETS: usize = ((HIGHEST - LOWEST + 1) << PARTS) as usize;

/// Each octave has 2 to this power buckets.
const PARTS: u32 = 5;
/// The first octave begins at 2 to this power nanoseconds.
const LOWEST: u32 = 10;
/// The last one, too.
const HIGHEST: u32 = 41;

/// The bucket of a time.
#[must_use]
pub fn bucket_of(nanos: u64) -> usize {
    let nanos = nanos.clamp(1 << LOWEST, (1 << (HIGHEST + 1)) - 1);
    let octave = nanos.ilog2();
    // The leading one of the time says the octave, the bits behind it which part of it.
    let part = (nanos >> (octave - PARTS)) as usize & ((1 << PARTS) - 1);
    ((octave - LOWEST) << PARTS) as usize | part
}

/// The middle of a bucket, in nanoseconds.
pub(super) fn middle_nanos(bucket: usize) -> u64 {
    let width = 1 << ((bucket >> PARTS) + (LOWEST - PARTS) as usize);
    let part = (bucket & ((1 << PARTS) - 1)) as u64;
    ((1 << PARTS) + part) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_take_what_lies_beyond() {
        let check = |nanos, expected| assert_eq!(bucket_of(nanos), expected, "{nanos}");
        check(0, 0);
        check(1_024, 0);
        check(1_055, 0);
        check(1_056, 1);
        check(2_048, 32);
        check((1 << 42) - 1, TIME_BUCKETS - 1);
        check(u64::MAX, TIME_BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn the_middle_of_a_bucket_is_within_a_64th(nanos in 1_024_u64..1 << 42) {
            let middle = middle_nanos(bucket_of(nanos));
            prop_assert!(middle.abs_diff(nanos) <= nanos / 64 + 1, "{nanos} {middle}");
            prop_assert_eq!(bucket_of(middle), bucket_of(nanos));
        }

        #[test]
        fn longer_times_have_higher_buckets(a in 0_u64..1 << 43, b in 0_u64..1 << 43) {
            prop_assert_eq!(bucket_of(a.min(b)).cmp(&bucket_of(a.max(b))).is_le(), true);
        }
    }
}
