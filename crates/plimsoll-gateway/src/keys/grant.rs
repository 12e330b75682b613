//! Grants of sessions and policies, as written.

use super::allowance::{Allowance, Quota, Rate};
use super::lifetime::AfterExpiry;
use std::collections::HashMap;

/// Grant of a key by a session or a policy, as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Grant {
    pub(crate) inactive: bool,
    pub(crate) figures: Figures,
    /// By API, in the order of the file.
    pub(crate) access: Vec<(String, ApiGrant)>,
    /// Names of policies that have the last word.
    pub(crate) policies: Vec<String>,
    /// Of a session: those of other organisations are none to it. Empty: of any.
    pub(crate) organisation: String,
}

impl Grant {
    /// The policy that a name stands for. Source: Tyk 5.15, `internal/policy/apply.go` (`policyIds`).
    pub(crate) fn policy<'a>(&self, name: &str, policies: &'a Policies) -> Option<&'a PolicyGrant> {
        let counts = |policy: &&PolicyGrant| {
            self.organisation.is_empty() || self.organisation == policy.organisation
        };
        policies.get(name).filter(counts)
    }
}

/// Grant of one API by a session or a policy, as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ApiGrant {
    pub(crate) limit: Figures,
    /// Whether any limit is written, known here or not.
    pub(crate) says_limit: bool,
    /// In a session: APIs of one scope are counted together.
    pub(crate) scope: String,
}

/// Rate and quota as written: zero and below mean none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) rate: f64,
    pub(crate) per: f64,
    pub(crate) quota_max: i64,
    pub(crate) quota_renewal: i64,
    pub(crate) unapplied: Unapplied,
}

/// Limits that are not applied here. A limit that says one of them is not empty, so that another does not take its place.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Unapplied {
    pub(crate) query_depth: i64,
    pub(crate) throttle_interval: f64,
    pub(crate) throttle_retries: i64,
}

/// A policy, and which of its parts it has a say in.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PolicyGrant {
    pub(crate) grant: Grant,
    /// Whose APIs it opens.
    pub(crate) organisation: String,
    /// None: all of them.
    pub(crate) parts: Parts,
    /// Each API's limit is its own, or the policy's where it says none.
    pub(crate) per_api: bool,
    /// Seconds that keys made with it live; 0: for ever.
    pub(crate) key_expires_in: u32,
    /// Fate of keys made with it that have expired, where it says so.
    pub(crate) after_expiry: AfterExpiry,
}

/// Parts of a grant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) rate: bool,
    pub(crate) quota: bool,
    pub(crate) access: bool,
    /// Of queries, which are not read; it counts as a part all the same.
    pub(crate) complexity: bool,
}

impl Parts {
    pub(crate) const ALL: Self = Self {
        rate: true,
        quota: true,
        access: true,
        complexity: true,
    };

    pub(crate) fn is_any(self) -> bool {
        self != Self::default()
    }
}

/// All policies by name.
pub(crate) type Policies = HashMap<String, PolicyGrant>;

impl Figures {
    /// Fields that say a limit which could not be held to, and what to write instead: a limit that is not applied is none.
    pub(crate) fn problems(self) -> Vec<(&'static str, String)> {
        let most = i64::from(u32::MAX);
        let counted = [
            ("quota_max", self.quota_max),
            ("quota_renewal_rate", self.quota_renewal),
        ];
        let beyond = counted.into_iter().filter(|(_, figure)| *figure > most);
        let mut problems: Vec<_> = beyond
            .map(|(name, _)| {
                let message = format!("at most {most} can be counted: -1 is no quota");
                (name, message)
            })
            .collect();
        if self.rate > 0.0 && self.per <= 0.0 {
            // Whether Tyk limits such a key is not written down anywhere.
            let message = "a rate needs `per`, its seconds: write for instance `1`";
            problems.push(("rate", message.to_owned()));
        }
        problems
    }

    pub(crate) fn allowance(self) -> Allowance {
        let rate = (self.rate > 0.0 && self.per > 0.0).then_some(Rate {
            requests: self.rate,
            seconds: self.per,
        });
        let max = u32::try_from(self.quota_max).ok().filter(|max| *max > 0);
        Allowance {
            rate,
            quota: max.map(|max| Quota {
                max,
                renewal: u32::try_from(self.quota_renewal).unwrap_or(0),
            }),
        }
    }
}
