//! Policies: what a route demands of a request before it is forwarded.
//!
//! An open set, one file each. A policy looks at a request head and lets it pass or refuses it; it never waits and
//! never touches the body. Policies run in the order in which [`Policy`] lists them. What holds for some paths of a route
//! only is a rule, see [`rules`], and comes before them.

pub(crate) mod key;
pub(crate) mod rate_limit;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod token;

use crate::answering::answer::Answer;
use crate::keys::KeyHash;
use crate::keys::allowance::Left;
use key::{KeyIndex, KeyPolicy};
use plimsoll_http::RequestHead;
use plimsoll_records::{Phase, Stopwatch};
use rate_limit::RateLimitPolicy;
use session::SessionPolicy;
use token::TokenPolicy;
use tokio::time::Instant;

/// One demand of a route.
#[derive(Debug)]
pub(crate) enum Policy {
    /// Who is calling.
    Key(KeyPolicy),
    /// Who is calling, and what is left of what this key may do.
    Session(SessionPolicy),
    /// A key, by a token that somebody else has signed.
    Token(TokenPolicy),
    /// How often.
    RateLimit(RateLimitPolicy),
}

impl Policy {
    /// The phase that its time counts as.
    fn phase(&self) -> Phase {
        match self {
            Self::Key(_) | Self::Session(_) | Self::Token(_) => Phase::Authentication,
            Self::RateLimit(_) => Phase::Limit,
        }
    }
}

/// Knowledge about the request that policies have gained so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Caller {
    /// The key that was presented and accepted.
    pub(crate) key: Option<KeyIndex>,
    /// The key of the control API that was presented and accepted.
    pub(crate) session: Option<KeyHash>,
    /// Rest of its quota, if it has one.
    pub(crate) left: Option<Left>,
}

/// A refusal: what the client is told, and for which of the metrics it counts.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) answer: Answer,
    pub(crate) rate_limited: bool,
}

/// Puts a request before every policy of its route. `now` is in nanoseconds since the gateway started.
/// `watch` is told what it is about, if that is measured.
pub(crate) fn admit<'a>(
    policies: impl IntoIterator<Item = &'a Policy>,
    head: &RequestHead,
    now: u64,
    watch: Option<&Stopwatch>,
) -> Result<Caller, Refusal> {
    let mut caller = Caller::default();
    for policy in policies {
        if let Some(watch) = watch {
            watch.enter(policy.phase(), Instant::now());
        }
        match policy {
            Policy::Key(policy) => {
                caller.key = Some(policy.identify(head.fields()).map_err(|refused| Refusal {
                    answer: policy.answer(refused),
                    rate_limited: false,
                })?);
            }
            Policy::Session(policy) => {
                let identified = policy.admit(head.fields(), now);
                let identified = identified.map_err(|unwanted| Refusal {
                    answer: policy.answer(unwanted),
                    rate_limited: unwanted.is_limit(),
                })?;
                caller.session = Some(identified.hash);
                caller.left = identified.left;
            }
            Policy::Token(policy) => {
                let identified = policy.admit(head.fields(), now);
                let identified = identified.map_err(|refused| Refusal {
                    rate_limited: refused.is_limit(),
                    answer: policy.answer(refused),
                })?;
                caller.session = Some(identified.hash);
                caller.left = identified.left;
            }
            Policy::RateLimit(policy) => policy.spend(caller.key, now).map_err(|wait| Refusal {
                answer: policy.answer(wait),
                rate_limited: true,
            })?,
        }
    }
    Ok(caller)
}
