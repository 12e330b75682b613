//! A secret that is kept: its places, what was heard of it, and what went wrong.

use crate::aws::Failure;
use crate::cached::CachedSecret;
use crate::reference::Source;
use crate::schedule::Freshness;
use crate::settings::Settings;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// A secret that is kept.
pub(super) struct Known {
    pub(super) source: Source,
    pub(super) settings: Arc<Settings>,
    /// Those of an order that waits for a value where there is none: it is asked for in its way, which may be what was wrong.
    pub(super) proposed: Option<Arc<Settings>>,
    pub(super) places: Vec<Weak<CachedSecret>>,
    pub(super) heard: Option<Heard>,
    /// In a row.
    pub(super) failures: u32,
    /// The last of them.
    pub(super) failure: Option<Failure>,
    /// When it is asked for next; `None` while it is asked for.
    pub(super) due: Option<Instant>,
}

/// The last that was heard of it.
pub(super) struct Heard {
    pub(super) text: Arc<str>,
    pub(super) at: Instant,
    /// Freshness that the places were told of it.
    pub(super) worth: Freshness,
}

impl Known {
    fn places(&self) -> impl Iterator<Item = Arc<CachedSecret>> {
        self.places.iter().filter_map(Weak::upgrade)
    }

    /// Whether a new value does for every place that has one.
    pub(super) fn fits(&self, text: &Arc<str>) -> Result<(), Failure> {
        let mut places = self.places().filter(|kept| kept.digest().is_some());
        places.try_for_each(|kept| part(&kept, text).map(|_| ()))
    }

    /// Why what was heard does not do for a place.
    pub(super) fn objection(&self, kept: &CachedSecret) -> Option<Failure> {
        part(kept, &self.heard.as_ref()?.text).err()
    }

    /// Gives a place what is known, if that is worth anything and does.
    pub(super) fn fill(&self, kept: &CachedSecret) {
        let heard = self
            .heard
            .as_ref()
            .filter(|h| h.worth != Freshness::Nothing);
        if let Some(Ok(text)) = heard.map(|heard| part(kept, &heard.text)) {
            kept.fill(text);
        }
    }

    /// Somebody waits for it: whatever went wrong before, it is asked for now, unless it is already.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.failure = None;
        self.due = self.due.map(|_| now);
    }

    /// Whether an order waits for it to be asked for in another way than by these settings.
    pub(super) fn is_to_be_asked_for_otherwise(&self, settings: &Arc<Settings>) -> bool {
        let proposed = self.proposed.as_ref();
        proposed.is_some_and(|proposed| proposed != settings)
    }

    pub(super) fn is_asked_for(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| due <= now)
    }

    pub(super) fn fill_all(&self) {
        self.places().for_each(|kept| self.fill(&kept));
    }

    pub(super) fn withhold_all(&self) {
        self.places().for_each(|kept| kept.withhold());
    }

    pub(super) fn trouble(&self, failure: &Failure, age: Duration) -> String {
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
