//! Admission: from a request head to a plan for forwarding it, or to the answer that refuses it.

use super::{batch, hold};
use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use crate::clients::shard_map::{Moving, Step};
use crate::config::Serves;
use crate::messages::fields;
use crate::messages::path;
use crate::policy::rules::breaker::Passed;
use crate::policy::rules::{Effects, Exemption};
use crate::policy::{self, Caller, Policy, Refusal};
use crate::routing::outgoing::upgrade;
use crate::routing::outgoing::{Origin, Target};
use crate::routing::service::{Route, Service};
use crate::shard::client::Client;
use crate::shard::client_context::{ClientContext, ShardPlace};
use crate::shard::mirror::Mirror;
use crate::shard::scratch::Scratch;
use plimsoll_http::prefix;
use plimsoll_http::{ConnectionOptions, Framing, RequestHead, Version};
use plimsoll_records::{Phase, Stopwatch};
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::Instant;

/// An admitted request. Its forwarded head is in the client's scratch.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) route: usize,
    pub(super) upstream: usize,
    /// The shard of the client's data, on a route that goes by it.
    pub(super) shard: Option<usize>,
    pub(super) caller: Caller,
    pub(super) framing: Framing,
    pub(super) to_head: bool,
    pub(super) http10: bool,
    pub(super) keep_alive: bool,
    /// Sending it twice does no harm (RFC 9110 §9.2.1) and nothing of it is gone once sent.
    pub(super) repeatable: bool,
    /// Effects of rules on it. By reference counts, for the rules may be replaced while it is under way.
    pub(super) effects: Effects,
    /// In which state its breaker let it pass, if it has one.
    pub(super) passed: Option<Passed>,
    /// It may change something: by its method, or by what is said when it has switched to another protocol.
    pub(super) changes: bool,
    /// It goes to another shard, too, which the client's data is moving to.
    pub(super) mirror: Option<Box<Mirror>>,
}

impl Plan {
    /// Whether it may change a client's data in a shard: a move of that data waits for its end.
    pub(super) fn changes_shard(&self) -> bool {
        self.shard.is_some() && self.changes
    }

    /// Whether it goes on to its end although its client has left: of what may have changed a client's data the end must be known, and a
    /// copy is made only of what was answered.
    pub(super) fn is_carried_through(&self) -> bool {
        self.changes_shard() || self.mirror.is_some()
    }
}

/// Treatment of a request that nothing refuses.
#[derive(Debug)]
pub(super) enum Admitted {
    Forward(Plan),
    /// It is several requests to the API of this route.
    Batch {
        route: usize,
    },
    /// The control API answers it.
    Control {
        route: usize,
    },
}

/// A request that is not forwarded.
#[derive(Debug)]
pub(super) struct Refused {
    /// The route that refused it, if it came that far.
    pub(super) route: Option<usize>,
    pub(super) refusal: Refusal,
    /// It may be admitted by a later generation, for which it may wait so long.
    pub(super) held: Option<Duration>,
}

/// Judges the request that `client` has read; `watch` is told how long policies take, if that is measured.
pub(super) fn admit(
    service: &Service,
    client: &mut Client,
    now: Instant,
    watch: Option<&Stopwatch>,
) -> Result<Admitted, Refused> {
    let head = client.connection.requests.head();
    let Scratch {
        outgoing,
        method,
        path: noted_path,
        span,
        ..
    } = &mut *client.scratch;
    method.clear();
    method.push_str(head.method());
    let (index, path, options) = find(service, head, noted_path)?;
    let route = &service.routes[index];
    if let Some(admitted) = answered_here(route, index, &path) {
        return Ok(admitted);
    }
    let safe = matches!(head.method(), "GET" | "HEAD" | "OPTIONS");
    let switches = upgrade::may_switch(head, route, &options);
    let changes = !safe || switches;
    let Destination {
        upstream,
        shard,
        mirror,
    } = destination(service, index, client.context.as_deref(), changes)?;
    let below = prefix::strip(&route.path, &path);
    let judged = judge(route, head, (&path, below), service.nanos(now), watch);
    let own_work = |watch: &Stopwatch| watch.enter(Phase::Gateway, Instant::now());
    watch.into_iter().for_each(own_work);
    let Judged {
        effects,
        caller,
        passed,
    } = judged.map_err(|refusal| Refused {
        route: Some(index),
        refusal,
        held: None,
    })?;
    let forwarded = if route.strip { below } else { &path };
    let propagates = service.tracing.is_some_and(|tracing| tracing.propagate);
    let traceparent = span.filter(|_| propagates).map(|span| span.traceparent());
    let origin = Origin {
        peer: &client.peer,
        trusted: client.trusted,
        secured: client.secured,
        certificate: client.context.as_ref().map_or(&[], |s| &s.fields),
        pseudonym: &service.pseudonym,
        traceparent: traceparent.as_deref(),
    };
    let target = Target {
        path: forwarded,
        route,
        preserve_host: service.preserve_host[upstream],
        edits: effects.request.as_deref(),
        underscores: service.underscores,
    };
    outgoing.write(head, target, &options, origin);
    Ok(Admitted::Forward(Plan {
        route: index,
        upstream,
        shard,
        caller,
        framing: head.framing(),
        to_head: head.method() == "HEAD",
        http10: head.version() == Version::Http10,
        keep_alive: head.keep_alive(),
        repeatable: safe && head.framing() == Framing::None,
        changes,
        // What another protocol says cannot be said twice.
        mirror: mirror.filter(|_| !switches),
        effects,
        passed,
    }))
}

/// The route of a request, its normalised path, and the connection options that it names; the path is noted, whatever comes of it.
fn find<'a>(
    service: &Service,
    head: &'a RequestHead,
    noted_path: &mut String,
) -> Result<(usize, Cow<'a, str>, ConnectionOptions<'a>), Refused> {
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
        let answer = Answer::new(404, "no route for this path").because(ErrorKind::NoRoute);
        return Err(refused(None, answer));
    };
    if service.is_torn(&path, index) {
        let message = "servers differ about this path, and it is another route's to some";
        return Err(refused(None, Answer::new(400, message)));
    }
    Ok((index, path, options))
}

/// Answer of the gateway itself, whatever the policies of the route are.
fn answered_here(route: &Route, index: usize, path: &str) -> Option<Admitted> {
    if route.serves == Serves::Control {
        return Some(Admitted::Control { route: index });
    }
    batch::is_batch(route, path).then_some(Admitted::Batch { route: index })
}

/// A route's judgement of a request that it lets pass.
struct Judged {
    effects: Effects,
    caller: Caller,
    passed: Option<Passed>,
}

/// Puts a request before the rules and policies of its route. A breaker comes last: what passes it is counted.
fn judge(
    route: &Route,
    head: &RequestHead,
    (path, below): (&str, &str),
    now: u64,
    watch: Option<&Stopwatch>,
) -> Result<Judged, Refusal> {
    let plain = |answer| Refusal {
        answer,
        rate_limited: false,
    };
    let effects = match &route.rules {
        None => Effects::default(),
        Some(rules) => rules.judge(head, path, below).map_err(plain)?,
    };
    let caller = match effects.exempt {
        Some(Exemption::All) => Caller::default(),
        Some(Exemption::Key) => {
            let limits = |policy: &&Policy| matches!(policy, Policy::RateLimit(_));
            policy::admit(route.policies.iter().filter(limits), head, now, watch)?
        }
        None => policy::admit(&route.policies, head, now, watch)?,
    };
    let breaker = effects.breaker.as_ref();
    let passed = breaker.map(|breaker| breaker.admit(now)).transpose();
    Ok(Judged {
        passed: passed.map_err(plain)?,
        effects,
        caller,
    })
}

/// Where a request goes.
#[derive(Debug)]
struct Destination {
    upstream: usize,
    shard: Option<usize>,
    mirror: Option<Box<Mirror>>,
}

/// The upstream of a request that `changes` something or only reads, and the shard if its route goes by it. Nothing else that a client writes
/// into a request has a say in this.
fn destination(
    service: &Service,
    index: usize,
    context: Option<&ClientContext>,
    changes: bool,
) -> Result<Destination, Refused> {
    let place = match service.routes[index].serves {
        Serves::Upstream(upstream) => {
            return Ok(Destination {
                upstream,
                shard: None,
                mirror: None,
            });
        }
        Serves::Shard => context.map(|context| &context.place),
        Serves::Control => None,
    };
    match (place, &service.sharding) {
        (Some(ShardPlace::In(assignment)), Some(sharding)) => {
            let shards = &sharding.map.shards;
            let shard = assignment.shard;
            let mirror = match assignment.moving {
                Some(Moving {
                    step: Step::Frozen, ..
                }) if changes => {
                    let mut refused = refused(Some(index), hold::answer(sharding.hold));
                    refused.held = Some(sharding.hold);
                    return Err(refused);
                }
                Some(Moving {
                    step: Step::Mirroring,
                    to,
                }) => Some(Box::new(Mirror::new(
                    shards[to].upstream,
                    shard,
                    sharding.mirror.body,
                ))),
                _ => None,
            };
            Ok(Destination {
                upstream: shards[shard].upstream,
                shard: Some(shard),
                mirror,
            })
        }
        (Some(ShardPlace::Nowhere(reason)), _) => {
            Err(refused(Some(index), Answer::new(403, &**reason)))
        }
        (None | Some(ShardPlace::Unasked), _) | (Some(ShardPlace::In(_)), None) => {
            let answer = Answer::new(401, "this route needs a client certificate");
            let scheme = "ClientCertificate".to_owned();
            Err(refused(
                Some(index),
                answer.with_field("WWW-Authenticate", scheme),
            ))
        }
    }
}

/// Checks a target against the rules of all routes; its normalised path.
pub(super) fn check_target<'a>(
    head: &'a RequestHead,
    pseudonym: &str,
) -> Result<Cow<'a, str>, Answer> {
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
        held: None,
    }
}

#[cfg(test)]
mod tests;
