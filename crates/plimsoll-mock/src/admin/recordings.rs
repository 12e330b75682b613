//! `POST /recordings/start`, `/stop` and `/snapshot`, `GET /recordings/status`: stub mappings made of what other servers answered.

use super::error::AdminError;
use super::requests::with_dropped;
use super::{Admin, AdminRequest};
use crate::mappings::recording::spec::{Output, Spec};
use crate::mappings::recording::{Recorded, Recorder, Recording, Recordings, State};
use crate::mappings::source;
use crate::mappings::stubs::{Draft, NotPlaced};
use crate::records::journal::{Entry, Snapshot};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_wiremock::reader::Problems;
use plimsoll_wiremock::reader::problem::StubProblem;
use plimsoll_wiremock::reader::read_value;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::{Stub, StubMapping, read_mapping};
use plimsoll_wiremock::stub_id::StubId;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::time::Instant;

pub(super) fn start(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    begin(admin, read_spec(&request.text())?)?;
    Ok(Answer::json(200, &json!({})))
}

pub(super) fn stop(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let (spec, recorded, missing) = end(admin)?.ok_or_else(AdminError::not_recording)?;
    Ok(shown(&spec, recorded, missing))
}

pub(super) fn snapshot(
    admin: &Admin,
    request: &AdminRequest,
    _: &str,
) -> Result<Answer, AdminError> {
    let text = request.text();
    let spec = match text.trim() {
        "" => Spec::default(),
        text => read_spec(text)?,
    };
    check(admin, &spec)?;
    let Snapshot {
        entries,
        dropped,
        fetched,
    } = admin.journal.snapshot();
    let mut recorder = lock(admin);
    let recorded = take(admin, &mut recorder, &entries, &spec)?;
    let missing = dropped + fetched.len() as u64;
    Ok(shown(&spec, recorded, missing))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn status(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let name = lock(admin).state.name();
    Ok(Answer::json(200, &json!({"status": name})))
}

/// Begins a recording, unless one is under way.
pub(crate) fn begin(admin: &Admin, spec: Spec) -> Result<(), AdminError> {
    let mut recorder = lock(admin);
    if matches!(recorder.state, State::Recording(_)) {
        return Ok(());
    }
    check(admin, &spec)?;
    // Before the first request can be sent on.
    let (journal, now) = (admin.journal.snapshot(), Instant::now());
    let proxy = match &spec.target {
        Some(target) => Some(proxy_to(admin, target)?),
        None => None,
    };
    let recording = Recording::begun(spec, proxy, now, &journal);
    recorder.state = State::Recording(Box::new(recording));
    Ok(())
}

/// Ends the recording that is under way, if one is: its mappings, oldest first, and how many requests are missing. If they cannot be kept, it
/// goes on.
fn end(admin: &Admin) -> Result<Option<(Spec, Vec<Recorded>, u64)>, AdminError> {
    let mut recorder = lock(admin);
    let state = std::mem::replace(&mut recorder.state, State::Stopped);
    let State::Recording(recording) = state else {
        recorder.state = state;
        return Ok(None);
    };
    let proxy = recording.proxy.and_then(|proxy| admin.stubs.remove(proxy));
    let (entries, missing) = recording.since(admin.journal.snapshot());
    match take(admin, &mut recorder, &entries, &recording.spec) {
        Ok(recorded) => Ok(Some((recording.spec, recorded, missing))),
        Err(error) => {
            recorder.state = State::Recording(recording);
            if let Some(proxy) = proxy {
                admin.stubs.change(|draft| draft.put_back(proxy))?;
            }
            Err(error)
        }
    }
}

/// Ends the recording of a mock that ends.
pub(crate) fn finish(admin: &Admin) -> Result<Option<Recordings>, AdminError> {
    let ended = end(admin)?;
    Ok(ended.map(|(_, recorded, missing)| Recordings {
        mappings: recorded.len() as u64,
        missing,
    }))
}

/// Makes mappings of these requests, and keeps them: all or none.
fn take(
    admin: &Admin,
    recorder: &mut Recorder,
    entries: &[Arc<Entry>],
    spec: &Spec,
) -> Result<Vec<Recorded>, AdminError> {
    let taken = taken_ids(admin)?;
    let id_of = |entry: &Entry| admin.journal.id_of_entry(entry);
    let recorded = recorder.mappings(entries, spec, admin.seed, |id| taken.contains(&id), id_of);
    let mut kept = Kept::default();
    kept.keep(admin, &recorded)
        .inspect_err(|_| kept.take_back(admin))?;
    Ok(recorded)
}

/// The ids of stubs, and those in the names of files: their stubs may be gone.
fn taken_ids(admin: &Admin) -> Result<HashSet<StubId>, AdminError> {
    let set = admin.stubs.current();
    let mut taken: HashSet<StubId> = set.stubs().iter().map(|stub| stub.id).collect();
    let Some(root) = &admin.root else {
        return Ok(taken);
    };
    let failed = |error: String| AdminError::internal(&error);
    let mut names = admin.body_files().list().map_err(failed)?;
    names.extend(source::saved_names(root).map_err(|error| failed(error.to_string()))?);
    taken.extend(names.iter().flat_map(|name| StubId::all_in(name)));
    Ok(taken)
}

/// Parts of a recording that were kept so far.
#[derive(Debug, Default)]
struct Kept<'a> {
    files: Vec<&'a str>,
    stubs: Vec<Arc<Stub>>,
}

impl<'a> Kept<'a> {
    /// Writes bodies to their files, adds the mappings, and writes those that are to be persistent.
    fn keep(&mut self, admin: &Admin, recorded: &'a [Recorded]) -> Result<(), AdminError> {
        let files = admin.body_files();
        for (name, bytes) in recorded.iter().filter_map(|one| one.file.as_ref()) {
            files
                .create(name, bytes)
                .map_err(|error| AdminError::internal(&error))?;
            self.files.push(name);
        }
        let around = admin.surroundings();
        let mut mappings: Vec<StubMapping> = Vec::with_capacity(recorded.len());
        for one in recorded {
            let mapping = read_mapping(&one.document.to_string(), &around);
            mappings.push(mapping.map_err(|problems| AdminError::refused(&problems))?);
        }
        let add = |draft: &mut Draft<'_>| -> Result<_, NotPlaced> {
            let added = mappings.into_iter().map(|mapping| draft.add(mapping));
            added.collect::<Result<Vec<_>, _>>()
        };
        self.stubs = admin.stubs.change(add)?;
        let mut stubs = self.stubs.iter();
        stubs.try_for_each(|stub| admin.save_if_persistent(stub))
    }

    /// Takes it back. What cannot be removed stays: the error that led here is the one to tell.
    fn take_back(&self, admin: &Admin) {
        let ids: HashSet<StubId> = self.stubs.iter().map(|stub| stub.id).collect();
        if !ids.is_empty() {
            admin.stubs.retain(|stub| !ids.contains(&stub.id));
        }
        for stub in &self.stubs {
            source::forget(stub).ignored("the recording has failed, and says so");
        }
        let files = admin.body_files();
        for name in &self.files {
            files
                .remove(name)
                .ignored("the recording has failed, and says so");
        }
    }
}

/// Checks the needs of a recording: the journal, and a directory if it writes files.
fn check(admin: &Admin, spec: &Spec) -> Result<(), AdminError> {
    let refused = |pointer: &str, message: &str| {
        Err(AdminError::refused(&[StubProblem::invalid(
            pointer, message,
        )]))
    };
    if !admin.journal.is_on() {
        return refused("", "recordings are made of the journal, which is off");
    }
    if spec.needs_files() && admin.root.is_none() {
        let message = "a recording is kept below a root directory: start with --root-dir, or write \"persist\": false and no \"extractBodyCriteria\"";
        return refused("/persist", message);
    }
    Ok(())
}

/// Adds the stub that sends everything to the server that is recorded.
fn proxy_to(admin: &Admin, target: &str) -> Result<StubId, AdminError> {
    let document = json!({"request": {"method": "ANY"}, "response": {"proxyBaseUrl": target}});
    let mapping = read_mapping(&document.to_string(), &admin.surroundings());
    let mapping = mapping.map_err(|problems: Problems| {
        let at_target = |problem: StubProblem| StubProblem {
            pointer: "/targetBaseUrl".to_owned(),
            ..problem
        };
        let problems: Vec<StubProblem> = problems.into_iter().map(at_target).collect();
        AdminError::refused(&problems)
    })?;
    Ok(admin.stubs.add(mapping)?.id)
}

fn read_spec(text: &str) -> Result<Spec, AdminError> {
    read_value(text, Spec::read).map_err(|problems| AdminError::refused(&problems))
}

/// Newest first, as WireMock has them.
fn shown(spec: &Spec, recorded: Vec<Recorded>, missing: u64) -> Answer {
    let newest_first = recorded.into_iter().rev();
    let list = match spec.output {
        Output::Full => {
            let documents = newest_first.map(|one| {
                let mut document = one.document;
                document["uuid"] = one.id.to_string().into();
                document
            });
            json!({"mappings": documents.collect::<Vec<Value>>()})
        }
        Output::Ids => {
            let ids = newest_first.map(|one| one.id.to_string());
            json!({"ids": ids.collect::<Vec<String>>()})
        }
    };
    with_dropped(&list, missing)
}

/// A call that panicked has left the recorder as it was, or stopped.
fn lock(admin: &Admin) -> MutexGuard<'_, Recorder> {
    admin
        .recorder
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}
