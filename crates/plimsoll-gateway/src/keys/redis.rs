//! Keys, quotas and the number of gateways, shared through Redis: one thread with one connection, beside the requests.
//!
//! ```text
//! control API --changed keys--> pending --SET/DEL, XADD--> Redis --XRANGE, MGET--> store      (other gateways' changes)
//! shards ------touched---> spent ----INCRBY---------> Redis --the sum-----> store
//! ```
//!
//! Requests are decided in memory alone, so that Redis may stand still or be gone: then changes wait here, and each gateway goes on with
//! what it knows. A key that was withdrawn stays so: it is gone here at once, and its removal is the first thing that Redis hears.

mod quotas;
mod talk;

use super::store::Quotas as Becomes;
use super::{KeyHash, KeyStore};
use crate::clock;
use crate::server::Log;
use crate::tyk::RedisConf;
use quotas::Quotas;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use talk::Talk;

/// Between two turns. What other gateways spend and change is known here after one.
pub(crate) const TURN: Duration = Duration::from_millis(250);
/// Between two tries to connect.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Changes that may wait for the thread; then whoever makes them waits.
const QUEUED_CHANGES: usize = 1024;
/// Keys that may wait to be counted; of others it is heard when they are used again.
const TOUCHED_KEYS: usize = 64 * 1024;
/// Keys made or changed that are noted one by one while Redis is away; beyond that it gets all of them when it is back.
const NOTED_CHANGES: usize = 100_000;

/// The thread, and what is known of Redis.
#[derive(Debug)]
pub(crate) struct Link {
    changes: Mutex<Option<SyncSender<(KeyHash, Becomes)>>>,
    state: Arc<State>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What is known of Redis.
#[derive(Debug, Default)]
pub(crate) struct State {
    up: AtomicBool,
    /// Changes that Redis has not heard of.
    waiting: AtomicU64,
}

impl Link {
    /// Starts the thread. `name` is this gateway's among those that share the Redis.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub(crate) fn start(
        conf: &RedisConf,
        name: String,
        keys: Arc<KeyStore>,
        log: Log,
    ) -> io::Result<Self> {
        let (changes, queue) = sync_channel(QUEUED_CHANGES);
        let (touched, spent) = sync_channel(TOUCHED_KEYS);
        keys.tell_of_spending(touched);
        let state = Arc::new(State::default());
        let worker = Worker {
            talk: Talk::new(conf, name),
            keys,
            log,
            state: Arc::clone(&state),
            pending: HashMap::new(),
            everything: false,
            quotas: Quotas::default(),
            told_away: false,
        };
        let thread = std::thread::Builder::new()
            .name("redis".to_owned())
            .spawn(move || worker.run(&queue, &spent))?;
        Ok(Self {
            changes: Mutex::new(Some(changes)),
            state,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Whether Redis answered last.
    pub(crate) fn is_up(&self) -> bool {
        self.state.up.load(Ordering::Relaxed)
    }

    /// A key has changed, or is gone. Waits if there are many before it.
    pub(crate) fn tell(&self, hash: KeyHash, quota: Becomes) {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(changes) = &*changes {
            self.state.waiting.fetch_add(1, Ordering::Relaxed);
            if changes.send((hash, quota)).is_err() {
                // The thread has ended, and the gateway with it.
            }
        }
    }

    /// Lets the thread hand on what waits, and end. Says how many changes Redis never heard of.
    pub(crate) fn stop(&self) -> u64 {
        drop(
            self.changes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            thread.join().expect("the thread of Redis panicked");
        }
        self.state.waiting.load(Ordering::Relaxed)
    }
}

struct Worker {
    talk: Talk,
    keys: Arc<KeyStore>,
    log: Log,
    state: Arc<State>,
    /// Keys of whose change Redis has not heard: what they are now is looked up then.
    pending: HashMap<KeyHash, Becomes>,
    /// Redis is to get every key.
    everything: bool,
    quotas: Quotas,
    /// That Redis is away has been told.
    told_away: bool,
}

impl Worker {
    fn run(mut self, queue: &Receiver<(KeyHash, Becomes)>, spent: &Receiver<KeyHash>) {
        let mut pause = Duration::ZERO;
        loop {
            let ended = match queue.recv_timeout(pause) {
                Ok(change) => {
                    self.note(change);
                    queue
                        .try_iter()
                        .take(QUEUED_CHANGES)
                        .for_each(|change| self.note(change));
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            self.quotas.note(spent.try_iter().take(TOUCHED_KEYS));
            let result = self.turn();
            pause = if result.is_ok() { TURN } else { BETWEEN_TRIES };
            self.tell(result);
            if ended {
                self.talk.farewell();
                return;
            }
        }
    }

    fn note(&mut self, (hash, quota): (KeyHash, Becomes)) {
        // Removals are always noted: there are at most as many as there were keys.
        let is_there = || self.keys.with(hash, |_| ()).is_some();
        if self.pending.len() >= NOTED_CHANGES && is_there() {
            self.everything = true;
            return;
        }
        let noted = self.pending.entry(hash).or_insert(quota);
        if quota == Becomes::Reset {
            *noted = quota;
        }
    }

    /// Everything that is to be said and heard now.
    fn turn(&mut self) -> redis::RedisResult<()> {
        let news = self.talk.connect()?;
        let now = u32::try_from(clock::since_epoch().as_secs()).unwrap_or(u32::MAX);
        self.everything |= news.has_forgotten;
        if self.everything {
            for hash in self.keys.hashes() {
                self.pending.entry(hash).or_insert(Becomes::Keep);
            }
            self.everything = false;
        }
        self.talk.hand_on(&mut self.pending, &self.keys)?;
        self.keys.set_gateways(self.talk.heartbeat()?);
        if news.is_first {
            let keys = &self.keys;
            let pending = &self.pending;
            self.talk.all_keys(|hash, session| {
                if !pending.contains_key(&hash) {
                    keys.adopt(hash, session, Becomes::Keep, now);
                }
            })?;
        }
        let pending = &self.pending;
        let keys = &self.keys;
        self.talk.changes(|hash, session, quota| match session {
            _ if pending.contains_key(&hash) => {}
            Some(session) => keys.adopt(hash, &session, quota, now),
            None => {
                keys.remove(hash);
            }
        })?;
        self.quotas.share(&mut self.talk, &self.keys)
    }

    fn tell(&mut self, result: redis::RedisResult<()>) {
        let waiting = self.pending.len() as u64;
        self.state.waiting.store(waiting, Ordering::Relaxed);
        let was_up = self.state.up.swap(result.is_ok(), Ordering::Relaxed);
        let place = self.talk.place();
        match result {
            Ok(()) if self.told_away => {
                self.told_away = false;
                (self.log)(&format!("Redis at {place} is in reach again"));
            }
            Err(error) => {
                self.talk.disconnect();
                if was_up || !self.told_away {
                    self.told_away = true;
                    let why = format!(
                        "Redis at {place} is not in reach: keys and limits go on in memory ({error})"
                    );
                    (self.log)(&why);
                }
            }
            Ok(()) => {}
        }
    }
}
