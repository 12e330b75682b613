//! All keys, found by hash from every shard.
//!
//! Split into [`SEGMENTS`] by hash, each with a lock: finding a key takes a shared one, which readers do not hold up each other with;
//! only making and withdrawing a key takes it whole. What keys spend is counted in atomic numbers under the shared lock.
//!
//! A key that has expired is still known for [`REMEMBERED`], so that who shows it learns why it opens nothing, and whoever manages keys can
//! see and renew it; then it leaves. Where there is no room for another, those that have expired leave at once.

use super::KeyHash;
use super::allowance::Spent;
use super::session::{self, Session};
use super::terms::{Effective, Policies, Terms};
use hashbrown::HashTable;
use plimsoll_base::document::{Document, Problems};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

/// Parts that are locked apart from each other.
const SEGMENTS: usize = 64;
/// Seconds for which a key that has expired is known.
const REMEMBERED: u32 = 24 * 60 * 60;
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

/// Beside the fields of a session that gateways share: when the key leaves, in seconds since 1970.
const LEAVES: &str = "plimsoll_leaves";

/// In the `meta_data` of a session that Tyk makes of a token: its own name.
pub(crate) const VIRTUAL: &str = "TykJWTSessionID";

/// A session as [`Key::shared_text`] writes it.
fn shared_session(text: &str) -> Result<Session, Problems> {
    let document = Document::parse_json("session", text)?;
    let leaves = document.integer(LEAVES);
    let mut session = session::read(document.without(&[LEAVES.into()]))?;
    session.leaves = leaves.map(|leaves| u32::try_from(leaves).unwrap_or(u32::MAX));
    Ok(session)
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
    broom: Mutex<Broom>,
    /// When there was nothing left to make room of, in seconds since 1970.
    exhausted: AtomicU32,
    /// Who is told which keys have spent of their quotas.
    heard: OnceLock<SyncSender<KeyHash>>,
}

#[derive(Debug, Default)]
struct Shared {
    terms: HashMap<String, Weak<Terms>>,
    policies: Arc<Policies>,
}

/// Where sweeping goes on: every key before it has been looked at in this round.
#[derive(Debug, Default, Clone, Copy)]
struct Broom {
    segment: usize,
    place: usize,
}

/// What became of some keys of a segment.
#[derive(Debug)]
struct Swept {
    seen: usize,
    forgotten: usize,
    /// Where it goes on; `None`: that was the last.
    next: Option<usize>,
}

#[derive(Debug, Default)]
struct Segment {
    /// Places in `keys`.
    places: HashTable<u32>,
    keys: Vec<Key>,
}

/// A key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) hash: KeyHash,
    terms: Arc<Terms>,
    /// Over all APIs that have no allowance of their own.
    spent: Spent,
    /// Seconds since 1970; 0: never.
    pub(crate) expires: u32,
    pub(crate) created: u32,
    /// What most keys do not have.
    extra: Option<Box<Extra>>,
}

#[derive(Debug, Default)]
struct Extra {
    /// The key in plain text, where the operator wants keys listed.
    plain: Option<Box<str>>,
    own: Map<String, Value>,
    /// For scopes that are counted for themselves.
    accounts: Box<[Spent]>,
    /// When it is there no more, expired or not, in seconds since 1970.
    leaves: Option<u32>,
}

/// What becomes of a quota when its key is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotas {
    Reset,
    Keep,
}

/// A key to be made or changed.
#[derive(Debug)]
pub(crate) struct NewKey {
    pub(crate) hash: KeyHash,
    pub(crate) plain: Option<String>,
    pub(crate) session: Session,
    /// Seconds since 1970.
    pub(crate) now: u32,
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
            heard: OnceLock::new(),
        }
    }

    pub(crate) fn set_gateways(&self, gateways: u32) {
        self.gateways.store(gateways.max(1), Ordering::Relaxed);
    }

    /// From now on `heard` is told which keys have spent of their quotas.
    pub(crate) fn tell_of_spending(&self, heard: SyncSender<KeyHash>) {
        if self.heard.set(heard).is_err() {
            // Somebody is told already.
        }
    }

    /// A key has spent of its quota. Never waits: who is to hear of it and is behind hears of it the next time.
    pub(crate) fn touch(&self, hash: KeyHash) {
        if let Some(heard) = self.heard.get()
            && heard.try_send(hash).is_err()
        {
            // It is counted here all the same.
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

    /// Takes over a key that another gateway made or changed. What cannot be read opens nothing here.
    pub(crate) fn adopt(&self, hash: KeyHash, text: &str, quotas: Quotas, now: u32) {
        let Ok(session) = shared_session(text) else {
            // What it opened before was more than nothing, and may be more than it is to open now.
            self.remove(hash);
            return;
        };
        let plain = self.with(hash, |key| key.extra.as_ref().and_then(|e| e.plain.clone()));
        let key = NewKey {
            hash,
            plain: plain.flatten().map(String::from),
            session,
            now,
        };
        if self.put(key, quotas).is_err() {
            // There are as many as there may be.
        }
    }

    /// How many keys there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// How many gateways share the keys' rates.
    pub(crate) fn gateways(&self) -> u32 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// The same number, for who shares other limits with them.
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
                let from = Broom { segment, place };
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
    fn forget(&self, from: Broom, most: usize, goes: impl Fn(&Key) -> bool) -> Swept {
        let Broom { segment, place } = from;
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

    /// The same if `is_so` of the key that there is at that moment, if there is one; says whether it was.
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
        let terms = self.terms(&new.session);
        let mut segment = self.segment_mut(new.hash);
        let place = segment.place(new.hash).copied();
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
            }
        }
        Ok(true)
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
                key.open_accounts();
            }
        }
    }

    /// The APIs that a grant opens now; `None`: all.
    pub(crate) fn opens(&self, grant: &super::terms::Grant) -> Option<Vec<String>> {
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

/// The segment goes by the number's highest bits, the place in its table by the others.
fn index(hash: KeyHash) -> usize {
    let highest = hash.number() >> (64 - SEGMENTS.trailing_zeros());
    usize::try_from(highest).expect("invariant: six bits are left")
}

fn spread(hash: KeyHash) -> u64 {
    hash.number() << SEGMENTS.trailing_zeros()
}

impl Segment {
    fn place(&self, hash: KeyHash) -> Option<&u32> {
        let is = |place: &u32| self.keys[*place as usize].hash == hash;
        self.places.find(spread(hash), is)
    }

    fn add(&mut self, key: Key) {
        let place = u32::try_from(self.keys.len()).expect("invariant: fewer keys than 2^32");
        let keys = &self.keys;
        let spread_of = |place: &u32| spread(keys[*place as usize].hash);
        self.places
            .insert_unique(spread(key.hash), place, spread_of);
        self.keys.push(key);
    }

    /// The last key takes the place of the one that goes.
    fn take(&mut self, hash: KeyHash) -> bool {
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

impl Key {
    /// A key in the place of `old`.
    fn new(new: NewKey, terms: Arc<Terms>, old: Option<&Self>, quotas: Quotas) -> Self {
        let kept = old.filter(|_| quotas == Quotas::Keep);
        if let Some(kept) = kept {
            // What was counted for itself may be again, by policies that come later.
            terms.keep_accounts(&kept.terms);
        }
        let spent = kept.map_or_else(Spent::default, |key| Spent::copy_of(&key.spent));
        if let Some((remaining, renews)) = new.session.quota.filter(|_| kept.is_none()) {
            let quota = terms.effective.load().allowance.quota;
            let max = quota.map_or(0, |quota| i64::from(quota.max));
            let used = u32::try_from(max.saturating_sub(remaining).clamp(0, max)).unwrap_or(0);
            spent.set_quota(renews, used);
        }
        let account = |api: &str| {
            let before = kept.and_then(|key| key.account(api));
            before.map_or_else(Spent::default, Spent::copy_of)
        };
        let accounts: Box<[Spent]> = (terms.accounts().iter()).map(|api| account(api)).collect();
        let leaves = new.session.leaves;
        let mut own = new.session.own;
        if let Some(old) = old.filter(|key| key.is_virtual()) {
            // However it is changed, it is no key that anybody may show.
            let mark = old.own("meta_data").and_then(|about| about.get(VIRTUAL));
            let about = own.entry("meta_data").or_insert(Value::Null);
            if !about.is_object() {
                *about = Value::Object(Map::new());
            }
            about[VIRTUAL] = mark.cloned().unwrap_or_default();
        }
        let known = || kept.and_then(|key| key.extra.as_ref()?.plain.clone());
        let plain = new.plain.map(String::into_boxed_str).or_else(known);
        let has_extra =
            plain.is_some() || !own.is_empty() || !accounts.is_empty() || leaves.is_some();
        let extra = has_extra.then(|| {
            Box::new(Extra {
                plain,
                own,
                accounts,
                leaves,
            })
        });
        Self {
            hash: new.hash,
            terms,
            spent,
            expires: new.session.expires,
            created: old.map_or(new.now, |key| key.created),
            extra,
        }
    }

    /// Whether it opens nothing any more, at `now` in seconds since 1970.
    pub(crate) fn has_expired(&self, now: u32) -> bool {
        self.expires != 0 && now >= self.expires
    }

    /// When nobody needs to know any more that there was such a key, in seconds since 1970; `None`: it does not expire. One that is made
    /// when it has expired is known for as long from then on.
    pub(crate) fn forgotten_at(&self) -> Option<u32> {
        let end = self.expires.max(self.created).saturating_add(REMEMBERED);
        let is_known = self.expires == 0 || end == u32::MAX || self.is_barred();
        let forgotten = (!is_known).then_some(end);
        match (self.leaves(), forgotten) {
            (Some(leaves), Some(end)) => Some(leaves.min(end)),
            (leaves, forgotten) => leaves.or(forgotten),
        }
    }

    fn leaves(&self) -> Option<u32> {
        self.extra.as_ref()?.leaves
    }

    /// Whether it is there no more, at `now` in seconds since 1970: it is as one that never was.
    pub(crate) fn has_left(&self, now: u32) -> bool {
        self.leaves().is_some_and(|leaves| now >= leaves)
    }

    pub(crate) fn is_forgotten(&self, now: u32) -> bool {
        self.forgotten_at().is_some_and(|end| now >= end) && !self.owes(now)
    }

    /// Whether it stands for who would come back with another token, and has spent of a quota that is not renewed yet.
    fn owes(&self, now: u32) -> bool {
        let accounts = self.extra.iter().flat_map(|extra| extra.accounts.iter());
        let mut spent = accounts.chain([&self.spent]).map(Spent::period);
        self.is_virtual() && spent.any(|(renews, used)| used > 0 && renews > now)
    }

    /// Whether this gateway made it of a token: the others make it of the same token, and none tells of it.
    pub(crate) fn is_local(&self) -> bool {
        self.is_virtual() && !self.is_barred()
    }

    /// What it is granted now.
    pub(crate) fn effective(&self) -> arc_swap::Guard<Arc<Effective>> {
        self.terms.effective.load()
    }

    /// What it has spent: over all APIs, or with one that has an allowance of its own.
    pub(crate) fn spent(&self, account: Option<usize>) -> &Spent {
        let own = account.and_then(|index| self.extra.as_ref()?.accounts.get(index));
        own.unwrap_or(&self.spent)
    }

    /// What it has spent with an API that has an account.
    fn account(&self, api: &str) -> Option<&Spent> {
        let extra = self.extra.as_ref()?;
        let place = (self.terms.accounts().iter()).position(|known| **known == *api)?;
        extra.accounts.get(place)
    }

    fn open_accounts(&mut self) {
        let wanted = self.terms.account_count();
        let open = self.extra.as_ref().map_or(0, |extra| extra.accounts.len());
        if wanted > open {
            let extra = self.extra.get_or_insert_default();
            let before = std::mem::take(&mut extra.accounts).into_iter();
            let new = (open..wanted).map(|_| Spent::default());
            extra.accounts = before.chain(new).collect();
        }
    }

    fn name(&self) -> String {
        let plain = self.extra.as_ref().and_then(|extra| extra.plain.as_deref());
        plain.map_or_else(|| self.hash.to_hex(), str::to_owned)
    }

    /// What its session says of this key alone, by the name of the field.
    pub(crate) fn own(&self, name: &str) -> Option<&Value> {
        self.extra.as_ref()?.own.get(name)
    }

    /// The policies that its session names.
    pub(crate) fn policies(&self) -> &[String] {
        self.terms.policies()
    }

    /// Whether it stands for whoever shows a token, and is no key that anybody may show: its name can be guessed.
    pub(crate) fn is_virtual(&self) -> bool {
        let about = self.own("meta_data");
        about.is_some_and(|about| about.get(VIRTUAL).is_some())
    }

    /// Whether it was closed for somebody who would come back with another token, as long as it is remembered.
    fn is_barred(&self) -> bool {
        self.terms.is_closed() && self.is_virtual()
    }

    /// What it is granted, as it stands: another once the key was changed.
    pub(crate) fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// The session that it was made of, as other gateways read it: each counts for itself.
    pub(crate) fn shared(&self) -> Map<String, Value> {
        let mut session = self.terms.shape.clone();
        if let Some(extra) = &self.extra {
            session.extend(extra.own.clone());
        }
        session.insert("expires".to_owned(), self.expires.into());
        session
    }

    /// The same as text, with what its maker alone can know.
    pub(crate) fn shared_text(&self) -> String {
        let mut session = self.shared();
        if let Some(leaves) = self.leaves() {
            session.insert(LEAVES.to_owned(), leaves.into());
        }
        Value::Object(session).to_string()
    }

    /// The session that it was made of, with what is left of its quota at `now` (seconds since 1970).
    pub(crate) fn session(&self, now: u32) -> Map<String, Value> {
        let mut session = self.shared();
        if !session.contains_key("date_created")
            && let Ok(created) = jiff::Timestamp::from_second(i64::from(self.created))
        {
            session.insert("date_created".to_owned(), created.to_string().into());
        }
        let effective = self.effective();
        let left = effective
            .allowance
            .quota
            .map(|quota| self.spent.left(quota, now));
        if let Some(left) = left {
            session.insert("quota_remaining".to_owned(), left.remaining.into());
            session.insert("quota_renews".to_owned(), left.renews.into());
        }
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u32 = 1_700_000_000;

    fn new_key(name: &str, session: &str) -> NewKey {
        let document = Document::parse_json("key", session).unwrap();
        NewKey {
            hash: KeyHash::of(name.as_bytes()),
            plain: None,
            session: session::read(document).unwrap(),
            now: NOW,
        }
    }

    const PLAIN: &str = r#"{"rate": 10, "per": 1, "quota_max": 5, "quota_renewal_rate": 60, "access_rights": {"a": {"api_id": "a"}}}"#;

    #[test]
    fn keys_are_found_until_they_are_withdrawn() {
        let store = KeyStore::new(Limits { keys: 1000 });
        let names: Vec<String> = (0..1000).map(|index| format!("key-{index}")).collect();
        for name in &names {
            store.put(new_key(name, PLAIN), Quotas::Reset).unwrap();
        }
        assert!(
            store
                .put(new_key("one more", PLAIN), Quotas::Reset)
                .is_err()
        );
        let hash = |name: &String| KeyHash::of(name.as_bytes());
        for name in names.iter().step_by(3) {
            assert!(store.remove(hash(name)));
            assert!(!store.remove(hash(name)));
        }
        for (index, name) in names.iter().enumerate() {
            let found = store.with(hash(name), |key| key.hash);
            let expected = (index % 3 != 0).then(|| hash(name));
            assert_eq!(found, expected, "{name}");
        }
        assert_eq!((store.len(), store.list(NOW).len()), (666, 666));
    }

    #[test]
    fn a_key_is_put_as_long_as_nobody_was_faster_and_put_off_but_never_forward() {
        let store = KeyStore::new(Limits::default());
        let hash = KeyHash::of(b"a");
        let put = |is_so: bool| {
            let is_so = |key: Option<&Key>| key.is_none() && is_so;
            let put = store.put_if(new_key("a", PLAIN), Quotas::Keep, is_so);
            put.unwrap()
        };
        assert!(!put(false));
        assert_eq!(store.len(), 0);
        assert!(put(true));
        assert!(!put(true));
        let expires = || store.with(hash, |key| key.expires);
        for (until, then) in [(NOW, NOW), (NOW - 1, NOW), (NOW + 1, NOW + 1)] {
            store.put_off(hash, until);
            assert_eq!(expires(), Some(then));
        }
        store.put_off(KeyHash::of(b"b"), NOW);
        assert_eq!(store.len(), 1);
    }

    #[test]
    fn what_stands_for_a_token_stays_that_however_it_is_changed() {
        let store = KeyStore::new(Limits::default());
        let made = format!(r#"{{"meta_data": {{"{VIRTUAL}": "x", "more": 1}}}}"#);
        store.put(new_key("k", &made), Quotas::Reset).unwrap();
        for changed in [
            r#"{"is_inactive": true}"#,
            r#"{"meta_data": null}"#,
            r#"{"meta_data": {"other": 1}}"#,
        ] {
            store.put(new_key("k", changed), Quotas::Reset).unwrap();
            let mark = |key: &Key| {
                (
                    key.is_virtual(),
                    key.own("meta_data").unwrap()[VIRTUAL] == "x",
                )
            };
            let seen = store.with(KeyHash::of(b"k"), mark);
            assert_eq!(seen, Some((true, true)), "{changed}");
        }
    }

    #[test]
    fn who_was_barred_stays_so_when_the_session_has_expired() {
        let store = KeyStore::new(Limits { keys: 2 });
        let of_a_token = |inactive: bool| {
            let meta = format!(r#""meta_data": {{"{VIRTUAL}": "x"}}"#);
            format!(
                r#"{{"is_inactive": {inactive}, "expires": {NOW}, "access_rights": {{"a": {{}}}}, {meta}}}"#
            )
        };
        for (name, inactive) in [("open", false), ("barred", true)] {
            let key = new_key(name, &of_a_token(inactive));
            store.put(key, Quotas::Reset).unwrap();
        }
        let has = |name: &str| store.with(KeyHash::of(name.as_bytes()), Key::is_virtual);
        store.put(new_key("new", PLAIN), Quotas::Reset).unwrap();
        assert_eq!((has("open"), has("barred")), (None, Some(true)));
        store.sweep(NOW + 2 * REMEMBERED);
        assert_eq!((has("new"), has("barred")), (Some(false), Some(true)));
    }

    #[test]
    fn a_change_keeps_or_resets_what_is_spent() {
        let store = KeyStore::new(Limits::default());
        store.put(new_key("a", PLAIN), Quotas::Reset).unwrap();
        let hash = KeyHash::of(b"a");
        let now = crate::keys::allowance::Moment {
            nanos: 1,
            unix: NOW,
        };
        let spend = || {
            store.with(hash, |key| {
                let allowance = key.effective().allowance;
                key.spent(None).spend(&allowance, 1, now).unwrap();
                key.session(NOW)["quota_remaining"].clone()
            })
        };
        assert_eq!(spend(), Some(4.into()));
        store.put(new_key("a", PLAIN), Quotas::Keep).unwrap();
        assert_eq!(spend(), Some(3.into()));
        store.put(new_key("a", PLAIN), Quotas::Reset).unwrap();
        assert_eq!(spend(), Some(4.into()));
        assert_eq!(store.len(), 1);
    }

    /// A session that ends so many seconds from [`NOW`].
    fn ending(seconds: i64) -> String {
        format!(
            r#"{{"access_rights": {{"a": {{}}}}, "expires": {}}}"#,
            i64::from(NOW) + seconds
        )
    }

    #[test]
    fn a_key_that_has_expired_is_known_for_a_day_and_leaves_then() {
        let store = KeyStore::new(Limits::default());
        let day = i64::from(REMEMBERED);
        let sessions = [PLAIN.to_owned(), ending(1), ending(2), ending(-9 * day)];
        for (name, session) in ["a", "b", "c", "d"].into_iter().zip(sessions) {
            store.put(new_key(name, &session), Quotas::Reset).unwrap();
        }
        let left = |now: u32| {
            store.sweep(now);
            let is_there = |name: &&str| store.with(KeyHash::of(name.as_bytes()), |_| ());
            let names = ["a", "b", "c", "d"].into_iter();
            let names: String = names.filter(|name| is_there(name).is_some()).collect();
            (names, store.len())
        };
        let at = |seconds: u32| left(NOW + REMEMBERED + seconds);
        assert_eq!(left(NOW + 3), ("abcd".to_owned(), 4));
        assert_eq!(
            at(0),
            ("abc".to_owned(), 3),
            "one that had expired when it was made"
        );
        assert_eq!(at(1), ("ac".to_owned(), 2));
        let renewed = new_key("c", &ending(7));
        store.put(renewed, Quotas::Keep).unwrap();
        assert_eq!(at(2), ("ac".to_owned(), 2), "it was renewed");
        assert_eq!(left(u32::MAX), ("a".to_owned(), 1));
    }

    #[test]
    fn every_key_that_has_expired_leaves_in_a_known_number_of_sweeps() {
        let store = KeyStore::new(Limits::default());
        let keys = 20 * SWEPT;
        for index in 0..keys {
            let lasts = if index % 2 == 0 { "1" } else { "0" };
            let session = format!(r#"{{"access_rights": {{"a": {{}}}}, "expires": {lasts}}}"#);
            let mut key = new_key(&index.to_string(), &session);
            key.now = 1;
            store.put(key, Quotas::Reset).unwrap();
        }
        store.sweep(NOW + REMEMBERED);
        assert!(store.len() >= keys - SWEPT, "one sweep looks at few");
        (1..keys / SWEPT).for_each(|_| store.sweep(NOW));
        assert_eq!(store.len(), keys / 2);
    }

    #[test]
    fn where_there_is_no_room_those_that_have_expired_leave_at_once() {
        let store = KeyStore::new(Limits { keys: 2 });
        let put = |name: &str, session: &str, now: u32| {
            let key = new_key(name, session);
            store.put(NewKey { now, ..key }, Quotas::Reset)
        };
        put("a", &ending(1), NOW).unwrap();
        put("b", PLAIN, NOW).unwrap();
        assert_eq!(put("c", PLAIN, NOW), Err(TooManyKeys(2)));
        // One that is there needs no room.
        put("a", &ending(2), NOW + 1).unwrap();
        assert_eq!(put("c", PLAIN, NOW + 1), Err(TooManyKeys(2)));
        put("c", PLAIN, NOW + 2).unwrap();
        assert!(store.with(KeyHash::of(b"a"), |_| ()).is_none());
        assert_eq!(store.len(), 2);
    }

    #[test]
    fn what_is_left_of_a_quota_may_be_any_number() {
        let store = KeyStore::new(Limits::default());
        for remaining in [i64::MIN, -1, i64::MAX] {
            let session = format!(
                r#"{{"quota_max": 5, "quota_renewal_rate": 60, "quota_remaining": {remaining}, "quota_renews": {}}}"#,
                NOW + 60
            );
            let put = store.put(new_key("a", &session), Quotas::Reset);
            put.unwrap();
            let left = store.with(KeyHash::of(b"a"), |key| key.session(NOW));
            let expected = if remaining > 0 { 5 } else { 0 };
            assert_eq!(left.unwrap()["quota_remaining"], expected, "{remaining}");
        }
    }

    #[test]
    fn a_session_that_cannot_be_read_ends_the_one_before_it() {
        let store = KeyStore::new(Limits::default());
        let hash = KeyHash::of(b"a");
        store.adopt(hash, PLAIN, Quotas::Keep, NOW);
        assert!(store.with(hash, |_| ()).is_some());
        store.adopt(hash, r#"{"hmac_enabled": true}"#, Quotas::Keep, NOW);
        assert!(store.with(hash, |_| ()).is_none());
    }

    /// Spends of what an API grants for itself; what is left.
    fn spend(store: &KeyStore, api: &str) -> Option<u32> {
        use super::super::allowance::Moment;
        use super::super::terms::Access;
        let now = Moment {
            nanos: 0,
            unix: NOW,
        };
        let look = |key: &Key| {
            let effective = key.effective();
            let Access::Listed(apis) = &effective.access else {
                return None;
            };
            let own = apis.get(api).copied()?;
            let left = key.spent(own.account).spend(&own.allowance, 1, now);
            left.ok()?.map(|left| left.remaining)
        };
        store.with(KeyHash::of(b"k"), look).flatten()
    }

    #[test]
    fn an_apis_account_stays_its_own_through_changes_of_policies_and_sessions() {
        use super::super::terms::{ApiGrant, Figures, Grant, PolicyGrant};
        let limit = Figures {
            quota_max: 9,
            quota_renewal: 60,
            ..Figures::default()
        };
        let policies = |apis: &[&str]| {
            let own = ApiGrant {
                limit,
                says_limit: true,
                ..ApiGrant::default()
            };
            let access = apis.iter().map(|api| ((*api).to_owned(), own.clone()));
            let policy = PolicyGrant {
                grant: Grant {
                    access: access.collect(),
                    ..Grant::default()
                },
                per_api: true,
                ..PolicyGrant::default()
            };
            Policies::from([("p".to_owned(), policy)])
        };
        let store = KeyStore::new(Limits::default());
        store.set_policies(policies(&["a", "b"]));
        let key = new_key("k", r#"{"apply_policies": ["p"]}"#);
        store.put(key, Quotas::Reset).unwrap();
        let spent = |apis: [&str; 3]| apis.map(|api| spend(&store, api));
        assert_eq!(spent(["a", "a", "b"]), [Some(8), Some(7), Some(8)]);
        store.set_policies(policies(&["c", "b", "a"]));
        assert_eq!(spent(["a", "b", "c"]), [Some(6), Some(7), Some(8)]);
        store.set_policies(policies(&["c"]));
        assert_eq!(spent(["a", "b", "c"]), [None, None, Some(7)]);
        store.set_policies(policies(&["a", "b", "c"]));
        assert_eq!(spent(["a", "b", "c"]), [Some(5), Some(6), Some(6)]);
        let own = |api: &str| {
            format!(r#""{api}": {{"limit": {{"quota_max": 9, "quota_renewal_rate": 60}}}}"#)
        };
        let session = format!(r#"{{"access_rights": {{{}, {}}}}}"#, own("c"), own("a"));
        store.put(new_key("k", &session), Quotas::Keep).unwrap();
        assert_eq!(spent(["a", "b", "c"]), [Some(4), None, Some(5)]);
        store.put(new_key("k", &session), Quotas::Reset).unwrap();
        assert_eq!(spent(["a", "b", "c"]), [Some(8), None, Some(8)]);
    }

    #[test]
    fn a_key_that_leaves_is_there_until_that_second_also_for_others() {
        let store = KeyStore::new(Limits::default());
        let mut key = new_key("k", PLAIN);
        key.session.leaves = Some(NOW + 10);
        let hash = key.hash;
        store.put(key, Quotas::Reset).unwrap();
        let text = store.with(hash, Key::shared_text).unwrap();
        let other = KeyStore::new(Limits::default());
        other.adopt(hash, &text, Quotas::Keep, NOW + 5);
        for store in [&store, &other] {
            let look = |at| store.with(hash, |key| (key.has_left(at), key.is_forgotten(at)));
            assert_eq!(look(NOW + 9), Some((false, false)));
            assert_eq!(look(NOW + 10), Some((true, true)));
            assert_eq!(store.with(hash, Key::forgotten_at), Some(Some(NOW + 10)));
            assert_eq!(
                (store.list(NOW + 9).len(), store.list(NOW + 10).len()),
                (1, 0)
            );
            let shown = store.with(hash, |key| key.session(NOW)).unwrap();
            assert!(!shown.contains_key(LEAVES));
        }
    }

    #[test]
    fn keys_with_the_same_session_share_its_terms() {
        let store = KeyStore::new(Limits::default());
        for name in ["a", "b"] {
            store.put(new_key(name, PLAIN), Quotas::Reset).unwrap();
        }
        let terms =
            |name: &str| store.with(KeyHash::of(name.as_bytes()), |key| Arc::as_ptr(&key.terms));
        assert_eq!(terms("a"), terms("b"));
        assert_eq!(store.shared.lock().unwrap().terms.len(), 1);
    }

    /// As full as the tables are with a million: a quarter of it in a quarter of the memory.
    #[test]
    fn a_million_keys_take_less_than_96_mb() {
        let store = KeyStore::new(Limits::default());
        let template = new_key("", PLAIN);
        for index in 0..250_000u32 {
            let key = NewKey {
                hash: KeyHash::of(&index.to_le_bytes()),
                plain: None,
                session: template.session.clone(),
                now: NOW,
            };
            store.put(key, Quotas::Reset).unwrap();
        }
        let bytes = |segment: &RwLock<Segment>| {
            let segment = segment.read().unwrap();
            segment.keys.capacity() * size_of::<Key>() + segment.places.allocation_size()
        };
        let taken: usize = store.segments.iter().map(bytes).sum();
        // 69 MB for a million; what keys have in common is kept once and does not count.
        assert_eq!(store.shared.lock().unwrap().terms.len(), 1);
        assert!(store.len() == 250_000 && taken < 24_000_000, "{taken}");
        assert_eq!(taken * 4 / 1_000_000, 69);
    }
}
