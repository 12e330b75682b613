//! Changes of keys here that Redis was not told yet, and which keys are withdrawn and do not come back by themselves.
//!
//! A change is applied and noted under one lock, and what others say of a key is taken over under the same: so a key that is withdrawn here
//! is never made again by an older word of it, however the two meet.

use crate::keys::key::Quotas as Becomes;
use crate::keys::{KeyHash, KeyStore};
use std::collections::{HashMap, VecDeque};

/// Keys made or changed that are noted one by one while Redis is away; beyond that it gets all of them when it is back.
const NOTED: usize = 100_000;
/// Withdrawn keys that are remembered, the last ones.
const REMEMBERED: usize = 100_000;

/// The changes, and what is remembered of them.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Keys of whose change Redis has not heard: what they are now is looked up when it is told.
    waiting: HashMap<KeyHash, Waiting>,
    /// Redis is to get every key.
    everything: bool,
    /// When each key was withdrawn, counted in changes.
    withdrawn: HashMap<KeyHash, u64>,
    /// The withdrawn keys in order. Some of them were made again since.
    order: VecDeque<(KeyHash, u64)>,
    count: u64,
}

/// A change that Redis has not heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) quotas: Becomes,
    /// Tells it from a later one of the same key.
    number: u64,
}

/// Another gateway's, or Redis', word on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) hash: KeyHash,
    pub(super) quotas: Becomes,
    /// It was made, or changed as a whole: it is there again if it was withdrawn before.
    pub(super) is_new: bool,
}

impl Changes {
    /// A key was made, changed or withdrawn here.
    pub(super) fn note(&mut self, hash: KeyHash, quotas: Becomes, keys: &KeyStore) {
        let is_there = keys.with(hash, |_| ()).is_some();
        if is_there {
            self.withdrawn.remove(&hash);
        } else {
            self.remember(hash);
        }
        // Removals are always noted: there are at most as many as there were keys.
        if self.waiting.len() >= NOTED && is_there && !self.waiting.contains_key(&hash) {
            self.everything = true;
            return;
        }
        self.wait(hash, quotas);
    }

    /// A word about a key that is there now, with this session, or is gone.
    pub(super) fn hear(&mut self, word: Word, session: Option<&str>, keys: &KeyStore, now: u32) {
        let Word { hash, quotas, .. } = word;
        if self.is_ahead(hash, keys) {
            return;
        }
        let Some(session) = session else {
            keys.remove(hash);
            return self.remember(hash);
        };
        if self.withdrawn.contains_key(&hash) && !word.is_new {
            // Somebody has not heard of it.
            return self.wait(hash, Becomes::Reset);
        }
        self.withdrawn.remove(&hash);
        keys.adopt(hash, session, quotas, now);
    }

    /// Hears a Redis that has lost its data: the keys held here are newer, but for those that were withdrawn.
    pub(super) fn hear_after_loss(
        &mut self,
        word: Word,
        session: Option<&str>,
        keys: &KeyStore,
        now: u32,
    ) {
        if session.is_none() || keys.with(word.hash, |_| ()).is_none() {
            self.hear(word, session, keys, now);
        }
    }

    /// Redis is to get every key, and to hear of every one that was withdrawn.
    pub(super) fn tell_everything(&mut self) {
        self.everything = true;
        let withdrawn: Vec<KeyHash> = self.withdrawn.keys().copied().collect();
        for hash in withdrawn {
            self.wait(hash, Becomes::Reset);
        }
    }

    /// Changes that Redis is to be told now.
    pub(super) fn due(&mut self, keys: &KeyStore) -> Vec<(KeyHash, Waiting)> {
        if std::mem::take(&mut self.everything) {
            for hash in keys.hashes() {
                let is_local = keys.with(hash, crate::keys::key::Key::is_local) == Some(true);
                if !is_local && !self.waiting.contains_key(&hash) {
                    self.wait(hash, Becomes::Keep);
                }
            }
        }
        let waiting = self.waiting.iter();
        waiting.map(|(hash, waiting)| (*hash, *waiting)).collect()
    }

    /// Redis has heard of this; of what changed meanwhile it has yet to hear.
    pub(super) fn told(&mut self, (hash, told): &(KeyHash, Waiting)) {
        if self.waiting.get(hash) == Some(told) {
            self.waiting.remove(hash);
        }
    }

    /// Redis does not have this key.
    pub(super) fn is_missing(&mut self, hash: KeyHash, keys: &KeyStore, now: u32) {
        let is_local = keys.with(hash, crate::keys::key::Key::is_local) == Some(true);
        if is_local || self.is_ahead(hash, keys) {
            return;
        }
        // One whose time is over was withdrawn by nobody: it takes no place from those that were.
        let is_over = keys.with(hash, |key| key.is_forgotten(now));
        keys.remove(hash);
        if is_over != Some(true) {
            self.remember(hash);
        }
    }

    /// Changes that Redis has not heard of.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether more is known of a key here than Redis knows.
    fn is_ahead(&self, hash: KeyHash, keys: &KeyStore) -> bool {
        let is_there = || keys.with(hash, |_| ()).is_some();
        self.waiting.contains_key(&hash) || (self.everything && is_there())
    }

    fn wait(&mut self, hash: KeyHash, quotas: Becomes) {
        self.count += 1;
        let number = self.count;
        let waiting = self
            .waiting
            .entry(hash)
            .or_insert(Waiting { quotas, number });
        waiting.number = number;
        if quotas == Becomes::Reset {
            waiting.quotas = quotas;
        }
    }

    fn remember(&mut self, hash: KeyHash) {
        self.count += 1;
        self.withdrawn.insert(hash, self.count);
        self.order.push_back((hash, self.count));
        if self.order.len() > REMEMBERED
            && let Some((oldest, number)) = self.order.pop_front()
            && self.withdrawn.get(&oldest) == Some(&number)
        {
            self.withdrawn.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Limits;

    const SESSION: &str = r#"{"rate": 10, "per": 1}"#;
    const NOW: u32 = 1_700_000_000;

    fn hash() -> KeyHash {
        KeyHash::of(b"a key")
    }

    fn word(is_new: bool) -> Word {
        Word {
            hash: hash(),
            quotas: Becomes::Keep,
            is_new,
        }
    }

    /// A store with a key that Redis knows, too.
    fn shared() -> (KeyStore, Changes) {
        let (keys, mut changes) = (KeyStore::new(Limits::default()), Changes::default());
        changes.hear(word(true), Some(SESSION), &keys, NOW);
        assert!(is_there(&keys));
        assert_eq!(changes.len(), 0);
        (keys, changes)
    }

    fn is_there(keys: &KeyStore) -> bool {
        keys.with(hash(), |_| ()).is_some()
    }

    #[test]
    fn a_withdrawn_key_is_not_made_again_by_an_older_word() {
        let (keys, mut changes) = shared();
        keys.remove(hash());
        changes.note(hash(), Becomes::Reset, &keys);
        changes.hear(word(true), Some(SESSION), &keys, NOW);
        assert!(!is_there(&keys), "its removal is still to be told");
        let due = changes.due(&keys);
        due.iter().for_each(|told| changes.told(told));
        assert_eq!((due.len(), changes.len()), (1, 0));
        changes.hear(word(false), Some(SESSION), &keys, NOW);
        assert!(!is_there(&keys), "a gateway told all it had");
        assert_eq!(changes.len(), 1, "and is to hear of it");
        let due = changes.due(&keys);
        due.iter().for_each(|told| changes.told(told));
        changes.hear(word(true), Some(SESSION), &keys, NOW);
        assert!(is_there(&keys), "it was made again");
    }

    #[test]
    fn a_change_while_redis_is_told_is_told_too() {
        let (keys, mut changes) = shared();
        changes.note(hash(), Becomes::Keep, &keys);
        let due = changes.due(&keys);
        keys.remove(hash());
        changes.note(hash(), Becomes::Reset, &keys);
        due.iter().for_each(|told| changes.told(told));
        changes.hear(word(true), Some(SESSION), &keys, NOW);
        assert_eq!((is_there(&keys), changes.len()), (false, 1));
    }

    #[test]
    fn who_missed_something_lets_go_of_what_redis_does_not_have() {
        let (keys, mut changes) = shared();
        changes.note(hash(), Becomes::Keep, &keys);
        changes.is_missing(hash(), &keys, NOW);
        assert!(is_there(&keys), "it was not told yet");
        let due = changes.due(&keys);
        due.iter().for_each(|told| changes.told(told));
        changes.is_missing(hash(), &keys, NOW);
        assert!(!is_there(&keys));
        changes.hear(word(false), Some(SESSION), &keys, NOW);
        assert!(!is_there(&keys), "somebody has not heard of it");
    }

    #[test]
    fn a_key_whose_time_is_over_is_missing_and_not_withdrawn() {
        let (keys, mut changes) = (KeyStore::new(Limits::default()), Changes::default());
        let ending = format!(r#"{{"access_rights": {{"a": {{}}}}, "expires": {NOW}}}"#);
        changes.hear(word(true), Some(&ending), &keys, NOW);
        assert!(is_there(&keys));
        changes.is_missing(hash(), &keys, NOW + 24 * 60 * 60);
        assert!(!is_there(&keys));
        changes.hear(word(false), Some(SESSION), &keys, NOW);
        assert!(is_there(&keys), "it was renewed");
    }

    #[test]
    fn a_redis_that_lost_everything_hears_of_keys_and_of_withdrawals() {
        let (keys, mut changes) = shared();
        changes.hear_after_loss(word(true), Some(r#"{"rate": 99, "per": 1}"#), &keys, NOW);
        let rate = keys.with(hash(), |key| key.shared()["rate"].clone());
        assert_eq!(rate.unwrap(), 10, "what is held is newer");
        changes.tell_everything();
        assert_eq!(changes.due(&keys).len(), 1);
        let due = changes.due(&keys);
        due.iter().for_each(|told| changes.told(told));
        changes.hear_after_loss(word(false), None, &keys, NOW);
        assert!(!is_there(&keys), "it was withdrawn since");
        changes.tell_everything();
        assert_eq!(changes.due(&keys).len(), 1, "its removal");
    }
}
