//! WireMock's admin API below `/__admin`: which routes there are. Each endpoint is a file of its own.
//!
//! Endpoints may block (they read files), so they run beside the shards that serve, on a thread of the runtime's blocking pool.

pub(crate) mod cors;
mod create_mapping;
mod docs;
mod edit_mapping;
pub(crate) mod error;
mod files;
mod get_mapping;
pub(crate) mod guard;
mod health;
mod import_mappings;
mod legacy_edit;
mod list_mappings;
mod mapping_metadata;
mod metrics;
mod near_misses;
mod query;
pub(crate) mod recordings;
mod remove_all_mappings;
mod remove_mapping;
mod remove_mappings;
mod request_metadata;
mod requests;
mod requests_matching;
mod reset;
mod save_mappings;
mod scenarios;
pub(crate) mod settings;
mod shutdown;
mod unmatched_mappings;
mod version;

use crate::builtins::Endpoints;
use crate::mappings::recording::Recorder;
use crate::mappings::source;
use crate::mappings::stubs::Stubs;
use crate::records::journal::Journal;
use crate::records::metrics::Metrics;
use encoding_rs::Encoding;
use error::AdminError;
use plimsoll_http::CountersFile;
use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::reader::problem::StubProblem;
use plimsoll_wiremock::reader::surroundings::Surroundings;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use plimsoll_wiremock::stub::{Stub, StubMapping, read_mapping};
use plimsoll_wiremock::stub_id::StubId;
use serde_json::Value;
use settings::Settings;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::time::Instant;

/// Where the admin API begins.
const PREFIX: &str = "/__admin";

/// State that the endpoints work on.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) stubs: Arc<Stubs>,
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) counters: CountersFile,
    pub(crate) root: Option<PathBuf>,
    /// Inputs of reading mappings, but for the files of the root.
    pub(crate) around: Surroundings,
    /// Where everything goes that no other stub answers.
    pub(crate) proxy_all: Option<String>,
    /// A blocking lock: calls may wait for each other, requests do not ask for it.
    pub(crate) settings: Mutex<Settings>,
    /// A blocking lock: recordings begin and end one after the other.
    pub(crate) recorder: Mutex<Recorder>,
    /// Decides the ids of recorded mappings.
    pub(crate) seed: u64,
    /// Ends the mock.
    pub(crate) ending: watch::Sender<bool>,
    pub(crate) started: Instant,
}

/// One call of the admin API.
#[derive(Debug)]
pub(crate) struct AdminRequest {
    pub(crate) method: String,
    /// The whole path, with its prefix.
    pub(crate) path: String,
    /// Without the `?`.
    pub(crate) query: String,
    /// The first `Accept`, empty if there is none.
    pub(crate) accept: Vec<u8>,
    /// Encoding of its body, if it is text; UTF-8 where none is stated.
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) body: Vec<u8>,
}

/// An endpoint: what it does with a call. The text is what the route's braces stand for, empty if it has none.
type Endpoint = fn(&Admin, &AdminRequest, &str) -> Result<Answer, AdminError>;

/// Every route: method, path below the prefix (`{path}` takes several segments, any other braces one), endpoint.
const ROUTES: &[(&str, &str, Endpoint)] = &[
    ("GET", "/", list_mappings::answer),
    ("GET", "/mappings", list_mappings::answer),
    ("POST", "/mappings/edit", legacy_edit::answer),
    ("POST", "/mappings", create_mapping::answer),
    ("DELETE", "/mappings", remove_all_mappings::answer),
    ("POST", "/mappings/reset", reset::answer),
    ("POST", "/mappings/import", import_mappings::answer),
    ("POST", "/mappings/remove", remove_mappings::answer),
    ("POST", "/mappings/save", save_mappings::answer),
    ("POST", "/mappings/find-by-metadata", mapping_metadata::find),
    (
        "POST",
        "/mappings/remove-by-metadata",
        mapping_metadata::remove,
    ),
    ("GET", "/mappings/unmatched", unmatched_mappings::list),
    ("DELETE", "/mappings/unmatched", unmatched_mappings::remove),
    ("GET", "/mappings/{id}", get_mapping::answer),
    ("PUT", "/mappings/{id}", edit_mapping::answer),
    ("DELETE", "/mappings/{id}", remove_mapping::answer),
    ("POST", "/reset", reset::answer),
    ("GET", "/requests", requests::list),
    ("DELETE", "/requests", requests::remove_all),
    ("POST", "/requests/count", requests_matching::count),
    ("POST", "/requests/find", requests_matching::find),
    ("POST", "/requests/remove", requests_matching::remove),
    (
        "POST",
        "/requests/remove-by-metadata",
        request_metadata::remove,
    ),
    ("GET", "/requests/unmatched", requests::unmatched),
    (
        "GET",
        "/requests/unmatched/near-misses",
        near_misses::of_unmatched,
    ),
    ("GET", "/requests/{id}", requests::get),
    ("DELETE", "/requests/{id}", requests::remove),
    ("POST", "/recordings/start", recordings::start),
    ("POST", "/recordings/stop", recordings::stop),
    ("POST", "/recordings/snapshot", recordings::snapshot),
    ("GET", "/recordings/status", recordings::status),
    ("GET", "/scenarios", scenarios::list),
    ("POST", "/scenarios/reset", scenarios::reset),
    ("PUT", "/scenarios/{name}/state", scenarios::set),
    ("POST", "/near-misses/request", near_misses::of_request),
    (
        "POST",
        "/near-misses/request-pattern",
        near_misses::of_pattern,
    ),
    ("GET", "/settings", settings::get),
    ("POST", "/settings", settings::set),
    ("PUT", "/settings", settings::set),
    ("PATCH", "/settings/extended", settings::extend),
    ("GET", "/files", files::list),
    ("GET", "/files/{path}", files::get),
    ("PUT", "/files/{path}", files::put),
    ("DELETE", "/files/{path}", files::remove),
    ("GET", "/metrics", metrics::answer),
    ("GET", "/health", health::answer),
    ("GET", "/version", version::answer),
    ("GET", "/docs", docs::answer),
    ("POST", "/shutdown", shutdown::answer),
];

/// The rest of WireMock 3.13's routes, by how their paths begin.
const LATER: &[&str] = &["/certs", "/docs/", "/recorder"];

/// Every route of this version: method and path below the prefix.
#[cfg(test)]
pub(crate) fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|(method, path, _)| (*method, *path))
}

/// Whether a path belongs to the admin API.
pub(crate) fn is_admin(path: &str) -> bool {
    path.strip_prefix(PREFIX)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Admin {
    /// Answers one call.
    pub(crate) fn answer(&self, request: &AdminRequest) -> Answer {
        self.route(request).unwrap_or_else(|error| error.answer())
    }

    fn route(&self, request: &AdminRequest) -> Result<Answer, AdminError> {
        let path = request.path.strip_prefix(PREFIX).unwrap_or_default();
        if path.is_empty() && request.method == "GET" {
            let there = format!("{PREFIX}/");
            let answer = AnswerBuilder::new(302, None).field("Location", &there);
            return Ok(answer.body(b""));
        }
        for (method, pattern, endpoint) in ROUTES {
            if *method == request.method
                && let Some(id) = capture(pattern, path)
            {
                return endpoint(self, request, id);
            }
        }
        if LATER.iter().any(|later| begins(path, later)) {
            return Err(AdminError::not_available(&format!(
                "{} {PREFIX}{path}",
                request.method
            )));
        }
        Err(AdminError::not_found(&format!(
            "No admin route for {} {PREFIX}{path}",
            request.method
        )))
    }

    /// The body files of the root directory.
    fn body_files(&self) -> BodyFiles {
        self.root
            .as_deref()
            .map_or_else(BodyFiles::default, BodyFiles::below)
    }

    /// Inputs of reading mappings.
    fn surroundings(&self) -> Surroundings {
        Surroundings {
            files: self.body_files(),
            ..self.around.clone()
        }
    }

    /// The one mapping of a request's body.
    fn mapping_of(&self, request: &AdminRequest) -> Result<StubMapping, AdminError> {
        let refused = |problems: Vec<StubProblem>| AdminError::refused(&problems);
        let mapping = read_mapping(&request.text(), &self.surroundings()).map_err(refused)?;
        if mapping.is_persistent() && self.root.is_none() {
            let message =
                "a mapping can be kept only below a root directory: start with --root-dir";
            return Err(refused(vec![StubProblem::invalid("/persistent", message)]));
        }
        Ok(mapping)
    }

    /// Writes a stub to its file.
    fn save(&self, stub: &Stub) -> Result<(), AdminError> {
        let failed = |error: String| AdminError::internal(&error);
        let root = self.root.as_deref();
        let root =
            root.ok_or_else(|| failed("there is no root directory to save to".to_owned()))?;
        source::save(root, stub).map_err(|error| failed(error.to_string()))
    }

    /// Writes a stub to its file if it asks for that.
    fn save_if_persistent(&self, stub: &Stub) -> Result<(), AdminError> {
        if is_persistent(stub) {
            self.save(stub)?;
        }
        Ok(())
    }

    /// Removes stubs: the files of those that are kept first, so that none is left which a reset would bring back.
    fn remove(&self, stubs: &[Arc<Stub>]) -> Result<(), AdminError> {
        let mut kept = stubs.iter().filter(|stub| is_persistent(stub));
        let forgotten = kept.try_for_each(|stub| source::forget(stub));
        forgotten.map_err(|error| AdminError::internal(&error.to_string()))?;
        let ids: HashSet<StubId> = stubs.iter().map(|stub| stub.id).collect();
        self.stubs.retain(|stub| !ids.contains(&stub.id));
        Ok(())
    }

    /// Reads the stubs that answer with this body file again.
    fn read_again(&self, file: &str) -> Result<(), AdminError> {
        let own = |stub: &&Arc<Stub>| {
            let name = stub.document.pointer("/response/bodyFileName");
            name.and_then(Value::as_str)
                .is_some_and(|name| name.trim_start_matches('/') == file)
        };
        let set = self.stubs.current();
        for stub in set.stubs().iter().filter(own) {
            let mapping = read_mapping(&stub.document.to_string(), &self.surroundings())
                .map_err(|problems| AdminError::refused(&problems))?;
            self.stubs.replace(stub.id, mapping)?;
        }
        Ok(())
    }
}

impl AdminRequest {
    /// The body as text.
    fn text(&self) -> Cow<'_, str> {
        match self.encoding {
            Some(encoding) => encoding.decode(&self.body).0,
            None => String::from_utf8_lossy(&self.body),
        }
    }
}

/// Whether a stub asks to be kept in a file.
fn is_persistent(stub: &Stub) -> bool {
    stub.document.get("persistent") == Some(&Value::Bool(true))
}

/// The id that a path holds.
fn id_of(text: &str) -> Result<StubId, AdminError> {
    StubId::parse(text)
        .ok_or_else(|| AdminError::bad_parameter(&format!("{text} is not a valid UUID")))
}

/// Whether `path` is `start` or lies below it.
fn begins(path: &str, start: &str) -> bool {
    path.strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-']))
}

/// Matches a path with a route's pattern; what its braces stand for, or the empty text.
fn capture<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return (pattern == path).then_some("");
    };
    let (name, after) = rest.split_once('}')?;
    let value = path.strip_prefix(before)?.strip_suffix(after)?;
    let fits = !value.is_empty() && (name == "path" || !value.contains('/'));
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Builtins;
    use crate::records::journal::JournalLimits;

    #[test]
    fn paths_of_the_admin_api() {
        for (path, expected) in [
            ("/__admin", true),
            ("/__admin/x", true),
            ("/__administration", false),
            ("/x/__admin", false),
        ] {
            assert_eq!(is_admin(path), expected, "{path}");
        }
    }

    #[test]
    fn calls_that_fail_say_why() {
        let admin = Admin {
            stubs: Arc::new(Stubs::new(0, Vec::new()).unwrap()),
            endpoints: Arc::new(Endpoints::new(Builtins::default(), false)),
            journal: Arc::new(Journal::new(JournalLimits::default(), 1, 0)),
            metrics: Arc::new(Metrics::new(1)),
            counters: CountersFile::create(None, 1).unwrap(),
            root: None,
            around: Surroundings::default(),
            proxy_all: None,
            settings: Mutex::default(),
            recorder: Mutex::default(),
            seed: 0,
            ending: watch::Sender::new(false),
            started: Instant::now(),
        };
        let call = |method: &str, path: &str, body: &str, expected: &str| {
            let request = AdminRequest {
                method: method.to_owned(),
                path: format!("{PREFIX}{path}"),
                query: String::new(),
                accept: Vec::new(),
                encoding: None,
                body: body.as_bytes().to_vec(),
            };
            let error = admin.route(&request).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{error:?}");
        };
        let check = |method, path, expected| call(method, path, "", expected);
        check("GET", "/recorder", "not available in this version");
        check("POST", "/recordings/stop", "Not currently recording.");
        check("GET", "/nothing", "No admin route");
        check("GET", "/mappings/x", "not a valid UUID");
        let missing = "/mappings/5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";
        check("GET", missing, "404");
        check("POST", "/mappings", "there is nothing");
        let (list, saved) = (r#"{"mappings": [{}, {}]}"#, r#"{"persistent": true}"#);
        call("POST", "/mappings", "{", "not JSON");
        call("POST", "/mappings", list, "unknown property");
        call("POST", "/mappings", saved, "start with --root-dir");
    }
}
