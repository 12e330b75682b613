//! Terms of keys: the consequences of their sessions, and of the policies that the sessions name.
//!
//! Most keys have what many others have, so it is kept once. When policies change, what follows for each is made anew.

use super::allowance::{Allowance, Quota};
use super::grant::{Grant, Policies};
use super::merge::{Right, merge};
use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Terms that many keys share.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The session without what is a key's own.
    pub(super) shape: Map<String, Value>,
    grant: Grant,
    /// Read for every request, replaced when policies change.
    pub(super) effective: ArcSwap<Effective>,
    /// Scopes that are, or once were, counted for themselves: the place of each is the number of its account, which stays. Blocking: taken
    /// when a key is made and when policies change.
    accounts: Mutex<Vec<Box<str>>>,
}

/// Consequences of a grant and the policies in force.
#[derive(Debug, PartialEq)]
pub(crate) struct Effective {
    pub(crate) inactive: bool,
    /// Whether the policy that it names first is there; so it is where it names none.
    pub(crate) has_first: bool,
    /// Whose APIs it opens, if policies say so.
    pub(crate) organisation: Organisation,
    /// Allowance that is shown of the key as a whole, and holds for every API where none are listed.
    pub(crate) allowance: Allowance,
    pub(crate) access: Access,
}

impl Effective {
    /// The quotas that are counted in one of a key's accounts.
    pub(super) fn quotas(&self, account: Option<usize>) -> Vec<Quota> {
        match &self.access {
            Access::All => {
                let own = self.allowance.quota.filter(|_| account.is_none());
                own.into_iter().collect()
            }
            Access::Listed(apis) => {
                let own = apis.values().filter(|granted| granted.account == account);
                own.filter_map(|granted| granted.allowance.quota).collect()
            }
        }
    }
}

/// Whose APIs a key opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Organisation {
    Any,
    Only(Box<str>),
    /// Its policies are of several.
    None,
}

/// Which APIs a key may use.
#[derive(Debug, PartialEq)]
pub(crate) enum Access {
    All,
    Listed(HashMap<Box<str>, Granted>),
}

/// Grant of one API.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Granted {
    /// Which of the key's further accounts it is charged to; `None`: the one that it has in any case.
    pub(crate) account: Option<usize>,
    pub(crate) allowance: Allowance,
}

impl Terms {
    /// The policies that are named.
    pub(super) fn policies(&self) -> &[String] {
        &self.grant.policies
    }

    /// Whether it is the session itself that says so, and no policy.
    pub(super) fn is_closed(&self) -> bool {
        self.grant.inactive
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

    /// Consequences of other policies, when every key of these terms has all [`Self::accounts`].
    pub(super) fn under(&self, policies: &Policies) -> Effective {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        effective(&self.grant, policies, &mut accounts)
    }

    /// The scopes for which a key has accounts besides its own, in their order.
    pub(super) fn accounts(&self) -> Vec<Box<str>> {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.clone()
    }

    /// Adds the scopes that keys of other terms have accounts for.
    pub(super) fn keep_accounts(&self, others: &Self) {
        // One lock after the other: the two may be the same.
        let others = others.accounts();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        for scope in others {
            if !accounts.contains(&scope) {
                accounts.push(scope);
            }
        }
    }

    /// How many those are.
    pub(super) fn account_count(&self) -> usize {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.len()
    }
}

/// Consequences of a grant and the policies in force. Scopes that need an account and have none yet are added.
fn effective(grant: &Grant, policies: &Policies, accounts: &mut Vec<Box<str>>) -> Effective {
    let merged = merge(grant, policies);
    let mut organisations = merged.organisations.into_iter();
    let first = grant.policies.first();
    Effective {
        inactive: merged.inactive,
        has_first: first.is_none_or(|name| policies.contains_key(name)),
        organisation: match (organisations.next(), organisations.next()) {
            (None, _) => Organisation::Any,
            (Some(only), None) => Organisation::Only(only.into_boxed_str()),
            (Some(_), Some(_)) => Organisation::None,
        },
        allowance: merged.root.allowance(),
        access: match merged.rights {
            None => Access::All,
            Some(rights) => {
                let granted = |(api, right): (String, Right)| {
                    let granted = Granted {
                        account: account(&right.scope, accounts),
                        allowance: right.limit.allowance(),
                    };
                    (api.into_boxed_str(), granted)
                };
                Access::Listed(rights.into_iter().map(granted).collect())
            }
        },
    }
}

/// The APIs that a grant opens under these policies; `None`: all.
pub(super) fn opens(grant: &Grant, policies: &Policies) -> Option<Vec<String>> {
    let rights = merge(grant, policies).rights?;
    Some(rights.into_keys().collect())
}

fn account(scope: &str, accounts: &mut Vec<Box<str>>) -> Option<usize> {
    if scope.is_empty() {
        return None;
    }
    let known = accounts.iter().position(|known| **known == *scope);
    Some(known.unwrap_or_else(|| {
        accounts.push(scope.into());
        accounts.len() - 1
    }))
}

#[cfg(test)]
mod tests {
    use super::super::grant::PolicyGrant;
    use super::*;

    #[test]
    fn without_any_list_a_key_opens_everything_unless_a_policy_was_to_say() {
        let open = effective(&Grant::default(), &Policies::new(), &mut Vec::new());
        assert_eq!(
            (open.access, open.organisation),
            (Access::All, Organisation::Any)
        );
        let named = Grant {
            policies: vec!["empty".to_owned()],
            ..Grant::default()
        };
        let policies = [("empty".to_owned(), PolicyGrant::default())].into();
        let closed = effective(&named, &policies, &mut Vec::new());
        assert_eq!(closed.access, Access::Listed(HashMap::new()));
    }

    #[test]
    fn scopes_keep_their_accounts() {
        let mut accounts = vec!["b".into()];
        assert_eq!(account("", &mut accounts), None);
        assert_eq!(account("a", &mut accounts), Some(1));
        assert_eq!(account("b", &mut accounts), Some(0));
        assert_eq!(account("a", &mut accounts), Some(1));
    }
}
