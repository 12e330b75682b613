//! Consistent hashing by the highest random weight (Thaler and Ravishankar 1998): every key has its own order of the endpoints and goes to the
//! first of them that is usable. So when an endpoint goes, only its own keys move, and all gateways agree without knowing of each other.

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Hash of an exchange's key and an endpoint's name. The same in every process, for ever: keys must not move with a release.
pub(in crate::upstream) fn hash_of(text: &[u8]) -> u64 {
    let fnv = text.iter().fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    });
    scatter(fnv)
}

/// The finaliser of MurmurHash3, 64 bits: every bit of the input changes half of those of the output.
fn scatter(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

/// The endpoints, as what their names hash to.
#[derive(Debug)]
pub(in crate::upstream) struct EndpointHashes(Vec<u64>);

impl EndpointHashes {
    /// Of endpoints with these names.
    pub(super) fn new(names: &[&str]) -> Self {
        Self(names.iter().map(|name| hash_of(name.as_bytes())).collect())
    }

    /// The first usable endpoint in the order of `key`.
    pub(super) fn choose(&self, key: u64, load: impl Fn(usize) -> Option<u32>) -> Option<usize> {
        let usable = self
            .0
            .iter()
            .enumerate()
            .filter(|(index, _)| load(*index).is_some());
        usable
            .max_by_key(|(_, place)| scatter(key ^ **place))
            .map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 5] = ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "a:80", "b:80"];

    fn choose(places: &EndpointHashes, key: usize, without: Option<usize>) -> Option<usize> {
        let key = hash_of(format!("user-{key}").as_bytes());
        places.choose(key, |index| (Some(index) != without).then_some(0))
    }

    #[test]
    fn keys_spread_evenly() {
        let places = EndpointHashes::new(&NAMES);
        let mut counts = [0; NAMES.len()];
        for key in 0..10_000 {
            counts[choose(&places, key, None).unwrap()] += 1;
        }
        // A fair share is 2,000; its standard deviation is 40.
        assert!(
            counts.iter().all(|count| (1800..2200).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn hashes_are_for_ever() {
        assert_eq!(hash_of(b""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash_of(b"a"), 0x82a2_a958_a9be_ce5b);
    }

    proptest! {
        #[test]
        fn only_the_keys_of_an_endpoint_that_goes_move(key in 0usize..100_000, gone in 0usize..5) {
            let places = EndpointHashes::new(&NAMES);
            let before = choose(&places, key, None).unwrap();
            let after = choose(&places, key, Some(gone)).unwrap();
            prop_assert!(after != gone);
            prop_assert!(before == gone || after == before);
        }
    }
}
