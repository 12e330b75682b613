//! Admission: from a request head to a plan for forwarding it, or to the answer that refuses it.

use super::Scratch;
use super::outgoing::Origin;
use crate::answer::Answer;
use crate::client::Client;
use crate::fields;
use crate::path;
use crate::policy::{self, Caller, Refusal};
use crate::router;
use crate::service::Service;
use plimsoll_http::{ConnectionOptions, Framing, RequestHead, Version};
use std::borrow::Cow;
use tokio::time::Instant;

/// An admitted request. Its forwarded head is in the connection's scratch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) route: usize,
    pub(super) upstream: usize,
    pub(super) caller: Caller,
    pub(super) framing: Framing,
    pub(super) to_head: bool,
    pub(super) http10: bool,
    pub(super) keep_alive: bool,
    /// Sending it twice does no harm (RFC 9110 §9.2.1) and nothing of it is gone once sent.
    pub(super) repeatable: bool,
}

/// A request that is not forwarded.
#[derive(Debug)]
pub(super) struct Refused {
    /// The route that refused it, if it came that far.
    pub(super) route: Option<usize>,
    pub(super) refusal: Refusal,
}

/// Judges the request that `client` has read.
pub(super) fn admit(service: &Service, client: &mut Client, now: Instant) -> Result<Plan, Refused> {
    let head = client.connection.requests.head();
    let Scratch {
        outgoing,
        method,
        path: noted_path,
    } = &mut client.scratch;
    method.clear();
    method.push_str(head.method());
    noted_path.clear();
    let path = match check_target(head, &service.pseudonym) {
        Ok(path) => path,
        Err(answer) => {
            noted_path.push_str(head.path());
            return Err(refused(None, answer));
        }
    };
    noted_path.push_str(&path);
    let options = ConnectionOptions::of(head.fields());
    if options.are_too_many() {
        return Err(refused(
            None,
            Answer::new(400, "too many connection options"),
        ));
    }
    let Some(index) = service.router.find(&path) else {
        return Err(refused(None, Answer::new(404, "no route for this path")));
    };
    let route = &service.routes[index];
    let caller =
        policy::admit(&route.policies, head, service.nanos(now)).map_err(|refusal| Refused {
            route: Some(index),
            refusal,
        })?;
    let forwarded = match route.strip {
        true => router::strip(&route.path, &path),
        false => &path,
    };
    let origin = Origin {
        peer: &client.peer,
        trusted: client.trusted,
        pseudonym: &service.pseudonym,
    };
    outgoing.write(head, forwarded, route, &options, origin);
    let safe = matches!(head.method(), "GET" | "HEAD" | "OPTIONS");
    Ok(Plan {
        route: index,
        upstream: route.upstream,
        caller,
        framing: head.framing(),
        to_head: head.method() == "HEAD",
        http10: head.version() == Version::Http10,
        keep_alive: head.keep_alive(),
        repeatable: safe && head.framing() == Framing::None,
    })
}

/// What a request may not be on any route; its normalised path otherwise.
fn check_target<'a>(head: &'a RequestHead, pseudonym: &str) -> Result<Cow<'a, str>, Answer> {
    if matches!(head.method(), "CONNECT" | "TRACE") {
        let message = format!("{} is not available in this version", head.method());
        return Err(Answer::new(501, message));
    }
    if fields::has_passed(head.fields(), pseudonym) {
        return Err(Answer::new(
            508,
            "this request has passed this gateway before",
        ));
    }
    path::normalise(head.path()).map_err(|error| Answer::new(400, error.to_string()))
}

fn refused(route: Option<usize>, answer: Answer) -> Refused {
    Refused {
        route,
        refusal: Refusal {
            answer,
            rate_limited: false,
        },
    }
}
