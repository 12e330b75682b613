//! Use at other gateways of keys that are not here: a caller whom a token names has a session at a gateway from the first token on that
//! it is shown.

use super::KeyHash;
use std::collections::{HashMap, VecDeque};

/// Keys of which something is kept, the last ones.
const KEPT: usize = 100_000;

/// Use of an account of a key by all gateways together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Used {
    /// `None`: over all APIs that are in no scope.
    pub(crate) scope: Option<Box<str>>,
    pub(crate) requests: u32,
    /// When Redis lets go of it, in seconds since 1970, if it does.
    pub(crate) end: Option<u32>,
}

/// Sums of keys that are not here, by their keys.
#[derive(Debug, Default)]
pub(super) struct Unmet {
    sums: HashMap<KeyHash, Sums>,
    /// Keys in the order in which they came, some of which are here since.
    order: VecDeque<(KeyHash, u64)>,
    count: u64,
}

#[derive(Debug)]
struct Sums {
    /// Tells it from a later one of the same key.
    number: u64,
    accounts: Vec<Used>,
}

impl Unmet {
    /// Keeps a sum, in the place of an older one of its account.
    pub(super) fn keep(&mut self, hash: KeyHash, used: Used) {
        if let Some(sums) = self.sums.get_mut(&hash) {
            sums.accounts.retain(|older| older.scope != used.scope);
            sums.accounts.push(used);
            return;
        }
        self.count += 1;
        let (number, accounts) = (self.count, vec![used]);
        self.sums.insert(hash, Sums { number, accounts });
        self.order.push_back((hash, number));
        if self.order.len() > KEPT
            && let Some((oldest, number)) = self.order.pop_front()
            && (self.sums.get(&oldest)).is_some_and(|sums| sums.number == number)
        {
            self.sums.remove(&oldest);
        }
    }

    /// The sums of a key, which are kept no longer.
    pub(super) fn take(&mut self, hash: KeyHash) -> Vec<Used> {
        let taken = self.sums.remove(&hash);
        taken.map_or_else(Vec::new, |sums| sums.accounts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sum_of_an_account_is_kept_and_the_last_keys() {
        let mut unmet = Unmet::default();
        let hash = |number: usize| KeyHash::of(&number.to_be_bytes());
        let used = |scope: Option<&str>, requests| Used {
            scope: scope.map(Into::into),
            requests,
            end: None,
        };
        unmet.keep(hash(0), used(None, 1));
        unmet.keep(hash(0), used(Some("a"), 2));
        unmet.keep(hash(0), used(None, 3));
        assert_eq!(unmet.take(hash(0)), [used(Some("a"), 2), used(None, 3)]);
        assert_eq!(unmet.take(hash(0)), []);
        for number in 0..=KEPT {
            unmet.keep(hash(number), used(None, 1));
        }
        assert_eq!((unmet.sums.len(), unmet.order.len()), (KEPT, KEPT));
        assert_eq!(unmet.take(hash(0)), []);
        assert_eq!(unmet.take(hash(KEPT)), [used(None, 1)]);
    }
}
