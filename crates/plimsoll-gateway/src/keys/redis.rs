//! Keys, quotas and the number of gateways, shared through Redis: one thread with one connection, beside the requests.
//!
//! ```text
//! control API --changed keys--> changes --SET/DEL, XADD--> Redis --XRANGE, MGET--> store      (other gateways' changes)
//! shards ------touched---> spent ----INCRBY, XADD---> Redis --the sums----> store
//! ```
//!
//! Requests are decided in memory alone, so that Redis may stand still or be gone: then changes wait here, and each gateway goes on with
//! what it knows. A key that was withdrawn stays so: it is gone here at once, its removal is the first thing that Redis hears, and whoever
//! has not heard of it is told again. Who has missed changes reads every key, and lets go of those that are not there; a Redis that has
//! lost changes is told everything, withdrawals included. What is told is told now or never: see [`Fence`](plimsoll_redis::Fence).

mod account;
mod changes;
mod quotas;
mod session;

use super::key::Quotas as Becomes;
use super::{KeyHash, KeyStore};
use changes::{Changes, Word};
use plimsoll_base::log::Log;
use plimsoll_http::clock;
use plimsoll_redis::{RedisConf, is_full, was_answered};
use quotas::Quotas;
use session::RedisSession;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two turns. What other gateways spend and change is known here after one.
pub(crate) const TURN: Duration = Duration::from_millis(250);
/// Between two tries to connect.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Keys that may wait to be counted; of others it is heard when they are used again.
const TOUCHED_KEYS: usize = 64 * 1024;

/// The thread, and what is known of Redis.
#[derive(Debug)]
pub(crate) struct Link {
    keys: Arc<KeyStore>,
    state: Arc<State>,
    /// Has the thread look at once; it ends when this is gone.
    wake: Mutex<Option<SyncSender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// State of Redis as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct State {
    up: AtomicBool,
    /// Blocking: taken by whoever changes a key, and by the thread for moments. Keys are looked up and changed under it.
    changes: Mutex<Changes>,
}

impl State {
    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Link {
    /// Starts the thread. `name` is this gateway's among those that share the Redis, which has yet to hear of the keys in `made`.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub(crate) fn start(
        conf: &RedisConf,
        name: String,
        keys: Arc<KeyStore>,
        made: &[KeyHash],
        log: Log,
    ) -> io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let (touched, spent) = sync_channel(TOUCHED_KEYS);
        keys.tell_of_spending(touched);
        let state = Arc::new(State::default());
        for hash in made {
            // Who withdrew one meanwhile says so, and a quota is used up as far as it is.
            state.changes().note(*hash, Becomes::Keep, &keys);
        }
        let worker = Worker {
            session: RedisSession::new(conf, name),
            keys: Arc::clone(&keys),
            log,
            state: Arc::clone(&state),
            missed: false,
            forgotten: false,
            quotas: Quotas::default(),
            told: None,
            turned_away: 0,
        };
        let thread = std::thread::Builder::new()
            .name("redis".to_owned())
            .spawn(move || worker.run(&woken, &spent))?;
        Ok(Self {
            keys,
            state,
            wake: Mutex::new(Some(wake)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Whether Redis answered last.
    pub(crate) fn is_up(&self) -> bool {
        self.state.up.load(Ordering::Relaxed)
    }

    /// Makes, changes or withdraws a key by `apply`, and has Redis hear of it if that says that it has; says the same.
    pub(crate) fn change(
        &self,
        hash: KeyHash,
        quotas: Becomes,
        apply: impl FnOnce() -> bool,
    ) -> bool {
        let mut changes = self.state.changes();
        if !apply() {
            return false;
        }
        changes.note(hash, quotas, &self.keys);
        drop(changes);
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
        if wake.as_ref().is_some_and(|wake| wake.try_send(()).is_err()) {
            // It has been woken already.
        }
        true
    }

    /// Lets the thread hand on what waits, and end. Says how many changes Redis never heard of.
    pub(crate) fn stop(&self) -> u64 {
        drop(
            self.wake
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
        self.state.changes().len() as u64
    }
}

struct Worker {
    session: RedisSession,
    keys: Arc<KeyStore>,
    log: Log,
    state: Arc<State>,
    /// Every key of Redis is to be read.
    missed: bool,
    /// Redis has lost changes, and is to be told everything.
    forgotten: bool,
    quotas: Quotas,
    /// Message about a Redis that does not do as it should.
    told: Option<&'static str>,
    /// Of how many keys was told that there is no room for them.
    turned_away: u64,
}

impl Worker {
    fn run(mut self, woken: &Receiver<()>, spent: &Receiver<KeyHash>) {
        let mut pause = Duration::ZERO;
        loop {
            let ended = match woken.recv_timeout(pause) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            self.quotas.note(spent.try_iter().take(TOUCHED_KEYS));
            let result = self.turn();
            pause = if result.is_ok() { TURN } else { BETWEEN_TRIES };
            self.tell(result);
            self.tell_of_keys_turned_away();
            if ended {
                self.session.deregister();
                return;
            }
        }
    }

    /// Everything that is to be said and heard now.
    fn turn(&mut self) -> redis::RedisResult<()> {
        let news = self.session.connect()?;
        let now = u32::try_from(clock::since_epoch().as_secs()).unwrap_or(u32::MAX);
        self.missed |= news.missed || news.forgotten || self.keys.has_opened_accounts();
        self.forgotten |= news.forgotten;
        let (state, keys) = (Arc::clone(&self.state), Arc::clone(&self.keys));
        if self.forgotten {
            self.session.changes(|word, session| {
                let mut changes = state.changes();
                changes.hear_after_loss(word, session, &keys, now);
            })?;
            state.changes().tell_everything();
        }
        let due = state.changes().due(&keys);
        let heard = |told: &_| state.changes().told(told);
        let said = self.session.hand_on(due, &keys, heard);
        // One that is full takes no key, and all else.
        if let Err(error) = &said
            && !is_full(error)
        {
            return said;
        }
        self.keys.set_gateways(self.session.heartbeat()?);
        if self.missed {
            self.read_all(now)?;
            (self.missed, self.forgotten) = (false, false);
        }
        // Before the changes: a key that others have spent of is known then.
        self.quotas.hear(&mut self.session)?;
        self.session.changes(|word, session| {
            state.changes().hear(word, session, &keys, now);
        })?;
        self.quotas.learn(&mut self.session, &keys)?;
        said?;
        self.quotas.share(&mut self.session, &keys)
    }

    /// Takes over every key that Redis has, and lets go of the others: they were withdrawn.
    fn read_all(&mut self, now: u32) -> redis::RedisResult<()> {
        let (state, keys) = (&self.state, &self.keys);
        // A Redis that has lost nothing has heard of what was withdrawn here: who is there was made again.
        let is_new = !self.forgotten;
        let mut seen = HashSet::new();
        self.session.all_keys(|hash, session, sums| {
            seen.insert(hash);
            let word = Word {
                hash,
                quotas: Becomes::Keep,
                is_new,
            };
            state.changes().hear(word, Some(session), keys, now);
            for sum in sums {
                quotas::take_over(sum, keys);
            }
        })?;
        for hash in keys.hashes() {
            if !seen.contains(&hash) {
                state.changes().is_missing(hash, keys, now);
            }
        }
        // Sessions of tokens are made here, and what they have spent is in Redis alone.
        let is_shared = |hash| seen.contains(&hash);
        (self.session).sums_without_keys(is_shared, |sum| quotas::take_over(sum, keys))
    }

    /// At the first one, and whenever there are twice as many as were told of.
    fn tell_of_keys_turned_away(&mut self) {
        let now = self.keys.turned_away();
        if now > 0 && now >= self.turned_away.saturating_mul(2) {
            self.turned_away = now;
            let held = self.keys.len();
            (self.log)(&format!(
                "{now} keys of other gateways are not held, for {held} are the most that there may be: their requests are refused here"
            ));
        }
    }

    fn tell(&mut self, result: redis::RedisResult<()>) {
        self.state.up.store(result.is_ok(), Ordering::Relaxed);
        let place = self.session.place();
        let Err(error) = result else {
            if self.told.take().is_some() {
                (self.log)(&format!("Redis at {place} is reconnected"));
            }
            return;
        };
        if !is_full(&error) {
            self.session.disconnect();
        }
        let what = match was_answered(&error) {
            true => "refuses what it is told",
            false => "is not in reach",
        };
        if self.told.replace(what) != Some(what) {
            let why = format!("Redis at {place} {what}: keys and limits go on in memory ({error})");
            (self.log)(&why);
        }
    }
}
