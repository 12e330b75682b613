//! Round robin: one endpoint after the other.

use super::around;

/// The first usable endpoint at or after `from`, going round.
pub(super) fn choose(
    count: usize,
    from: usize,
    load: impl Fn(usize) -> Option<u32>,
) -> Option<usize> {
    around(count, from).find(|&index| load(index).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_endpoints_are_passed_over() {
        let loads = [Some(3), None, Some(1), Some(1)];
        for (from, expected) in [(0, 0), (1, 2), (2, 2), (3, 3)] {
            assert_eq!(choose(4, from, |index| loads[index]), Some(expected));
        }
        assert_eq!(choose(4, 0, |_| None), None);
    }
}
