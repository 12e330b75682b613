//! All keys, found by hash from every shard.
//!
//! Split into [`SEGMENTS`] by hash, each with a lock: finding a key takes a shared one, which readers do not hold up each other with;
//! only making and withdrawing a key takes it whole. What keys spend is counted in atomic numbers under the shared lock.
//!
//! A key that has expired is still known for [`super::key::REMEMBERED`], so that who shows it learns why it opens nothing, and whoever manages keys can
//! see and renew it; then it leaves. Where there is no room for another, those that have expired leave at once.

mod segment;

use super::KeyHash;
use super::grant::Policies;
use super::key::{Key, NewKey, Quotas, shared_session};
use super::session::Session;
use super::terms::Terms;
use super::unmet::{Unmet, Used};
use plimsoll_base::ignored::Ignored as _;
use segment::{SEGMENTS, Segment, index};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

/// Keys that one [`KeyStore::sweep`] looks at: what holds up a shard's requests for some microseconds at most.
const SWEPT: usize = 512;

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Keys beyond which none is made.
    pub(crate) keys: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { keys: 2_000_000 }
    }
}

/// There are as many keys as there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are {0} keys already, and no more may be")]
pub(crate) struct TooManyKeys(usize);

/// The keys. Shared by all shards and whoever manages keys.
#[derive(Debug)]
pub(crate) struct KeyStore {
    segments: Box<[RwLock<Segment>]>,
    limits: Limits,
    count: AtomicUsize,
    /// Blocking: taken only when a key is made or policies change. By the text of their shapes.
    shared: Mutex<Shared>,
    /// Gateways that share the keys' rates, this one included.
    gateways: Arc<AtomicU32>,
    /// Blocking: taken by the one shard that sweeps.
    broom: Mutex<ExpiryCursor>,
    /// When there was nothing left to make room of, in seconds since 1970.
    exhausted: AtomicU32,
    /// Keys of other gateways for which there was no room.
    turned_away: AtomicU64,
    /// Who is told which keys have spent of their quotas.
    heard: OnceLock<SyncSender<KeyHash>>,
    /// Keys have accounts that they did not have: nobody has looked yet what other gateways have spent there.
    opened: AtomicBool,
    /// Blocking: taken when a key is made or withdrawn, and by the thread of Redis for moments. Never together with the lock of a segment by
    /// whoever holds that first.
    unmet: Mutex<Unmet>,
}

#[derive(Debug, Default)]
struct Shared {
    terms: HashMap<String, Weak<Terms>>,
    policies: Arc<Policies>,
}

/// Where sweeping goes on: every key before it has been looked at in this round.
#[derive(Debug, Default, Clone, Copy)]
struct ExpiryCursor {
    segment: usize,
    place: usize,
}

/// Outcome of sweeping some keys of a segment.
#[derive(Debug)]
struct Swept {
    seen: usize,
    forgotten: usize,
    /// Where it goes on; `None`: that was the last.
    next: Option<usize>,
}

impl KeyStore {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            segments: (0..SEGMENTS).map(|_| RwLock::default()).collect(),
            limits,
            count: AtomicUsize::new(0),
            shared: Mutex::default(),
            gateways: Arc::new(AtomicU32::new(1)),
            broom: Mutex::default(),
            exhausted: AtomicU32::new(0),
            turned_away: AtomicU64::new(0),
            heard: OnceLock::new(),
            opened: AtomicBool::new(false),
            unmet: Mutex::default(),
        }
    }

    pub(crate) fn set_gateways(&self, gateways: u32) {
        self.gateways.store(gateways.max(1), Ordering::Relaxed);
    }

    /// From now on `heard` is told which keys have spent of their quotas.
    pub(crate) fn tell_of_spending(&self, heard: SyncSender<KeyHash>) {
        self.heard.set(heard).ignored("somebody is told already");
    }

    /// A key has spent of its quota. Never waits: who is to hear of it and is behind hears of it the next time.
    pub(crate) fn touch(&self, hash: KeyHash) {
        if let Some(heard) = self.heard.get() {
            heard
                .try_send(hash)
                .ignored("it is counted here all the same");
        }
    }

    /// Every key.
    pub(crate) fn hashes(&self) -> Vec<KeyHash> {
        let mut hashes = Vec::new();
        for segment in &self.segments {
            let segment = segment.read().unwrap_or_else(PoisonError::into_inner);
            hashes.extend(segment.keys.iter().map(|key| key.hash));
        }
        hashes
    }

    /// Takes over what all gateways have spent of a key, now or when it is here.
    pub(crate) fn learn(&self, hash: KeyHash, used: Used) {
        let mut unmet = self.unmet.lock().unwrap_or_else(PoisonError::into_inner);
        if self.with(hash, |key| key.learn(&used)).is_none() {
            unmet.keep(hash, used);
        }
    }

    /// Use of a key that was learnt before it was here.
    fn take_unmet(&self, hash: KeyHash) -> Vec<Used> {
        let mut unmet = self.unmet.lock().unwrap_or_else(PoisonError::into_inner);
        unmet.take(hash)
    }

    /// Takes over a key that another gateway made or changed. What cannot be read opens nothing here.
    pub(crate) fn adopt(&self, hash: KeyHash, text: &str, quotas: Quotas, now: u32) {
        let Ok(session) = shared_session(text) else {
            // What it opened before was more than nothing, and may be more than it is to open now.
            self.remove(hash);
            return;
        };
        let plain = self.with(hash, |key| key.plain().map(str::to_owned));
        let key = NewKey {
            hash,
            plain: plain.flatten(),
            session,
            now,
        };
        if self.put(key, quotas).is_err() {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many keys of other gateways are not here because there are as many as there may be.
    pub(crate) fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// How many gateways share the keys' rates.
    pub(crate) fn gateways(&self) -> u32 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// The number of gateways, for others that share limits with them.
    pub(crate) fn watch_gateways(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.gateways)
    }

    /// Lets go of keys that expired long ago, among the next few. Round by round it comes to all of them.
    pub(crate) fn sweep(&self, now: u32) {
        let mut broom = self.broom.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = SWEPT;
        // Over empty segments it goes on, but not round and round.
        for _ in 0..SEGMENTS {
            let from = *broom;
            let swept = self.forget(from, left, |key| key.is_forgotten(now));
            left -= swept.seen;
            let Some(next) = swept.next else {
                broom.segment = (from.segment + 1) % SEGMENTS;
                broom.place = 0;
                continue;
            };
            broom.place = next;
            return;
        }
    }

    /// Lets go of some keys that have expired, however lately, if there are any.
    fn make_room(&self, now: u32) {
        // Looking at two million keys takes a while: not for every key that finds no room.
        if self.exhausted.load(Ordering::Relaxed) == now {
            return;
        }
        for segment in 0..SEGMENTS {
            let mut next = Some(0);
            while let Some(place) = next {
                let from = ExpiryCursor { segment, place };
                let goes = |key: &Key| key.has_expired(now) && !key.is_barred() && !key.owes(now);
                let swept = self.forget(from, SWEPT, goes);
                if swept.forgotten > 0 {
                    return;
                }
                next = swept.next;
            }
        }
        self.exhausted.store(now, Ordering::Relaxed);
    }

    /// Lets go of those that `goes` is said of, among so many keys of a segment from this place on.
    fn forget(&self, from: ExpiryCursor, most: usize, goes: impl Fn(&Key) -> bool) -> Swept {
        let ExpiryCursor { segment, place } = from;
        let (any, length) = {
            let segment = self.read(segment);
            let keys = segment.keys.iter().skip(place).take(most);
            (keys.into_iter().any(&goes), segment.keys.len())
        };
        if !any {
            let end = length.min(place + most);
            return Swept {
                seen: end.saturating_sub(place),
                forgotten: 0,
                next: (end < length).then_some(end),
            };
        }
        let mut segment = self.write(segment);
        let (mut seen, mut forgotten, mut place) = (0, 0, place);
        while seen < most
            && let Some(key) = segment.keys.get(place)
        {
            seen += 1;
            match goes(key) {
                false => place += 1,
                // The last key comes to its place, and is looked at next.
                true => {
                    let hash = key.hash;
                    forgotten += usize::from(segment.take(hash));
                }
            }
        }
        self.count.fetch_sub(forgotten, Ordering::Relaxed);
        Swept {
            seen,
            forgotten,
            next: (place < segment.keys.len()).then_some(place),
        }
    }

    /// Looks at a key, if there is one.
    pub(crate) fn with<R>(&self, hash: KeyHash, look: impl FnOnce(&Key) -> R) -> Option<R> {
        let segment = self.segment(hash);
        let place = *segment.place(hash)?;
        segment.keys.get(place as usize).map(look)
    }

    /// Makes a key, or changes the one that there is.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn put(&self, new: NewKey, quotas: Quotas) -> Result<(), TooManyKeys> {
        self.put_if(new, quotas, |_| true).map(|_| ())
    }

    /// Changes a key if `is_so` of the one that there is at that moment, if there is one; says whether it was.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn put_if(
        &self,
        new: NewKey,
        quotas: Quotas,
        is_so: impl FnOnce(Option<&Key>) -> bool,
    ) -> Result<bool, TooManyKeys> {
        if self.count.load(Ordering::Relaxed) >= self.limits.keys
            && self.with(new.hash, |_| ()).is_none()
        {
            self.make_room(new.now);
        }
        let hash = new.hash;
        let terms = self.terms(&new.session);
        let mut segment = self.segment_mut(hash);
        let place = segment.place(hash).copied();
        let old = place.and_then(|place| segment.keys.get(place as usize));
        if !is_so(old) {
            return Ok(false);
        }
        // Under the lock: policies that come now find the key, and add the accounts that it lacks.
        let key = Key::new(new, terms, old, quotas);
        match place {
            Some(place) => segment.keys[place as usize] = key,
            None => {
                if self.count.fetch_add(1, Ordering::Relaxed) >= self.limits.keys {
                    self.count.fetch_sub(1, Ordering::Relaxed);
                    return Err(TooManyKeys(self.limits.keys));
                }
                segment.add(key);
                drop(segment);
                self.meet(hash, quotas);
            }
        }
        Ok(true)
    }

    /// Has a key that is here from now on learn what was spent of it, unless its quotas are whole now.
    fn meet(&self, hash: KeyHash, quotas: Quotas) {
        let spent = self.take_unmet(hash);
        if quotas == Quotas::Keep {
            self.with(hash, |key| spent.iter().for_each(|used| key.learn(used)));
        }
    }

    /// Puts off when a key expires, in seconds since 1970. One that expires later already stays as it is.
    pub(crate) fn put_off(&self, hash: KeyHash, expires: u32) {
        let mut segment = self.segment_mut(hash);
        let place = segment.place(hash).copied();
        let key = place.and_then(|place| segment.keys.get_mut(place as usize));
        if let Some(key) = key.filter(|key| key.expires < expires) {
            key.expires = expires;
        }
    }

    /// Withdraws a key; says whether there was one.
    pub(crate) fn remove(&self, hash: KeyHash) -> bool {
        let removed = self.segment_mut(hash).take(hash);
        if removed {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        drop(self.take_unmet(hash));
        removed
    }

    /// Every key as it is listed: in plain text where that is kept, else its hash.
    pub(crate) fn list(&self, now: u32) -> Vec<String> {
        let mut names = Vec::new();
        for segment in &self.segments {
            let segment = segment.read().unwrap_or_else(PoisonError::into_inner);
            let keys = segment.keys.iter().filter(|key| !key.has_left(now));
            names.extend(keys.map(Key::name));
        }
        names.sort_unstable();
        names
    }

    /// Puts other policies in force, for all keys.
    pub(crate) fn set_policies(&self, policies: Policies) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.policies = Arc::new(policies);
        shared.terms.retain(|_, terms| terms.strong_count() > 0);
        let all = shared.terms.values().filter_map(Weak::upgrade);
        let next: Vec<_> = all
            .map(|terms| {
                let effective = terms.under(&shared.policies);
                (terms, effective)
            })
            .collect();
        // Before anything is charged to them.
        self.open_accounts();
        for (terms, effective) in next {
            terms.effective.store(Arc::new(effective));
        }
    }

    /// Gives every key the accounts that its terms want by now.
    fn open_accounts(&self) {
        for segment in &self.segments {
            let mut segment = segment.write().unwrap_or_else(PoisonError::into_inner);
            for key in &mut segment.keys {
                if key.open_accounts() {
                    self.opened.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// Whether keys were given accounts since this was asked last.
    pub(crate) fn has_opened_accounts(&self) -> bool {
        self.opened.swap(false, Ordering::Relaxed)
    }

    /// The APIs that a grant opens now; `None`: all.
    pub(crate) fn opens(&self, grant: &super::grant::Grant) -> Option<Vec<String>> {
        super::terms::opens(grant, &self.policies())
    }

    /// The policies in force.
    pub(crate) fn policies(&self) -> Arc<Policies> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&shared.policies)
    }

    /// The one copy of such terms.
    fn terms(&self, session: &Session) -> Arc<Terms> {
        let shape = session.shape.clone();
        let text = Value::Object(shape.clone()).to_string();
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terms) = shared.terms.get(&text).and_then(Weak::upgrade) {
            return terms;
        }
        // Before it would grow: nobody uses some of them any more.
        if shared.terms.len() == shared.terms.capacity() {
            shared.terms.retain(|_, terms| terms.strong_count() > 0);
        }
        let terms = Terms::new(shape, session.grant.clone(), &shared.policies);
        let terms = Arc::new(terms);
        shared.terms.insert(text, Arc::downgrade(&terms));
        terms
    }

    fn segment(&self, hash: KeyHash) -> RwLockReadGuard<'_, Segment> {
        self.read(index(hash))
    }

    fn segment_mut(&self, hash: KeyHash) -> RwLockWriteGuard<'_, Segment> {
        self.write(index(hash))
    }

    fn read(&self, segment: usize) -> RwLockReadGuard<'_, Segment> {
        let segment = &self.segments[segment];
        segment.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, segment: usize) -> RwLockWriteGuard<'_, Segment> {
        let segment = &self.segments[segment];
        segment.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
