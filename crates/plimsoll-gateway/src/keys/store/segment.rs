//! Keys under one lock, found by hash.

use crate::keys::KeyHash;
use crate::keys::key::Key;
use hashbrown::HashTable;

/// Parts that are locked apart from each other.
pub(super) const SEGMENTS: usize = 64;

/// Keys that are locked together.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Places in `keys`.
    pub(super) places: HashTable<u32>,
    pub(super) keys: Vec<Key>,
}

/// The segment goes by the number's highest bits, the place in its table by the others.
pub(super) fn index(hash: KeyHash) -> usize {
    let highest = hash.number() >> (64 - SEGMENTS.trailing_zeros());
    usize::try_from(highest).expect("invariant: six bits are left")
}

fn spread(hash: KeyHash) -> u64 {
    hash.number() << SEGMENTS.trailing_zeros()
}

impl Segment {
    pub(super) fn place(&self, hash: KeyHash) -> Option<&u32> {
        let is = |place: &u32| self.keys[*place as usize].hash == hash;
        self.places.find(spread(hash), is)
    }

    pub(super) fn add(&mut self, key: Key) {
        let place = u32::try_from(self.keys.len()).expect("invariant: fewer keys than 2^32");
        let keys = &self.keys;
        let spread_of = |place: &u32| spread(keys[*place as usize].hash);
        self.places
            .insert_unique(spread(key.hash), place, spread_of);
        self.keys.push(key);
    }

    /// The last key takes the place of the one that goes.
    pub(super) fn take(&mut self, hash: KeyHash) -> bool {
        let is = |place: &u32| self.keys[*place as usize].hash == hash;
        let Ok(entry) = self.places.find_entry(spread(hash), is) else {
            return false;
        };
        let (place, _) = entry.remove();
        let last = self.keys.len() - 1;
        if place as usize != last {
            let moved = self.keys[last].hash;
            let is_last = |other: &u32| *other as usize == last;
            if let Some(known) = self.places.find_mut(spread(moved), is_last) {
                *known = place;
            }
        }
        self.keys.swap_remove(place as usize);
        true
    }
}
