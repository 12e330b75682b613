//! WireMock's admin API below `/__admin`: which routes there are. Each endpoint is a file of its own.
//!
//! Endpoints may block (they read files), so they run beside the shards that serve, on a thread of the runtime's blocking pool.

mod create_mapping;
mod edit_mapping;
pub(crate) mod error;
mod get_mapping;
pub(crate) mod guard;
mod health;
mod list_mappings;
mod remove_all_mappings;
mod remove_mapping;
mod reset;
mod version;

use crate::answer::Answer;
use crate::body_files::BodyFiles;
use crate::stub::id::StubId;
use crate::stub::problem::StubProblem;
use crate::stub::{StubMapping, read_mapping};
use crate::stubs::Stubs;
use error::AdminError;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

/// Where the admin API begins.
const PREFIX: &str = "/__admin";

/// What the endpoints work on.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) stubs: Arc<Stubs>,
    pub(crate) root: Option<PathBuf>,
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
    pub(crate) body: Vec<u8>,
}

/// An endpoint: what it does with a call. The text is what the route's `{id}` stands for, empty if it has none.
type Endpoint = fn(&Admin, &AdminRequest, &str) -> Result<Answer, AdminError>;

/// Every route: method, path below the prefix (`{id}` is one segment), endpoint.
const ROUTES: &[(&str, &str, Endpoint)] = &[
    ("GET", "/", list_mappings::answer),
    ("GET", "/mappings", list_mappings::answer),
    ("POST", "/mappings", create_mapping::answer),
    ("DELETE", "/mappings", remove_all_mappings::answer),
    ("POST", "/mappings/reset", reset::answer),
    ("POST", "/reset", reset::answer),
    ("GET", "/mappings/{id}", get_mapping::answer),
    ("PUT", "/mappings/{id}", edit_mapping::answer),
    ("DELETE", "/mappings/{id}", remove_mapping::answer),
    ("GET", "/health", health::answer),
    ("GET", "/version", version::answer),
];

/// The rest of WireMock 3.13's routes, by how their paths begin.
const LATER: &[&str] = &[
    "/certs",
    "/docs",
    "/files",
    "/mappings/edit",
    "/mappings/find-by-metadata",
    "/mappings/import",
    "/mappings/remove",
    "/mappings/save",
    "/mappings/unmatched",
    "/near-misses",
    "/recorder",
    "/recordings",
    "/requests",
    "/scenarios",
    "/settings",
    "/shutdown",
];

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
        let path = match request.path.strip_prefix(PREFIX).unwrap_or_default() {
            "" => "/",
            path => path,
        };
        if LATER.iter().any(|later| begins(path, later)) {
            return Err(AdminError::not_available(&format!(
                "{} {PREFIX}{path}",
                request.method
            )));
        }
        for (method, pattern, endpoint) in ROUTES {
            if *method == request.method
                && let Some(id) = capture(pattern, path)
            {
                return endpoint(self, request, id);
            }
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

    /// The one mapping of a request's body.
    fn mapping_of(&self, request: &AdminRequest) -> Result<StubMapping, AdminError> {
        let text = String::from_utf8_lossy(&request.body);
        let refused = |problems: Vec<StubProblem>| AdminError::refused(&problems);
        let mapping = read_mapping(&text, &self.body_files()).map_err(refused)?;
        if mapping.is_persistent() {
            let problem = StubProblem::not_available("/persistent", "saving a mapping");
            return Err(refused(vec![problem]));
        }
        Ok(mapping)
    }
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

/// Matches a path with a route's pattern; the value of `{id}`, or the empty text.
fn capture<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    let Some(before) = pattern.strip_suffix("{id}") else {
        return (pattern == path).then_some("");
    };
    path.strip_prefix(before)
        .filter(|id| !id.is_empty() && !id.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            root: None,
            started: Instant::now(),
        };
        let call = |method: &str, path: &str, body: &str, expected: &str| {
            let request = AdminRequest {
                method: method.to_owned(),
                path: format!("{PREFIX}{path}"),
                query: String::new(),
                body: body.as_bytes().to_vec(),
            };
            let error = admin.route(&request).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{error:?}");
        };
        let check = |method, path, expected| call(method, path, "", expected);
        check("GET", "/requests", "not available in this version");
        check(
            "POST",
            "/mappings/remove-by-metadata",
            "not available in this version",
        );
        check("GET", "/nothing", "No admin route");
        check("GET", "/mappings/x", "not a valid UUID");
        let missing = "/mappings/5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";
        check("GET", missing, "404");
        check("POST", "/mappings", "not JSON");
        let (list, saved) = (r#"{"mappings": [{}, {}]}"#, r#"{"persistent": true}"#);
        call("POST", "/mappings", list, "unknown property");
        call(
            "POST",
            "/mappings",
            saved,
            "saving a mapping is not available",
        );
    }
}
