//! Endpoints that a mock has without any stub: those of go-bench-suite, for measuring gateways. Stubs win over them, and where stubs are in use,
//! a request that none matches is answered with 404 as in WireMock, unless the endpoints were asked for.
//!
//! Each endpoint is a file; this one says which paths they have. Delays in headers are those of `requested_delay`.

mod delay;
mod echo;
mod json_invalid;
mod json_valid;
mod requested_delay;
mod resource;
mod resource_list;
mod size;
mod xml;

use crate::config::Builtins;
use plimsoll_base::random::Draw;
use plimsoll_wiremock::request::Request;
use plimsoll_wiremock::response::answer::Answer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the endpoints answer.
#[derive(Debug)]
pub(crate) struct Endpoints {
    /// Changes at most once, when the first stub comes over the admin API; asked of requests that no stub matches.
    answer: AtomicBool,
    builtins: Builtins,
}

impl Endpoints {
    /// The endpoints of a mock that begins with a root directory, or without one.
    pub(crate) fn new(builtins: Builtins, has_root: bool) -> Self {
        let answer = match builtins {
            Builtins::WithoutStubs => !has_root,
            Builtins::On => true,
            Builtins::Off => false,
        };
        Self {
            answer: AtomicBool::new(answer),
            builtins,
        }
    }

    /// Stubs are in use from now on.
    pub(crate) fn yield_to_stubs(&self) {
        if self.builtins == Builtins::WithoutStubs {
            self.answer.store(false, Ordering::Relaxed);
        }
    }

    /// The reply of the endpoint with this request's path, if there is one that answers. `draw` decides whether a delay applies.
    pub(crate) fn reply(
        &self,
        request: &Request<'_>,
        draw: impl FnOnce() -> Draw,
    ) -> Option<Reply> {
        let answer = self.answer.load(Ordering::Relaxed);
        answer.then(|| reply(request, draw)).flatten()
    }
}

/// Inputs of an endpoint besides the request.
#[derive(Debug)]
pub(crate) struct Call<'a, 'r> {
    pub(crate) request: &'a Request<'r>,
    /// The path behind the endpoint's own part, empty if there is nothing.
    pub(crate) rest: &'a str,
}

/// An endpoint's answer and how long it is held back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) delay: Duration,
}

type Endpoint = fn(&Call<'_, '_>) -> Reply;

/// The endpoints with one path.
const PATHS: &[(&str, Endpoint)] = &[
    ("/json/valid", json_valid::reply),
    ("/json/invalid", json_invalid::reply),
    ("/xml", xml::reply),
    ("/echo", echo::reply),
    ("/resource", resource_list::reply),
];

/// The endpoints whose paths go on with a value.
const PREFIXES: &[(&str, Endpoint)] = &[
    ("/delay/", delay::reply),
    ("/size/", size::reply),
    ("/resource/", resource::reply),
];

/// The reply of the endpoint with this request's path, if there is one.
fn reply(request: &Request<'_>, draw: impl FnOnce() -> Draw) -> Option<Reply> {
    let (endpoint, rest) = find(request.path)?;
    let call = Call { request, rest };
    let mut reply = endpoint(&call);
    reply.delay += requested_delay::of(request.fields, draw);
    Some(reply)
}

/// Whether the endpoint of this path wants to see the body.
pub(crate) fn wants_body(path: &str) -> bool {
    path == "/echo"
}

fn find(path: &str) -> Option<(Endpoint, &str)> {
    let exact = PATHS.iter().find(|(own, _)| *own == path);
    if let Some((_, endpoint)) = exact {
        return Some((*endpoint, ""));
    }
    PREFIXES
        .iter()
        .find_map(|(own, endpoint)| Some((*endpoint, path.strip_prefix(own)?)))
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            delay: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;
    use plimsoll_http::Fields;
    use plimsoll_wiremock::response::answer::{Extent, Form, Persistence};

    /// The reply to a GET, as text with plain line ends.
    pub(super) fn get(url: &str) -> (String, Duration) {
        let fields = Fields::default();
        let request = Request::bare("GET", url, &fields);
        let reply = reply(&request, || Draw::new(0, Stream::Delays, 0)).unwrap();
        let mut out = Vec::new();
        let form = Form {
            persistence: Persistence::Keep,
            extent: Extent::Whole,
        };
        reply.answer.append_to(&mut out, form);
        (
            String::from_utf8(out).unwrap().replace('\r', ""),
            reply.delay,
        )
    }

    #[test]
    fn endpoints_answer_as_long_as_no_stubs_are_in_use() {
        let check = |builtins, has_root, at_first: bool, with_stubs: bool| {
            let endpoints = Endpoints::new(builtins, has_root);
            let fields = Fields::default();
            let answers = || {
                let request = Request::bare("GET", "/json/valid", &fields);
                let draw = || Draw::new(0, Stream::Delays, 0);
                endpoints.reply(&request, draw).is_some()
            };
            assert_eq!(answers(), at_first, "{builtins:?} {has_root}");
            endpoints.yield_to_stubs();
            assert_eq!(answers(), with_stubs, "{builtins:?} {has_root}");
        };
        check(Builtins::WithoutStubs, false, true, false);
        check(Builtins::WithoutStubs, true, false, false);
        check(Builtins::On, true, true, true);
        check(Builtins::Off, false, false, false);
    }

    #[test]
    fn other_paths_have_no_endpoint() {
        for path in ["/", "/json", "/xml/x", "/resources", "/json/valid/"] {
            assert!(find(path).is_none(), "{path}");
        }
    }
}
