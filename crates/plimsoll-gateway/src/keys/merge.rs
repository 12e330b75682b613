//! A session and the policies that it names, merged API by API as Tyk merges them.
//!
//! ```text
//! session ──cleared where a policy has a say──► root: rate and quota of what says none itself
//! policies, in the session's order ───────────► rights: of each API a limit, and the scope in which it is counted
//! ```
//!
//! Source: Tyk 5.15, `internal/policy/apply.go` (`Service.Apply`) and `gateway/session_manager.go`
//! (`GetAccessDefinitionByAPIIDOrSession`). Where it differs: an inactive key stays inactive whatever its policies say.

use super::grant::{Figures, Grant, Parts, Policies, PolicyGrant};
use std::collections::{BTreeMap, BTreeSet};

/// Rights of a key.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Merged {
    pub(super) inactive: bool,
    /// Of the policies that count. The key opens APIs of this one alone; of several none.
    pub(super) organisations: BTreeSet<String>,
    /// Figures where an API states none.
    pub(super) root: Figures,
    /// `None`: every API.
    pub(super) rights: Option<BTreeMap<String, Right>>,
}

/// Right to one API.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Right {
    pub(super) limit: Figures,
    /// APIs of one scope are counted together; empty: with all that have none.
    pub(super) scope: String,
    /// Which policy, or API, the limit is from.
    set_by: String,
    did: Parts,
}

impl Merged {
    /// A key that opens nothing.
    fn closed(self) -> Self {
        Self {
            rights: Some(BTreeMap::new()),
            ..self
        }
    }
}

/// Rights by a grant and the policies in force.
pub(super) fn merge(grant: &Grant, policies: &Policies) -> Merged {
    if grant.policies.is_empty() {
        return by_session(grant);
    }
    let mut merging = Merging {
        merged: Merged {
            inactive: grant.inactive,
            root: cleared(grant, policies),
            ..Merged::default()
        },
        rights: BTreeMap::new(),
        did_per_api: false,
        did_partition: false,
    };
    for name in &grant.policies {
        let Some(policy) = grant.policy(name, policies) else {
            // One among others is passed over.
            match grant.policies.len() {
                1 => return merging.merged.closed(),
                _ => continue,
            }
        };
        if !merging.apply(name, policy) {
            return merging.merged.closed();
        }
    }
    merging.finish()
}

/// Without policies an API's own limit holds, and is counted for itself.
fn by_session(grant: &Grant) -> Merged {
    let right = |(api, access): &(String, super::grant::ApiGrant)| {
        let right = match access.says_limit {
            true => Right {
                limit: access.limit,
                scope: api.clone(),
                ..Right::default()
            },
            false => Right {
                limit: grant.figures,
                scope: access.scope.clone(),
                ..Right::default()
            },
        };
        (api.clone(), right)
    };
    let is_open = grant.access.is_empty();
    Merged {
        inactive: grant.inactive,
        organisations: BTreeSet::new(),
        root: grant.figures,
        rights: (!is_open).then(|| grant.access.iter().map(right).collect()),
    }
}

/// The session's own figures but for those that a policy has a say in. One that there is not ends it.
fn cleared(grant: &Grant, policies: &Policies) -> Figures {
    let mut root = grant.figures;
    for name in &grant.policies {
        let Some(policy) = grant.policy(name, policies) else {
            break;
        };
        let all = !policy.parts.is_any();
        if policy.parts.quota || all {
            root.quota_max = 0;
        }
        if policy.parts.rate || all {
            (root.rate, root.per) = (0.0, 0.0);
            set_throttle(&mut root, Figures::default());
        }
        if policy.parts.complexity || all {
            root.unapplied.query_depth = 0;
        }
    }
    root
}

struct Merging {
    merged: Merged,
    rights: BTreeMap<String, Right>,
    did_per_api: bool,
    /// Whether the last policy that is not per API was one of parts.
    did_partition: bool,
}

impl Merging {
    /// Whether the policy can be applied beside those before it.
    fn apply(&mut self, name: &str, policy: &PolicyGrant) -> bool {
        self.merged.inactive |= policy.grant.inactive;
        let organisation = policy.organisation.clone();
        self.merged.organisations.insert(organisation);
        let by_parts = policy.parts.is_any();
        if policy.per_api {
            if by_parts || self.did_partition {
                return false;
            }
            self.per_api(name, policy);
        } else {
            if by_parts && self.did_per_api {
                return false;
            }
            self.by_parts(name, policy);
            self.did_partition = by_parts;
        }
        true
    }

    fn per_api(&mut self, name: &str, policy: &PolicyGrant) {
        for (api, access) in &policy.grant.access {
            let (limit, scope) = match access.says_limit {
                true => (access.limit, api),
                // Once for all its APIs that say none.
                false => (policy.grant.figures, &name.to_owned()),
            };
            let own = Right {
                limit,
                scope: scope.clone(),
                set_by: scope.clone(),
                did: Parts::ALL,
            };
            let right = match self.rights.get(api) {
                Some(before) => more_generous(own, before),
                None => own,
            };
            self.rights.insert(api.clone(), right);
            self.did_per_api = true;
        }
    }

    fn by_parts(&mut self, name: &str, policy: &PolicyGrant) {
        let all = !policy.parts.is_any();
        let says = |part: bool| part || all;
        let theirs = policy.grant.figures;
        let root = &mut self.merged.root;
        for (api, _) in &policy.grant.access {
            let right = self.rights.entry(api.clone()).or_default();
            if says(policy.parts.access) {
                right.did.access = true;
                name.clone_into(&mut right.set_by);
            }
            if says(policy.parts.quota) {
                right.did.quota = true;
                raise_quota(&mut right.limit, root, theirs);
            }
            if says(policy.parts.rate) {
                right.did.rate = true;
                raise_rate(&mut right.limit, theirs);
                raise_rate(root, theirs);
                raise_throttle(&mut right.limit, root, theirs);
            }
            if says(policy.parts.complexity) {
                right.did.complexity = true;
                raise_depth(&mut right.limit, root, theirs);
            }
        }
        if policy.grant.access.is_empty() {
            if says(policy.parts.rate) {
                (root.rate, root.per) = (theirs.rate, theirs.per);
                set_throttle(root, theirs);
            }
            if says(policy.parts.complexity) {
                root.unapplied.query_depth = theirs.unapplied.query_depth;
            }
            if says(policy.parts.quota) {
                (root.quota_max, root.quota_renewal) = (theirs.quota_max, theirs.quota_renewal);
            }
        }
    }

    fn finish(self) -> Merged {
        let Self {
            mut merged, rights, ..
        } = self;
        let count = |did: fn(&Parts) -> bool| rights.values().filter(|r| did(&r.did)).count();
        let alone = count(|did| did.quota) == 1
            && count(|did| did.rate) == 1
            && count(|did| did.complexity) == 1;
        let setters = rights.values().map(|right| &*right.set_by);
        let setters: BTreeSet<&str> = setters.filter(|setter| !setter.is_empty()).collect();
        let apart = setters.len() > 1;
        let mut open = rights.clone();
        open.retain(|_, right| right.did.access);
        for right in open.values_mut() {
            if !right.did.rate {
                (right.limit.rate, right.limit.per) = (merged.root.rate, merged.root.per);
                set_throttle(&mut right.limit, merged.root);
            }
            if !right.did.complexity {
                right.limit.unapplied.query_depth = merged.root.unapplied.query_depth;
            }
            if !right.did.quota {
                right.limit.quota_max = merged.root.quota_max;
                right.limit.quota_renewal = merged.root.quota_renewal;
            }
            if apart && right.scope.is_empty() {
                right.scope.clone_from(&right.set_by);
            }
        }
        if alone && let Some(right) = open.values().next_back() {
            merged.root = right.limit;
        }
        for right in open.values_mut() {
            if right.limit == Figures::default() {
                right.limit = merged.root;
            }
        }
        merged.rights = Some(open);
        merged
    }
}

/// A larger quota, and a longer period, each for itself.
fn raise_quota(limit: &mut Figures, root: &mut Figures, theirs: Figures) {
    if is_larger(theirs.quota_max, limit.quota_max) {
        limit.quota_max = theirs.quota_max;
        if is_larger(theirs.quota_max, root.quota_max) {
            root.quota_max = theirs.quota_max;
        }
    }
    if theirs.quota_renewal > limit.quota_renewal {
        limit.quota_renewal = theirs.quota_renewal;
        root.quota_renewal = root.quota_renewal.max(theirs.quota_renewal);
    }
}

/// A rate that says something takes the place of none, and of a slower one.
fn raise_rate(limit: &mut Figures, theirs: Figures) {
    let says = |figures: Figures| figures.rate != 0.0 && figures.per != 0.0;
    if says(theirs) && (!says(*limit) || interval(*limit) > interval(theirs)) {
        (limit.rate, limit.per) = (theirs.rate, theirs.per);
    }
}

/// A longer interval, and more tries, each for itself.
fn raise_throttle(limit: &mut Figures, root: &mut Figures, theirs: Figures) {
    let theirs = theirs.unapplied;
    if theirs.throttle_retries > limit.unapplied.throttle_retries {
        limit.unapplied.throttle_retries = theirs.throttle_retries;
        let root = &mut root.unapplied.throttle_retries;
        *root = theirs.throttle_retries.max(*root);
    }
    if theirs.throttle_interval > limit.unapplied.throttle_interval {
        limit.unapplied.throttle_interval = theirs.throttle_interval;
        let root = &mut root.unapplied.throttle_interval;
        *root = theirs.throttle_interval.max(*root);
    }
}

fn set_throttle(figures: &mut Figures, other: Figures) {
    figures.unapplied.throttle_interval = other.unapplied.throttle_interval;
    figures.unapplied.throttle_retries = other.unapplied.throttle_retries;
}

/// A larger depth of queries.
fn raise_depth(limit: &mut Figures, root: &mut Figures, theirs: Figures) {
    let depth = theirs.unapplied.query_depth;
    if is_larger(depth, limit.unapplied.query_depth) {
        limit.unapplied.query_depth = depth;
        if is_larger(depth, root.unapplied.query_depth) {
            root.unapplied.query_depth = depth;
        }
    }
}

/// Of two policies per API, what is more generous in each.
fn more_generous(mut own: Right, before: &Right) -> Right {
    let mut is_theirs = false;
    if interval(own.limit) > interval(before.limit) {
        (own.limit.rate, own.limit.per) = (before.limit.rate, before.limit.per);
        is_theirs = true;
    }
    let quota = before.limit.quota_max;
    if quota != own.limit.quota_max && is_larger(quota, own.limit.quota_max) {
        own.limit.quota_max = quota;
        is_theirs = true;
    }
    if is_larger(before.limit.quota_renewal, own.limit.quota_renewal) {
        own.limit.quota_renewal = before.limit.quota_renewal;
    }
    if own.limit.quota_max == -1 {
        own.limit.quota_renewal = 0;
    }
    if is_theirs {
        own.set_by.clone_from(&before.set_by);
        own.scope.clone_from(&before.scope);
    }
    own
}

/// Nanoseconds from one request to the next; 0: no limit is said.
fn interval(figures: Figures) -> u64 {
    if figures.per <= 0.0 || figures.rate <= 0.0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; the cast saturates"
    )]
    let nanos = (1e9 * figures.per / figures.rate) as u64;
    nanos
}

/// -1 is the largest.
fn is_larger(one: i64, other: i64) -> bool {
    one == -1 || (other != -1 && one > other)
}

#[cfg(test)]
mod tests;
