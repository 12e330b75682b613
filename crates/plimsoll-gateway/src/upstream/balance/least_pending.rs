//! Least pending: the endpoint with the fewest exchanges under way.

use super::around;

/// The usable endpoint with the smallest load; among equals the first at or after `from`, going round.
pub(super) fn choose(
    count: usize,
    from: usize,
    load: impl Fn(usize) -> Option<u32>,
) -> Option<usize> {
    around(count, from)
        .filter_map(|index| Some((load(index)?, index)))
        .min_by_key(|(load, _)| *load)
        .map(|(_, index)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn among_equals_it_goes_round() {
        let loads = [Some(3), None, Some(1), Some(1)];
        for (from, expected) in [(0, 2), (1, 2), (2, 2), (3, 3)] {
            assert_eq!(choose(4, from, |index| loads[index]), Some(expected));
        }
        assert_eq!(choose(0, 0, |_| Some(0)), None);
    }

    proptest! {
        #[test]
        fn nobody_usable_has_less(loads in proptest::collection::vec(proptest::option::of(0u32..9), 1..9), from in 0usize..9) {
            let chosen = choose(loads.len(), from % loads.len(), |index| loads[index]);
            let least = loads.iter().flatten().min();
            prop_assert_eq!(chosen.and_then(|index| loads[index].as_ref()), least);
        }
    }
}
