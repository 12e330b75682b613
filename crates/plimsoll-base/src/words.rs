//! Eight bytes of a text looked at as one word, the first in its lowest byte (Henry S. Warren, Hacker's Delight, section 6-1; Sean Eron Anderson,
//! Bit Twiddling Hacks, "Determine if a word has a byte less than n").

/// One in each byte.
const EACH: u64 = u64::MAX / 0xff;
/// The highest bit of each byte.
const HIGHEST: u64 = EACH << 7;

/// The highest bits of the bytes that are less than `least`, which is at most 128. The first one that is set is right, and where none is, none
/// is less; behind the first, others may be set as well.
#[must_use]
#[inline]
pub const fn less(word: u64, least: u8) -> u64 {
    debug_assert!(least <= 128);
    word.wrapping_sub(EACH * least as u64) & !word & HIGHEST
}

/// Likewise of the bytes that are this one.
#[must_use]
#[inline]
pub const fn equal(word: u64, byte: u8) -> u64 {
    less(word ^ (EACH * byte as u64), 1)
}

/// Place of the first byte whose highest bit is set.
#[must_use]
#[inline]
pub const fn first(highest: u64) -> Option<usize> {
    match highest {
        0 => None,
        highest => Some(highest.trailing_zeros() as usize / 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_byte_is_found(bytes in prop::array::uniform8(any::<u8>()), least in 1..=128_u8) {
            let word = u64::from_le_bytes(bytes);
            let place = |is: &dyn Fn(u8) -> bool| bytes.iter().position(|byte| is(*byte));
            prop_assert_eq!(first(less(word, least)), place(&|byte| byte < least));
            let either = less(word, least) | equal(word, 0xff);
            prop_assert_eq!(first(either), place(&|byte| byte < least || byte == 0xff));
            for wanted in bytes.into_iter().chain([least]) {
                prop_assert_eq!(first(equal(word, wanted)), place(&|byte| byte == wanted));
            }
        }
    }
}
