//! Balancing as pure functions: from a number of endpoints and their loads to the one to use.
//!
//! `load` is the number of exchanges that an endpoint has under way, or `None` where it may not be used.

/// The first usable endpoint at or after `from`, going round.
pub(crate) fn round_robin(
    count: usize,
    from: usize,
    load: impl Fn(usize) -> Option<u32>,
) -> Option<usize> {
    around(count, from).find(|&index| load(index).is_some())
}

/// The usable endpoint with the smallest load; among equals the first at or after `from`, going round.
pub(crate) fn least_pending(
    count: usize,
    from: usize,
    load: impl Fn(usize) -> Option<u32>,
) -> Option<usize> {
    around(count, from)
        .filter_map(|index| Some((load(index)?, index)))
        .min_by_key(|(load, _)| *load)
        .map(|(_, index)| index)
}

fn around(count: usize, from: usize) -> impl Iterator<Item = usize> {
    (from..count).chain(0..from.min(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_endpoints_are_passed_over() {
        let loads = [Some(3), None, Some(1), Some(1)];
        let load = |index: usize| loads[index];
        for (from, robin, least) in [(0, 0, 2), (1, 2, 2), (2, 2, 2), (3, 3, 3)] {
            assert_eq!(round_robin(4, from, load), Some(robin), "from {from}");
            assert_eq!(least_pending(4, from, load), Some(least), "from {from}");
        }
        assert_eq!(round_robin(4, 0, |_| None), None);
        assert_eq!(least_pending(0, 0, |_| Some(0)), None);
    }
}
