//! Keys that come and go: the request must carry one that is active, may use this API, and has rate and quota left.
//!
//! One look at the [`KeyStore`] a request. Refused requests learn nothing about keys that they do not hold: what is looked up is a hash.

use super::key::strip_bearer;
use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use crate::keys::allowance::{Allowance, Exceeded, Left, Moment};
use crate::keys::key::Key;
use crate::keys::terms::{Access, Granted, Organisation};
use crate::keys::{KeyHash, KeyStore};
use plimsoll_http::Fields;
use std::sync::Arc;

/// Demands of one API on keys.
#[derive(Debug, Clone)]
pub(crate) struct SessionPolicy {
    /// The field that carries the key.
    pub(crate) header: String,
    /// Under which name keys open it.
    pub(crate) api: Box<str>,
    /// Policies of others open nothing here.
    pub(crate) organisation: Box<str>,
    /// Shortest text that is a key.
    pub(crate) shortest: usize,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) counts: Counts,
    /// When the gateway started, in nanoseconds since 1970.
    pub(crate) started: u64,
}

/// Which limits of a key count here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) rate: bool,
    pub(crate) quota: bool,
}

/// A key that may pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identified {
    pub(crate) hash: KeyHash,
    /// Of its quota, if it has one.
    pub(crate) left: Option<Left>,
}

/// Why a request may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwanted {
    Missing,
    /// There is no such key.
    Unknown,
    Inactive,
    Expired,
    /// The key does not open this API.
    Elsewhere,
    Exceeded(Exceeded),
}

impl SessionPolicy {
    /// Identifies a request and counts it. `now` is in nanoseconds since the gateway started.
    pub(crate) fn admit(&self, fields: &Fields, now: u64) -> Result<Identified, Unwanted> {
        let key = strip_bearer(self.carried(fields).ok_or(Unwanted::Missing)?);
        if key.is_empty() {
            return Err(Unwanted::Missing);
        }
        if key.len() < self.shortest {
            return Err(Unwanted::Unknown);
        }
        let hash = KeyHash::of(key);
        let moment = self.moment(now);
        let judged = self.keys.with(hash, |key| match key.is_virtual() {
            true => Err(Unwanted::Unknown),
            false => self.judge(key, moment),
        });
        Ok(self.identified(hash, judged.unwrap_or(Err(Unwanted::Unknown))?))
    }

    /// The one value of the field, if there is one.
    pub(super) fn carried<'a>(&self, fields: &'a Fields) -> Option<&'a [u8]> {
        let mut values = fields.get_all(&self.header);
        match (values.next(), values.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }

    /// `now` is in nanoseconds since the gateway started.
    pub(super) fn moment(&self, now: u64) -> Moment {
        let unix = self.started.saturating_add(now) / 1_000_000_000;
        Moment {
            nanos: now,
            unix: u32::try_from(unix).unwrap_or(u32::MAX),
        }
    }

    /// A key that was charged.
    pub(super) fn identified(&self, hash: KeyHash, left: Option<Left>) -> Identified {
        if left.is_some() {
            self.keys.touch(hash);
        }
        Identified { hash, left }
    }

    /// Whether a key may pass; then it is charged.
    pub(super) fn judge(&self, key: &Key, now: Moment) -> Result<Option<Left>, Unwanted> {
        if key.has_left(now.unix) {
            return Err(Unwanted::Unknown);
        }
        let effective = key.effective();
        let is_ours = match &effective.organisation {
            Organisation::Any => true,
            Organisation::Only(organisation) => *organisation == self.organisation,
            Organisation::None => false,
        };
        if !is_ours {
            return Err(Unwanted::Elsewhere);
        }
        if effective.inactive {
            return Err(Unwanted::Inactive);
        }
        if key.has_expired(now.unix) {
            return Err(Unwanted::Expired);
        }
        let Granted { account, allowance } = match &effective.access {
            Access::All => Granted {
                account: None,
                allowance: effective.allowance,
            },
            Access::Listed(apis) => *apis.get(&self.api).ok_or(Unwanted::Elsewhere)?,
        };
        let allowance = Allowance {
            rate: allowance.rate.filter(|_| self.counts.rate),
            quota: allowance.quota.filter(|_| self.counts.quota),
        };
        let spent = key.spent(account);
        let spent = spent.spend(&allowance, self.keys.gateways(), now);
        spent.map_err(Unwanted::Exceeded)
    }

    /// Message for the client.
    pub(crate) fn answer(&self, unwanted: Unwanted) -> Answer {
        let scheme = match self.header.eq_ignore_ascii_case("authorization") {
            true => "Bearer",
            false => "ApiKey",
        };
        let challenged = |message, cause| {
            let answer = Answer::new(401, message).because(cause);
            answer.with_field("WWW-Authenticate", scheme.to_owned())
        };
        match unwanted {
            Unwanted::Missing => challenged("this route needs one key", ErrorKind::KeyMissing),
            Unwanted::Expired => challenged("this key has expired", ErrorKind::KeyExpired),
            Unwanted::Unknown => {
                Answer::new(403, "this key may not use this route").because(ErrorKind::KeyUnknown)
            }
            Unwanted::Elsewhere => {
                Answer::new(403, "this key may not use this route").because(ErrorKind::KeyElsewhere)
            }
            Unwanted::Inactive => {
                Answer::new(403, "this key is inactive").because(ErrorKind::KeyInactive)
            }
            Unwanted::Exceeded(Exceeded::Rate { wait }) => {
                let seconds = wait.div_ceil(1_000_000_000).max(1);
                let answer = Answer::new(429, "rate limit exceeded").because(ErrorKind::KeyRate);
                answer.with_field("Retry-After", seconds.to_string())
            }
            Unwanted::Exceeded(Exceeded::Quota { .. }) => {
                Answer::new(403, "the key's quota is used up").because(ErrorKind::Quota)
            }
        }
    }
}

impl Unwanted {
    /// Whether a limit is met, and nothing is wrong with the key.
    pub(crate) fn is_limit(self) -> bool {
        matches!(self, Self::Exceeded(_))
    }
}
