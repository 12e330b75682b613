//! The thread's work: orders are taken, calls are made when they are due, and places are told what was heard.

use super::known::{Heard, Known};
use crate::aws::{self, Failure};
use crate::cached::CachedSecret;
use crate::figures::Figures;
use crate::reference::Source;
use crate::schedule::{Freshness, Times};
use crate::settings::{Keeping, Settings};
use plimsoll_base::document::{Problem, Problems};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::log::Log;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::clock::{self, until};
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Calls under way at a time.
const CALLS: usize = 8;
/// How often it is looked whether every secret is still wanted.
const LOOK: Duration = Duration::from_secs(1);

/// An order to the thread.
pub(super) enum Order {
    Take(Take),
    Adopt(Option<Keeping>),
}

/// Places that are to be filled.
pub(super) struct Take {
    pub(super) settings: Arc<Settings>,
    pub(super) wanted: Vec<(Weak<CachedSecret>, Problem)>,
    pub(super) reply: oneshot::Sender<Result<(), Problems>>,
}

/// The thread's state.
pub(super) struct Work {
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

impl Work {
    pub(super) fn new(log: Log, figures: Arc<Figures>) -> Self {
        Self {
            log,
            figures,
            secrets: Vec::new(),
            calls: JoinSet::new(),
            take: None,
            draw: Draw::new(seed(), Stream::Refreshes, 0),
        }
    }

    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
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
                if known.is_to_be_asked_for_otherwise(&call.settings) {
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
                            "secret `{name}` is withheld: it has not been confirmed for `secrets.ttl` and `secrets.stale`"
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
        if let Some((take, _)) = self.take.take() {
            take.reply
                .send(missing.or_ok(()))
                .ignored("who asked has gone, and the places with it");
        }
    }
}

/// Only spreads calls: hosts that start together are not to call together.
fn seed() -> u64 {
    let now = clock::since_epoch().as_nanos();
    u64::try_from(now % u128::from(u64::MAX)).unwrap_or_default() ^ u64::from(std::process::id())
}
