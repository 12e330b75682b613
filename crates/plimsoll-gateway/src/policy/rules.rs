//! Rules: what holds for some paths and methods of a route only. Each kind is a file of its own.
//!
//! ```text
//! path, method --first reply/exempt/deny/allow that matches--> answer, or on (exempt: past key and limits)
//!              --first of each other kind that matches-------> what the exchange is to do differently
//! ```
//!
//! A route without rules has none of this: it is asked for nothing.

pub(crate) mod body_limit;
pub(crate) mod breaker;
pub(crate) mod matcher;
pub(crate) mod reply;

use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use crate::messages::edits::FieldEdits;
use body_limit::BodyLimit;
use breaker::Breaker;
use matcher::PathMatcher;
use plimsoll_http::RequestHead;
use reply::Reply;
use std::sync::Arc;
use std::time::Duration;

/// The rules of one route, in order.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// Paths that no rule allows are denied.
    closed: bool,
}

/// One rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) paths: PathMatcher,
    /// Any, if empty.
    pub(crate) methods: Vec<String>,
    pub(crate) what: What,
}

/// Subject of a rule.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// Answer at once.
    Reply(Reply),
    Exempt(Exemption),
    Deny,
    Allow,
    BodyLimit(BodyLimit),
    /// How long the upstream may take until its response's head.
    Timeout(Duration),
    Breaker(Arc<Breaker>),
    RequestFields(Arc<FieldEdits>),
    ResponseFields(Arc<FieldEdits>),
}

/// Credentials and limits that a request is exempt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exemption {
    /// No key is demanded and no limit counts.
    All,
    /// No key is demanded; the route's own limit counts.
    Key,
}

/// Combined effect of the rules that match a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects {
    pub(crate) exempt: Option<Exemption>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) breaker: Option<Arc<Breaker>>,
    pub(crate) request: Option<Arc<FieldEdits>>,
    pub(crate) response: Option<Arc<FieldEdits>>,
}

impl Rules {
    /// `closed`: what no rule allows is denied, whether some rule allows or not.
    pub(crate) fn new(rules: Vec<Rule>, closed: bool) -> Self {
        let allows = rules.iter().any(|rule| matches!(rule.what, What::Allow));
        Self {
            rules,
            closed: closed || allows,
        }
    }

    /// Whether some of the route's paths are closed.
    pub(crate) fn close_paths(&self) -> bool {
        self.closed
            || self
                .rules
                .iter()
                .any(|rule| matches!(rule.what, What::Deny))
    }

    /// Puts a request before the rules. `path` is normalised, `below` what follows the route's own path in it. A breaker is named and
    /// not asked: it has to know that nothing else refuses.
    pub(crate) fn judge(
        &self,
        head: &RequestHead,
        path: &str,
        below: &str,
    ) -> Result<Effects, Answer> {
        let decoded = matcher::Decoded::of(path, below);
        let matching: Vec<&What> = self
            .rules
            .iter()
            .filter(|rule| rule.covers(head.method(), &decoded))
            .map(|rule| &rule.what)
            .collect();
        let mut effects = Effects {
            exempt: self.access(&matching)?,
            ..Effects::default()
        };
        let mut limited = false;
        for what in matching {
            match what {
                What::Reply(_) | What::Exempt(_) | What::Deny | What::Allow => {}
                What::BodyLimit(limit) if limit.is_one_of_several && limited => {}
                What::BodyLimit(limit) => {
                    limited |= limit.is_one_of_several;
                    limit.check(head)?;
                }
                What::Timeout(timeout) => effects.timeout = effects.timeout.or(Some(*timeout)),
                What::Breaker(breaker) => {
                    effects.breaker.get_or_insert_with(|| Arc::clone(breaker));
                }
                What::RequestFields(edits) => {
                    effects.request.get_or_insert_with(|| Arc::clone(edits));
                }
                What::ResponseFields(edits) => {
                    effects.response.get_or_insert_with(|| Arc::clone(edits));
                }
            }
        }
        let edits = effects.request.iter().chain(&effects.response);
        if edits.into_iter().any(|edits| edits.lack_a_value()) {
            let message = "a secret that this path needs is not to be had";
            return Err(Answer::new(503, message));
        }
        Ok(effects)
    }

    /// Exemptions of the request; the first rule about access decides.
    fn access(&self, matching: &[&What]) -> Result<Option<Exemption>, Answer> {
        for what in matching {
            match what {
                What::Reply(reply) => return Err(reply.answer()),
                What::Exempt(exemption) => return Ok(Some(*exemption)),
                What::Deny => return Err(forbidden()),
                What::Allow => return Ok(None),
                _ => {}
            }
        }
        if self.closed {
            return Err(forbidden());
        }
        Ok(None)
    }
}

impl Rule {
    fn covers(&self, method: &str, decoded: &matcher::Decoded<'_>) -> bool {
        let of_method = self.methods.is_empty() || self.methods.iter().any(|own| own == method);
        of_method
            && match self.what {
                // Getting past it would be a gain, for instance by `/admin;x` where the upstream sees `/admin`.
                What::Reply(_) | What::Deny | What::BodyLimit(_) => {
                    self.paths.matches_somehow(decoded)
                }
                // Getting into it would be.
                What::Exempt(_) | What::Allow => self.paths.matches_however(decoded),
                What::Timeout(_)
                | What::Breaker(_)
                | What::RequestFields(_)
                | What::ResponseFields(_) => self.paths.matches(decoded),
            }
    }
}

fn forbidden() -> Answer {
    Answer::new(403, "this path is closed").because(ErrorKind::PathForbidden)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::path::normalise;
    use crate::messages::path::readings::tests::{SPELLINGS, upstreams};
    use plimsoll_http::Version;
    use plimsoll_http::prefix::covers;

    /// Effect of a rule for `/admin` on a GET of this path, which is normalised: the status that refuses it, or whether it is exempt.
    fn judged(what: What, path: &str) -> Result<bool, u16> {
        let rules = Rules::new(
            vec![Rule {
                paths: PathMatcher::below("/admin").unwrap(),
                methods: Vec::new(),
                what,
            }],
            false,
        );
        let text = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        let head = RequestHead::from_text(text.as_bytes(), Version::Http11).unwrap();
        let judged = rules.judge(&head, path, path);
        judged
            .map(|effects| effects.exempt.is_some())
            .map_err(|answer| answer.status())
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1024))]
        #[test]
        fn no_upstream_gets_what_is_denied_or_what_it_takes_for_something_else(path in SPELLINGS) {
            let Ok(path) = normalise(&path) else { return Ok(()) };
            let read = upstreams(&path);
            if read.iter().any(|path| covers("/admin", path)) {
                proptest::prop_assert_eq!(judged(What::Deny, &path), Err(403));
            }
            if !read.iter().all(|path| covers("/admin", path)) {
                proptest::prop_assert_ne!(judged(What::Exempt(Exemption::All), &path), Ok(true));
                proptest::prop_assert_eq!(judged(What::Allow, &path), Err(403));
            }
        }
    }
}
