//! Recordings: stub mappings made of what the journal has of requests and their answers, in the form in which WireMock makes them.
//!
//! The specification is read by `recording/spec.rs`; one mapping is made by `recording/draft.rs`. Keeping and writing mappings is
//! the admin API's.

pub(crate) mod at_once;
mod draft;
mod names;
pub(crate) mod spec;

use crate::records::journal::{Entry, Snapshot};
use draft::Draft;
use plimsoll_wiremock::stub_id::StubId;
use serde_json::Value;
use spec::{Repeats, Spec};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Whether a mock records.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) state: State,
    /// How many mappings it has made: numbers their ids.
    made: u64,
}

/// State of a recorder.
#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    NeverStarted,
    Recording(Box<Recording>),
    Stopped,
}

/// A recording that has begun.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) spec: Spec,
    /// The stub that sends requests to the server that is recorded, if there is one.
    pub(crate) proxy: Option<StubId>,
    since: Instant,
    /// Entries that the journal had dropped and still had then.
    dropped: u64,
    before: u64,
}

/// Results of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recordings {
    /// Stub mappings.
    pub mappings: u64,
    /// Requests that are missing: the journal had no room for them, or their answers were still on their way from another server.
    pub missing: u64,
}

/// A mapping that was recorded.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) id: StubId,
    pub(crate) document: Value,
    /// The file that its body goes to.
    pub(crate) file: Option<(String, Vec<u8>)>,
}

impl State {
    /// WireMock's word for it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::NeverStarted => "NeverStarted",
            Self::Recording(_) => "Recording",
            Self::Stopped => "Stopped",
        }
    }
}

impl Recording {
    pub(crate) fn begun(
        spec: Spec,
        proxy: Option<StubId>,
        now: Instant,
        journal: &Snapshot,
    ) -> Self {
        Self {
            spec,
            proxy,
            since: now,
            dropped: journal.dropped,
            before: journal.entries.len() as u64,
        }
    }

    /// The requests since it began, oldest first, and how many are missing: those that the journal has dropped, and those whose answers are still on
    /// their way from another server.
    pub(crate) fn since(&self, mut journal: Snapshot) -> (Vec<Arc<Entry>>, u64) {
        let all = journal.entries.len() as u64;
        journal.entries.retain(|entry| entry.received >= self.since);
        let still_before = all - journal.entries.len() as u64;
        // The oldest go first.
        let dropped_before = self.before.saturating_sub(still_before);
        let dropped = journal.dropped.saturating_sub(self.dropped);
        let fetched = journal.fetched.iter();
        let fetched = fetched.filter(|received| **received >= self.since).count() as u64;
        let missing = dropped.saturating_sub(dropped_before) + fetched;
        (journal.entries, missing)
    }
}

impl Recorder {
    /// The mappings of these requests, in their order. `seed` decides the ids, none of which `is_taken`; `id_of` knows those of entries.
    pub(crate) fn mappings(
        &mut self,
        entries: &[Arc<Entry>],
        spec: &Spec,
        seed: u64,
        is_taken: impl Fn(StubId) -> bool,
        id_of: impl Fn(&Entry) -> StubId,
    ) -> Vec<Recorded> {
        let (mut drafts, mut ids): (Vec<Option<Draft>>, Vec<StubId>) = Default::default();
        let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
        for entry in entries {
            if !spec.filters.admit(entry, || id_of(entry)) {
                continue;
            }
            ids.push(self.next_id(seed, &is_taken));
            let draft = Draft::of(&entry.request(), entry.shown_answer(), spec);
            let same = seen.entry(draft.request.to_string()).or_default();
            if spec.repeats == Repeats::Skip
                && let Some(earlier) = same.pop()
            {
                drafts[earlier] = None;
            }
            same.push(drafts.len());
            drafts.push(Some(draft));
        }
        put_in_scenarios(&mut drafts, seen);
        let drafts = drafts.into_iter().zip(ids);
        let made = drafts.filter_map(|(draft, id)| {
            let name_file = |draft: &Draft, ending: &str| draft.file_name(id, ending);
            Some(draft?.finish(id, spec, name_file))
        });
        made.collect()
    }

    /// The next id that nobody has: with the same seed a mock that was started again counts from the beginning.
    fn next_id(&mut self, seed: u64, is_taken: impl Fn(StubId) -> bool) -> StubId {
        /// Keeps these ids apart from those of other stubs under the same seed.
        const DOMAIN: u64 = 0x7265_636f_7264_6564;
        loop {
            let id = StubId::minted(seed ^ DOMAIN, self.made);
            self.made += 1;
            if !is_taken(id) {
                return id;
            }
        }
    }
}

/// Requests that came several times are answered in turn.
fn put_in_scenarios(drafts: &mut [Option<Draft>], seen: HashMap<String, Vec<usize>>) {
    let repeated = seen.into_values().filter(|places| places.len() > 1);
    let mut repeated: Vec<Vec<usize>> = repeated.collect();
    // As WireMock numbers them: what came last is the first.
    repeated.sort_by_key(|places| Reverse(places.last().copied()));
    for (index, places) in repeated.iter().enumerate() {
        let path = drafts[places[0]].as_ref().map_or("", |draft| &draft.path);
        let path = path.trim_matches('/').replace('/', "-");
        let name = format!("scenario-{}-{path}", index + 1);
        for (step, place) in places.iter().enumerate() {
            let is_last = step + 1 == places.len();
            if let Some(draft) = &mut drafts[*place] {
                draft.put_in_scenario(&name, step, is_last);
            }
        }
    }
}
