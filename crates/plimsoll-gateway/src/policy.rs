//! Policies: what a route demands of a request before it is forwarded.
//!
//! An open set, one file each. A policy looks at a request head and lets it pass or refuses it; it never waits and
//! never touches the body. Policies run in the order in which [`Policy`] lists them.

pub(crate) mod key;
pub(crate) mod rate_limit;

use crate::answer::Answer;
use key::{KeyIndex, KeyPolicy};
use plimsoll_http::RequestHead;
use rate_limit::RateLimitPolicy;

/// One demand of a route.
#[derive(Debug)]
pub(crate) enum Policy {
    /// Who is calling.
    Key(KeyPolicy),
    /// How often.
    RateLimit(RateLimitPolicy),
}

/// What policies have learned about the request so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Caller {
    /// The key that was presented and accepted.
    pub(crate) key: Option<KeyIndex>,
}

/// A refusal: what the client is told, and for which of the metrics it counts.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) answer: Answer,
    pub(crate) rate_limited: bool,
}

/// Puts a request before every policy of its route. `now` is in nanoseconds since the gateway started.
pub(crate) fn admit(policies: &[Policy], head: &RequestHead, now: u64) -> Result<Caller, Refusal> {
    let mut caller = Caller::default();
    for policy in policies {
        match policy {
            Policy::Key(policy) => {
                caller.key = Some(policy.identify(head.fields()).map_err(|refused| Refusal {
                    answer: policy.answer(refused),
                    rate_limited: false,
                })?);
            }
            Policy::RateLimit(policy) => policy.spend(caller.key, now).map_err(|wait| Refusal {
                answer: policy.answer(wait),
                rate_limited: true,
            })?,
        }
    }
    Ok(caller)
}
