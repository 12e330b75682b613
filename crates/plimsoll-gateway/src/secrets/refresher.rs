//! Who keeps secrets fresh: a thread of its own that asks for each ahead of its expiry and fills the places that want it.
//!
//! ```text
//! configuration --Order::Take--> known already: filled; else asked for, within a bound --> answered: all there, or what is wrong
//!                 Order::Adopt-> its places, and its settings, are those that count from now on
//! ```
//!
//! A place of a configuration that is not in force keeps what it has, for exchanges that end by it; a secret without a place is forgotten.

use super::aws::{self, Failure, Source};
use super::cached::CachedSecret;
use super::credentials;
use super::schedule::{Freshness, Times};
use crate::clock;
use crate::clock::until;
use crate::log::Log;
use plimsoll_base::document::{Problem, Problems};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::meters::Counter;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Secrets that a configuration may name, each counted once.
pub(crate) const MOST: usize = 1000;
/// Calls under way at a time.
const CALLS: usize = 8;
/// How often it is looked whether every secret is still wanted.
const LOOK: Duration = Duration::from_secs(1);
/// Orders that may wait; whoever gives one waits for its answer.
const ORDERS: usize = 4;

/// How secrets are kept, as a configuration says it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) credentials: credentials::Source,
    /// Authorities (PEM) in place of the host's own.
    pub(crate) authorities: Option<String>,
    pub(crate) times: Times,
}

/// Secrets that a configuration wants kept.
#[derive(Debug, Clone)]
pub(crate) struct Keeping {
    pub(crate) settings: Arc<Settings>,
    /// Every place, and where it is said; those problems have no message yet.
    pub(crate) wanted: Vec<(Arc<CachedSecret>, Problem)>,
}

/// Counters of secrets, for `/metrics`.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Secrets that are kept.
    pub(crate) kept: Counter,
    /// Calls that brought a value, and calls that did not.
    pub(crate) refreshed: Counter,
    pub(crate) failed: Counter,
    /// Values that were another than before.
    pub(crate) rotated: Counter,
    /// Secrets that are used beyond their time to live, and secrets that are withheld.
    pub(crate) stale: Counter,
    pub(crate) withheld: Counter,
}

/// The thread, once somebody wants something kept. It ends when this is dropped.
pub(crate) struct SecretRefresher {
    log: Log,
    figures: Arc<Figures>,
    running: Option<Running>,
}

struct Running {
    orders: mpsc::Sender<Order>,
    thread: JoinHandle<()>,
}

enum Order {
    Take(Take),
    Adopt(Option<Keeping>),
}

/// Places that are to be filled.
struct Take {
    settings: Arc<Settings>,
    wanted: Vec<(Weak<CachedSecret>, Problem)>,
    reply: oneshot::Sender<Result<(), Problems>>,
}

/// Result of having asked for secrets; waits for it.
pub(crate) struct Asked(Option<oneshot::Receiver<Result<(), Problems>>>);

impl Asked {
    /// Outside of any runtime.
    pub(crate) fn wait(self) -> Result<(), Problems> {
        match self.0 {
            Some(answer) => answer.blocking_recv().unwrap_or_else(|_| Err(gone())),
            None => Ok(()),
        }
    }

    pub(crate) async fn heard(self) -> Result<(), Problems> {
        match self.0 {
            Some(answer) => answer.await.unwrap_or_else(|_| Err(gone())),
            None => Ok(()),
        }
    }
}

fn gone() -> Problems {
    Problem::of_file("secrets", "the gateway is stopping").into()
}

impl SecretRefresher {
    pub(crate) fn new(log: Log) -> Self {
        Self {
            log,
            figures: Arc::default(),
            running: None,
        }
    }

    pub(crate) fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Has every place filled that a configuration wants. Until [`Self::adopt`] what was kept before is kept as it was.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub(crate) fn take(&mut self, keeping: &Keeping) -> io::Result<Asked> {
        if keeping.wanted.is_empty() {
            return Ok(Asked(None));
        }
        let (reply, answer) = oneshot::channel();
        let wanted = keeping.wanted.iter();
        self.order(Order::Take(Take {
            settings: Arc::clone(&keeping.settings),
            wanted: wanted
                .map(|(kept, at)| (Arc::downgrade(kept), at.clone()))
                .collect(),
            reply,
        }))?;
        Ok(Asked(Some(answer)))
    }

    /// A configuration is in force: its secrets alone are kept fresh, and in the way that it says.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub(crate) fn adopt(&mut self, keeping: Option<&Keeping>) -> io::Result<()> {
        if self.running.is_none() {
            return Ok(());
        }
        self.order(Order::Adopt(keeping.cloned()))
    }

    fn order(&mut self, order: Order) -> io::Result<()> {
        let running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        // Each order is answered before the next is given, or answers at once: there is room.
        let given = running.orders.try_send(order);
        self.running = Some(running);
        given.map_err(|_| io::Error::other("the refresher of secrets takes no orders"))
    }

    fn start(&self) -> io::Result<Running> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (orders, ordered) = mpsc::channel(ORDERS);
        let work = Work {
            log: Arc::clone(&self.log),
            figures: Arc::clone(&self.figures),
            secrets: Vec::new(),
            calls: JoinSet::new(),
            take: None,
            draw: Draw::new(seed(), Stream::Refreshes, 0),
        };
        let thread = std::thread::Builder::new()
            .name("secrets".to_owned())
            .spawn(move || runtime.block_on(work.run(ordered)))?;
        Ok(Running { orders, thread })
    }
}

impl Drop for SecretRefresher {
    fn drop(&mut self) {
        if let Some(Running { orders, thread }) = self.running.take() {
            drop(orders);
            if thread.join().is_err() && !std::thread::panicking() {
                panic!("the refresher of secrets panicked");
            }
        }
    }
}

/// Only spreads calls: hosts that start together are not to call together.
fn seed() -> u64 {
    let now = clock::since_epoch().as_nanos();
    u64::try_from(now % u128::from(u64::MAX)).unwrap_or_default() ^ u64::from(std::process::id())
}

/// The thread's state.
struct Work {
    log: Log,
    figures: Arc<Figures>,
    secrets: Vec<Known>,
    calls: JoinSet<(Call, Result<Arc<str>, Failure>)>,
    /// An order that waits for values, and until when.
    take: Option<(Take, Instant)>,
    draw: Draw,
}

/// A call for secrets.
struct Call {
    source: Source,
    settings: Arc<Settings>,
}

/// A secret that is kept.
struct Known {
    source: Source,
    settings: Arc<Settings>,
    /// Those of an order that waits for a value where there is none: it is asked for in its way, which may be what was wrong.
    proposed: Option<Arc<Settings>>,
    places: Vec<Weak<CachedSecret>>,
    heard: Option<Heard>,
    /// In a row.
    failures: u32,
    /// The last of them.
    failure: Option<Failure>,
    /// When it is asked for next; `None` while it is asked for.
    due: Option<Instant>,
}

struct Heard {
    text: Arc<str>,
    at: Instant,
    /// Freshness that the places were told of it.
    worth: Freshness,
}

impl Work {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            let now = Instant::now();
            self.call(now);
            let next = self.next(now);
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Take(take)) => self.begin(take, Instant::now()),
                    Some(Order::Adopt(keeping)) => self.adopt(keeping.as_ref()),
                    None => break, // the gateway stops
                },
                Some(ended) = self.calls.join_next() => match ended {
                    Ok((call, result)) => self.hear(&call, result, Instant::now()),
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                },
                () = until(next) => {}
            }
            self.appraise(Instant::now());
            self.answer(Instant::now());
        }
        self.calls.shutdown().await;
    }

    /// Takes in the places of an order: each is filled with what is known.
    fn begin(&mut self, take: Take, now: Instant) {
        self.forget();
        for (place, _) in &take.wanted {
            let Some(kept) = place.upgrade() else {
                continue;
            };
            let source = &kept.reference.source;
            let at = (self.secrets.iter()).position(|known| known.source == *source);
            let known = match at {
                Some(at) => &mut self.secrets[at],
                None => {
                    self.secrets.push(Known {
                        source: source.clone(),
                        settings: Arc::clone(&take.settings),
                        proposed: None,
                        places: Vec::new(),
                        heard: None,
                        failures: 0,
                        failure: None,
                        due: Some(now),
                    });
                    self.secrets.last_mut().expect("invariant: pushed above")
                }
            };
            if !known.places.iter().any(|own| own.ptr_eq(place)) {
                known.places.push(Weak::clone(place));
            }
            known.fill(&kept);
            if kept.digest().is_none() {
                known.proposed = Some(Arc::clone(&take.settings));
                known.hurry(now);
            }
        }
        let until = now + take.settings.times.wait;
        self.take = Some((take, until));
    }

    fn adopt(&mut self, keeping: Option<&Keeping>) {
        let wanted = keeping.map_or(&[][..], |keeping| &keeping.wanted);
        let places: HashSet<*const CachedSecret> =
            wanted.iter().map(|(at, _)| Arc::as_ptr(at)).collect();
        for known in &mut self.secrets {
            known
                .places
                .retain(|place| places.contains(&place.as_ptr()));
            let Some(keeping) = keeping else {
                continue;
            };
            let are_others = known.settings != keeping.settings;
            known.settings = Arc::clone(&keeping.settings);
            if are_others && known.failure.is_some() {
                known.hurry(Instant::now());
            }
        }
    }

    /// Forgets what nobody wants any more.
    fn forget(&mut self) {
        self.secrets.retain_mut(|known| {
            known.places.retain(|place| place.strong_count() > 0);
            !known.places.is_empty()
        });
    }

    /// Asks for what is due.
    fn call(&mut self, now: Instant) {
        self.forget();
        let due = |known: &&mut Known| known.due.is_some_and(|due| due <= now);
        for known in self.secrets.iter_mut().filter(due) {
            if self.calls.len() >= CALLS {
                break;
            }
            known.due = None;
            let settings = known.proposed.as_ref().unwrap_or(&known.settings);
            let call = Call {
                source: known.source.clone(),
                settings: Arc::clone(settings),
            };
            self.calls.spawn(async move {
                let Settings {
                    credentials,
                    authorities,
                    ..
                } = &*call.settings;
                let now = clock::since_epoch();
                let result = aws::get(&call.source, credentials, authorities.as_deref(), now).await;
                (call, result)
            });
        }
    }

    /// When something is to be done next, if nothing happens before.
    fn next(&self, now: Instant) -> Option<Instant> {
        let room = self.calls.len() < CALLS;
        let due = (self.secrets.iter()).filter_map(|known| known.due.filter(|_| room));
        let turns = self.secrets.iter().filter_map(|known| {
            let heard = known.heard.as_ref()?;
            Some(heard.at + known.settings.times.turns(heard.worth)?)
        });
        let deadline = self.take.iter().map(|(_, until)| *until);
        let look = (!self.secrets.is_empty()).then(|| now + LOOK);
        let next = due.chain(turns).chain(deadline).chain(look).min()?;
        Some(next.max(now))
    }

    fn hear(&mut self, call: &Call, result: Result<Arc<str>, Failure>, now: Instant) {
        let chance = self.draw.unit();
        let Some(known) = (self.secrets.iter_mut()).find(|k| k.source == call.source) else {
            return;
        };
        let fit = result.and_then(|text| known.fits(&text).map(|()| text));
        match fit {
            Ok(text) => {
                self.figures.refreshed.add(1);
                let before = known.heard.as_ref();
                let name = &known.source.secret;
                if before.is_some_and(|before| before.text != text) {
                    self.figures.rotated.add(1);
                    (self.log)(&format!("secret `{name}` has a new value"));
                } else if before.is_some_and(|before| before.worth != Freshness::Fresh) {
                    (self.log)(&format!("secret `{name}` can be refreshed again"));
                }
                known.heard = Some(Heard {
                    text,
                    at: now,
                    worth: Freshness::Fresh,
                });
                (known.failures, known.failure) = (0, None);
                known.due = Some(now + known.settings.times.refresh(chance));
                known.fill_all();
            }
            Err(failure) => {
                self.figures.failed.add(1);
                if known.is_to_be_asked_for_otherwise(call) {
                    known.due = Some(now);
                    return;
                }
                known.failures = known.failures.saturating_add(1);
                known.due = Some(now + Times::pause(known.failures, chance));
                let is_new = known.failure.as_ref() != Some(&failure);
                if let Some(heard) = known.heard.as_ref().filter(|_| is_new) {
                    let line = known.trouble(&failure, now.duration_since(heard.at));
                    (self.log)(&line);
                }
                known.failure = Some(failure);
            }
        }
    }

    /// Looks at what values are worth by now.
    fn appraise(&mut self, now: Instant) {
        let (mut stale, mut withheld) = (0, 0);
        for known in &mut self.secrets {
            let Some(heard) = &mut known.heard else {
                continue;
            };
            let worth = (known.settings.times).worth(now.duration_since(heard.at));
            let turned = worth != heard.worth;
            heard.worth = worth;
            let name = &known.source.secret;
            match worth {
                Freshness::Fresh => {}
                Freshness::Stale => {
                    stale += 1;
                    if turned {
                        (self.log)(&format!(
                            "secret `{name}` is older than `secrets.ttl` and used all the same, for want of a newer one"
                        ));
                    }
                }
                Freshness::Nothing => {
                    withheld += 1;
                    if turned {
                        known.withhold_all();
                        (self.log)(&format!(
                            "secret `{name}` is withheld: nobody has confirmed it for `secrets.ttl` and `secrets.stale`"
                        ));
                    }
                }
            }
        }
        self.figures.kept.set(self.secrets.len() as u64);
        self.figures.stale.set(stale);
        self.figures.withheld.set(withheld);
    }

    /// Answers the order that waits, if every place is filled, or some never will be in time.
    fn answer(&mut self, now: Instant) {
        let Some((take, until)) = &self.take else {
            return;
        };
        let mut missing = Problems::default();
        let mut in_vain = now >= *until;
        for (place, at) in &take.wanted {
            let Some(kept) = place.upgrade().filter(|kept| kept.digest().is_none()) else {
                continue;
            };
            let source = &kept.reference.source;
            let known = self.secrets.iter().find(|known| known.source == *source);
            let known = known.expect("invariant: what is ordered is known while its place is");
            let failure = known.objection(&kept).or_else(|| known.failure.clone());
            let is_final = !matches!(failure, None | Some(Failure::Away(_)));
            in_vain |= is_final && !known.is_asked_for(now);
            let seconds = take.settings.times.wait.as_secs_f64();
            let why = failure.map_or_else(
                || format!("it was not heard within {seconds} s"),
                |failure| failure.to_string(),
            );
            let mut problem = at.clone();
            problem.message = format!("secret `{}` cannot be had: {why}", kept.reference);
            missing.extend([problem]);
        }
        if !missing.is_empty() && !in_vain {
            return;
        }
        for known in &mut self.secrets {
            known.proposed = None;
        }
        if let Some((take, _)) = self.take.take()
            && take.reply.send(missing.or_ok(())).is_err()
        {
            // Who asked has gone, and the places with it.
        }
    }
}

impl Known {
    fn places(&self) -> impl Iterator<Item = Arc<CachedSecret>> {
        self.places.iter().filter_map(Weak::upgrade)
    }

    /// Whether a new value does for every place that has one.
    fn fits(&self, text: &Arc<str>) -> Result<(), Failure> {
        let mut places = self.places().filter(|kept| kept.digest().is_some());
        places.try_for_each(|kept| part(&kept, text).map(|_| ()))
    }

    /// Why what was heard does not do for a place.
    fn objection(&self, kept: &CachedSecret) -> Option<Failure> {
        part(kept, &self.heard.as_ref()?.text).err()
    }

    /// Gives a place what is known, if that is worth anything and does.
    fn fill(&self, kept: &CachedSecret) {
        let heard = self
            .heard
            .as_ref()
            .filter(|h| h.worth != Freshness::Nothing);
        if let Some(Ok(text)) = heard.map(|heard| part(kept, &heard.text)) {
            kept.fill(text);
        }
    }

    /// Somebody waits for it: whatever went wrong before, it is asked for now, unless it is already.
    fn hurry(&mut self, now: Instant) {
        self.failure = None;
        self.due = self.due.map(|_| now);
    }

    /// Whether an order waits for it to be asked for in another way than this call has.
    fn is_to_be_asked_for_otherwise(&self, call: &Call) -> bool {
        let proposed = self.proposed.as_ref();
        proposed.is_some_and(|proposed| *proposed != call.settings)
    }

    fn is_asked_for(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| due <= now)
    }

    fn fill_all(&self) {
        self.places().for_each(|kept| self.fill(&kept));
    }

    fn withhold_all(&self) {
        self.places().for_each(|kept| kept.withhold());
    }

    fn trouble(&self, failure: &Failure, age: Duration) -> String {
        let times = self.settings.times;
        let left = (times.ttl + times.stale).saturating_sub(age).as_secs();
        let name = &self.source.secret;
        format!(
            "secret `{name}` cannot be refreshed: {failure}; what is known may be used for {left} s more"
        )
    }
}

/// The part of a secret's text that a place wants, if it is fit for that.
fn part(kept: &CachedSecret, text: &Arc<str>) -> Result<Arc<str>, Failure> {
    let part = kept.reference.pick(text).map_err(Failure::Unusable)?;
    match kept.purpose.objection(&part) {
        None => Ok(part),
        Some(why) => Err(Failure::Unusable(format!(
            "its value does not do here: {why}"
        ))),
    }
}
