//! What keys are granted: by their sessions, and by the policies that the sessions name.
//!
//! Most keys have what many others have, so it is kept once. When policies change, what follows for each is made anew.

use super::allowance::{Allowance, Quota, Rate};
use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What a session or a policy says about a key, as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Grant {
    pub(crate) inactive: bool,
    pub(crate) figures: Figures,
    /// By API, in the order of the file.
    pub(crate) access: Vec<(String, Figures)>,
    /// Names of policies that have the last word.
    pub(crate) policies: Vec<String>,
}

/// Rate and quota as written: zero and below mean none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) rate: f64,
    pub(crate) per: f64,
    pub(crate) quota_max: i64,
    pub(crate) quota_renewal: i64,
}

/// A policy, and which of its parts it has a say in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PolicyGrant {
    pub(crate) grant: Grant,
    pub(crate) parts: Parts,
    /// Seconds that keys made with it live; 0: for ever.
    pub(crate) key_expires_in: u32,
}

/// Parts of a grant that a policy replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) rate: bool,
    pub(crate) quota: bool,
    pub(crate) access: bool,
}

/// All policies by name.
pub(crate) type Policies = HashMap<String, PolicyGrant>;

/// What many keys have in common.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The session without what is a key's own.
    pub(super) shape: Map<String, Value>,
    grant: Grant,
    /// Read for every request, replaced when policies change.
    pub(super) effective: ArcSwap<Effective>,
    /// APIs that have, or once had, an allowance of their own: the place of each is the number of its account, which stays. Blocking:
    /// taken when a key is made and when policies change.
    accounts: Mutex<Vec<Box<str>>>,
}

/// What follows from a grant and the policies in force.
#[derive(Debug, PartialEq)]
pub(crate) struct Effective {
    pub(crate) inactive: bool,
    /// Over all APIs that have none of their own.
    pub(crate) allowance: Allowance,
    pub(crate) access: Access,
}

/// Which APIs a key may use.
#[derive(Debug, PartialEq)]
pub(crate) enum Access {
    All,
    Listed(HashMap<Box<str>, Option<OwnAllowance>>),
}

/// What one API grants for itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OwnAllowance {
    /// Which of the key's further accounts it is charged to.
    pub(crate) account: usize,
    pub(crate) allowance: Allowance,
}

impl Terms {
    /// The policies that are named.
    pub(super) fn policies(&self) -> &[String] {
        &self.grant.policies
    }

    pub(super) fn new(shape: Map<String, Value>, grant: Grant, policies: &Policies) -> Self {
        let mut accounts = Vec::new();
        let effective = ArcSwap::from_pointee(effective(&grant, policies, &mut accounts));
        Self {
            shape,
            grant,
            effective,
            accounts: Mutex::new(accounts),
        }
    }

    /// What follows from other policies, when every key of these terms has all [`Self::accounts`].
    pub(super) fn under(&self, policies: &Policies) -> Effective {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        effective(&self.grant, policies, &mut accounts)
    }

    /// The APIs for which a key has accounts besides its own, in their order.
    pub(super) fn accounts(&self) -> Vec<Box<str>> {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.clone()
    }

    /// How many those are.
    pub(super) fn account_count(&self) -> usize {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.len()
    }
}

impl Figures {
    /// Whether anything is said at all.
    fn is_empty(self) -> bool {
        self == Self::default()
    }

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

    /// Requests per second; without a rate there is no end to them.
    fn per_second(self) -> f64 {
        match self.allowance().rate {
            Some(rate) => rate.requests / rate.seconds,
            None => f64::INFINITY,
        }
    }
}

/// Policies in the order in which the session names them: of several, the most generous rate and quota count, and access to everything
/// that any of them opens. One that is unknown or inactive closes the key. APIs that need an account and have none yet are added.
fn effective(grant: &Grant, policies: &Policies, accounts: &mut Vec<Box<str>>) -> Effective {
    let mut inactive = grant.inactive;
    let mut figures = grant.figures;
    let mut access = grant.access.clone();
    let mut said = Parts {
        rate: false,
        quota: false,
        access: false,
    };
    let mut unknown = false;
    for name in &grant.policies {
        let Some(PolicyGrant { grant, parts, .. }) = policies.get(name) else {
            unknown = true;
            continue;
        };
        inactive |= grant.inactive;
        let theirs = grant.figures;
        if parts.rate && (!said.rate || theirs.per_second() > figures.per_second()) {
            (figures.rate, figures.per) = (theirs.rate, theirs.per);
        }
        let more = theirs.quota_max <= 0
            || (figures.quota_max > 0 && theirs.quota_max > figures.quota_max);
        if parts.quota && (!said.quota || more) {
            (figures.quota_max, figures.quota_renewal) = (theirs.quota_max, theirs.quota_renewal);
        }
        if parts.access {
            if !said.access {
                access.clear();
            }
            access.extend(grant.access.iter().cloned());
        }
        said = Parts {
            rate: said.rate || parts.rate,
            quota: said.quota || parts.quota,
            access: said.access || parts.access,
        };
    }
    let open = access.is_empty() && grant.policies.is_empty();
    Effective {
        inactive,
        allowance: figures.allowance(),
        access: match (unknown, open) {
            (true, _) => Access::Listed(HashMap::new()),
            (false, true) => Access::All,
            (false, false) => listed(access, accounts),
        },
    }
}

fn listed(access: Vec<(String, Figures)>, accounts: &mut Vec<Box<str>>) -> Access {
    let mut apis = HashMap::new();
    for (api, figures) in access {
        let own = (!figures.is_empty()).then(|| {
            let known = accounts.iter().position(|known| **known == *api);
            OwnAllowance {
                account: known.unwrap_or_else(|| {
                    accounts.push(api.as_str().into());
                    accounts.len() - 1
                }),
                allowance: figures.allowance(),
            }
        });
        apis.insert(api.into_boxed_str(), own);
    }
    Access::Listed(apis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rate: f64, quota_max: i64) -> Figures {
        Figures {
            rate,
            per: 1.0,
            quota_max,
            quota_renewal: 60,
        }
    }

    fn policy(figures: Figures, apis: &[&str], parts: [bool; 3]) -> PolicyGrant {
        let [rate, quota, access] = parts;
        PolicyGrant {
            grant: Grant {
                figures,
                access: apis
                    .iter()
                    .map(|api| ((*api).to_owned(), Figures::default()))
                    .collect(),
                ..Grant::default()
            },
            parts: Parts {
                rate,
                quota,
                access,
            },
            key_expires_in: 0,
        }
    }

    fn rate_quota_apis(effective: &Effective) -> (Option<f64>, Option<u32>, Vec<String>) {
        let mut apis = match &effective.access {
            Access::All => vec!["*".to_owned()],
            Access::Listed(apis) => apis.keys().map(ToString::to_string).collect(),
        };
        apis.sort();
        let rate = effective.allowance.rate.map(|rate| rate.requests);
        (rate, effective.allowance.quota.map(|quota| quota.max), apis)
    }

    #[test]
    fn policies_have_the_last_word_on_their_parts() {
        let all = [true, true, true];
        let policies: Policies = [
            ("slow".to_owned(), policy(figures(1.0, 10), &["a"], all)),
            ("fast".to_owned(), policy(figures(9.0, -1), &["b"], all)),
            (
                "rate".to_owned(),
                policy(figures(5.0, 7), &["c"], [true, false, false]),
            ),
        ]
        .into();
        let check = |names: &[&str], expected: (Option<f64>, Option<u32>, &[&str])| {
            let grant = Grant {
                figures: figures(2.0, 3),
                access: vec![("own".to_owned(), Figures::default())],
                policies: names.iter().map(|name| (*name).to_owned()).collect(),
                inactive: false,
            };
            let (rate, quota, apis) =
                rate_quota_apis(&effective(&grant, &policies, &mut Vec::new()));
            let apis: Vec<&str> = apis.iter().map(String::as_str).collect();
            assert_eq!((rate, quota, &apis[..]), expected, "{names:?}");
        };
        check(&[], (Some(2.0), Some(3), &["own"]));
        check(&["slow"], (Some(1.0), Some(10), &["a"]));
        check(&["slow", "fast"], (Some(9.0), None, &["a", "b"]));
        check(&["fast", "slow"], (Some(9.0), None, &["a", "b"]));
        check(&["rate"], (Some(5.0), Some(3), &["own"]));
        check(&["slow", "gone"], (Some(1.0), Some(10), &[]));
    }

    #[test]
    fn without_any_list_a_key_opens_everything_unless_a_policy_was_to_say() {
        let open = effective(&Grant::default(), &Policies::new(), &mut Vec::new());
        assert_eq!(open.access, Access::All);
        let named = Grant {
            policies: vec!["empty".to_owned()],
            ..Grant::default()
        };
        let policies = [("empty".to_owned(), policy(figures(0.0, 0), &[], [true; 3]))].into();
        assert_eq!(
            effective(&named, &policies, &mut Vec::new()).access,
            Access::Listed(HashMap::new())
        );
    }
}
