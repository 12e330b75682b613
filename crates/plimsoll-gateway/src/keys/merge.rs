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
mod tests {
    use super::super::grant::{ApiGrant, Unapplied};
    use super::*;

    fn figures(rate: f64, quota_max: i64) -> Figures {
        Figures {
            rate,
            per: if rate == 0.0 { 0.0 } else { 1.0 },
            quota_max,
            quota_renewal: if quota_max == 0 { 0 } else { 60 },
            unapplied: UNSAID,
        }
    }

    fn apis(apis: &[(&str, Figures)]) -> Vec<(String, ApiGrant)> {
        let grant = |(api, limit): &(&str, Figures)| {
            let grant = ApiGrant {
                limit: *limit,
                says_limit: *limit != Figures::default(),
                scope: String::new(),
            };
            ((*api).to_owned(), grant)
        };
        apis.iter().map(grant).collect()
    }

    const NONE: Figures = Figures {
        rate: 0.0,
        per: 0.0,
        quota_max: 0,
        quota_renewal: 0,
        unapplied: UNSAID,
    };
    const UNSAID: Unapplied = Unapplied {
        query_depth: 0,
        throttle_interval: 0.0,
        throttle_retries: 0,
    };

    /// `parts`: letters of rate, quota, access, complexity, and `p` for per API.
    fn policy(figures: Figures, access: &[(&str, Figures)], parts: &str) -> PolicyGrant {
        PolicyGrant {
            grant: Grant {
                figures,
                access: apis(access),
                ..Grant::default()
            },
            organisation: "o".to_owned(),
            parts: Parts {
                rate: parts.contains('r'),
                quota: parts.contains('q'),
                access: parts.contains('a'),
                complexity: parts.contains('c'),
            },
            per_api: parts.contains('p'),
            ..PolicyGrant::default()
        }
    }

    /// Each API with rate, quota, and the scope that it is counted in.
    fn merged(policies: &[PolicyGrant], names: &[&str]) -> String {
        let policies = policies.iter().cloned().enumerate();
        let policies: Policies = policies
            .map(|(index, policy)| (format!("p{}", index + 1), policy))
            .collect();
        let grant = Grant {
            figures: figures(2.0, 3),
            access: apis(&[("own", NONE), ("limited", figures(7.0, 0))]),
            policies: names.iter().map(|&name| name.to_owned()).collect(),
            ..Grant::default()
        };
        let rights = merge(&grant, &policies).rights.expect("some are listed");
        let line = |(api, right): (String, Right)| {
            let Figures {
                rate, quota_max, ..
            } = right.limit;
            format!("{api} {rate}/s {quota_max} `{}`", right.scope)
        };
        rights.into_iter().map(line).collect::<Vec<_>>().join(", ")
    }

    /// The cases are those of Tyk's own tests by what they are about (`internal/policy/apply_test.go`), and of its code.
    #[test]
    fn policies_merge_as_in_tyk() {
        let check = |policies: &[PolicyGrant], names: &[&str], expected: &str| {
            assert_eq!(
                merged(policies, names),
                expected,
                "{names:?} of {policies:#?}"
            );
        };
        let full = |rate, quota, apis: &[&str]| {
            let access: Vec<_> = apis.iter().map(|&api| (api, NONE)).collect();
            policy(figures(rate, quota), &access, "")
        };
        check(&[], &[], "limited 7/s 0 `limited`, own 2/s 3 ``");
        check(&[full(1.0, 10, &["a"])], &["p1"], "a 1/s 10 ``");
        // The limit of an API is not read without `per_api`.
        let limited = policy(figures(1.0, 10), &[("a", figures(99.0, 99))], "");
        check(&[limited], &["p1"], "a 1/s 10 ``");
        // With it the policy's own holds where an API says none, for all of those together.
        let per_api = |own| {
            policy(
                figures(1.0, 10),
                &[("a", NONE), ("b", own), ("c", NONE)],
                "p",
            )
        };
        check(
            &[per_api(figures(5.0, 50))],
            &["p1"],
            "a 1/s 10 `p1`, b 5/s 50 `b`, c 1/s 10 `p1`",
        );
        // Of several: API by API.
        let slow_and_fast = [full(1.0, 10, &["a", "b"]), full(9.0, -1, &["b", "c"])];
        let both = "a 1/s 10 `p1`, b 9/s -1 `p2`, c 9/s -1 `p2`";
        check(&slow_and_fast, &["p1", "p2"], both);
        let both = "a 1/s 10 `p1`, b 9/s -1 `p1`, c 9/s -1 `p2`";
        check(&slow_and_fast, &["p2", "p1"], both);
        // 0 says nothing: it does not raise a quota.
        let none_and_some = [full(0.0, 0, &["a"]), full(4.0, 8, &["a"])];
        check(&none_and_some, &["p1", "p2"], "a 4/s 8 ``");
        check(&none_and_some, &["p2", "p1"], "a 4/s 8 ``");
        // Parts.
        let rate = policy(figures(5.0, 7), &[("a", NONE)], "r");
        let acl = policy(figures(6.0, 8), &[("a", NONE), ("b", NONE)], "a");
        check(
            &[rate.clone(), acl.clone()],
            &["p1", "p2"],
            "a 5/s 3 ``, b 5/s 3 ``",
        );
        check(std::slice::from_ref(&rate), &["p1"], "");
        check(&[acl], &["p1"], "a 2/s 3 ``, b 2/s 3 ``");
        let complexity = policy(figures(6.0, 8), &[("a", NONE)], "c");
        check(
            &[complexity, full(1.0, 10, &["a"])],
            &["p1", "p2"],
            "a 1/s 10 ``",
        );
        // What does not go together closes the key.
        check(&[per_api(NONE), rate.clone()], &["p1", "p2"], "");
        check(&[rate, per_api(NONE)], &["p1", "p2"], "");
        check(&[policy(NONE, &[("a", NONE)], "pq")], &["p1"], "");
        // Several per API.
        let faster = policy(figures(9.0, 5), &[("a", NONE)], "p");
        let two = [per_api(figures(5.0, 50)), faster];
        let both = "a 9/s 10 `p1`, b 5/s 50 `b`, c 1/s 10 `p1`";
        check(&two, &["p1", "p2"], both);
        // One that is not there is passed over beside others.
        check(&[full(1.0, 10, &["a"])], &["gone", "p1"], "a 1/s 10 ``");
        check(&[full(1.0, 10, &["a"])], &["gone"], "");
        // Without access of its own a policy opens nothing.
        check(&[full(1.0, 10, &[])], &["p1"], "");
        check(
            &[full(1.0, 10, &[]), full(0.0, 0, &["a"])],
            &["p1", "p2"],
            "a 0/s 0 ``",
        );
    }

    #[test]
    fn organisations_and_inactive_policies_are_remembered() {
        let mut one = policy(NONE, &[("a", NONE)], "");
        let other = PolicyGrant {
            organisation: "x".to_owned(),
            ..one.clone()
        };
        one.grant.inactive = true;
        let policies: Policies = [("one".to_owned(), one), ("other".to_owned(), other)].into();
        let merged = |names: &[&str], inactive: bool| {
            let grant = Grant {
                policies: names.iter().map(|&name| name.to_owned()).collect(),
                inactive,
                ..Grant::default()
            };
            let merged = merge(&grant, &policies);
            (
                merged.inactive,
                merged
                    .organisations
                    .into_iter()
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        assert_eq!(merged(&["one", "other"], false), (true, "o x".to_owned()));
        assert_eq!(merged(&["other"], false), (false, "x".to_owned()));
        assert_eq!(merged(&["other"], true), (true, "x".to_owned()));
        assert_eq!(merged(&[], true), (true, String::new()));
        let own = Grant {
            policies: vec!["one".to_owned(), "other".to_owned()],
            organisation: "x".to_owned(),
            ..Grant::default()
        };
        let own = merge(&own, &policies);
        assert_eq!(own.organisations, ["x".to_owned()].into());
    }

    /// Results of Tyk's own merging for policies, sessions and keys drawn at random; the table says how it is read.
    const TABLE: &str = include_str!("../../tests/tyk_merge/table.txt");

    /// `rate/per/quota/renewal`, and in some `/depth/interval/retries`.
    fn read_figures(text: &str) -> Figures {
        let parts: Vec<&str> = text.split('/').collect();
        let (&[rate, per, quota_max, quota_renewal], rest) =
            parts.split_first_chunk().expect("four figures");
        Figures {
            rate: rate.parse().unwrap(),
            per: per.parse().unwrap(),
            quota_max: quota_max.parse().unwrap(),
            quota_renewal: quota_renewal.parse().unwrap(),
            unapplied: match *rest {
                [depth, interval, retries] => Unapplied {
                    query_depth: depth.parse().unwrap(),
                    throttle_interval: interval.parse().unwrap(),
                    throttle_retries: retries.parse().unwrap(),
                },
                _ => UNSAID,
            },
        }
    }

    /// `api`, `api:figures`, either with `@scope`.
    fn read_api(text: &str) -> (String, ApiGrant) {
        let (rest, scope) = text.split_once('@').unwrap_or((text, ""));
        let (api, limit) = rest.split_once(':').unwrap_or((rest, "0/0/0/0"));
        let limit = read_figures(limit);
        let grant = ApiGrant {
            limit,
            says_limit: limit != Figures::default(),
            scope: scope.to_owned(),
        };
        (api.to_owned(), grant)
    }

    fn read_grant<'a>(mut words: impl Iterator<Item = &'a str>) -> Grant {
        Grant {
            figures: read_figures(words.next().expect("figures")),
            access: words.map(read_api).collect(),
            ..Grant::default()
        }
    }

    fn written(rights: Option<BTreeMap<String, Right>>, root: Figures) -> String {
        let line = |api: &str, limit: Figures, scope: &str| {
            let at = if scope.is_empty() { "" } else { "@" };
            let Figures {
                rate,
                per,
                quota_max,
                quota_renewal,
                ..
            } = limit;
            format!("{api}:{rate}/{per}/{quota_max}/{quota_renewal}{at}{scope}")
        };
        let lines: Vec<String> = match rights {
            None => ["a", "b", "c"].map(|api| line(api, root, "")).to_vec(),
            Some(rights) if rights.is_empty() => return "refused".to_owned(),
            Some(rights) => rights
                .iter()
                .map(|(api, right)| line(api, right.limit, &right.scope))
                .collect(),
        };
        lines.join(" ")
    }

    #[test]
    fn policies_drawn_at_random_merge_as_in_tyk() {
        let (mut policies, mut sessions) = (Policies::new(), BTreeMap::new());
        let (mut cases, mut different) = (0, Vec::new());
        for text in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut words = text.split_whitespace();
            match words.next().expect("a word") {
                "policy" => {
                    let name = words.next().expect("a name");
                    let parts = words.next().expect("parts");
                    let policy = PolicyGrant {
                        grant: read_grant(words),
                        ..policy(NONE, &[], parts)
                    };
                    policies.insert(name.to_owned(), policy);
                }
                "session" => {
                    let name = words.next().expect("a name");
                    sessions.insert(name, read_grant(words));
                }
                session => {
                    let (key, expected) = text.split_once(" = ").expect("a result");
                    let grant = Grant {
                        policies: key.split(' ').skip(1).map(str::to_owned).collect(),
                        ..sessions[session].clone()
                    };
                    let merged = merge(&grant, &policies);
                    let actual = written(merged.rights, merged.root);
                    if actual != expected {
                        different.push(format!("{text}\n  we: {actual}"));
                    }
                    cases += 1;
                }
            }
        }
        assert!(cases > 2000, "{cases} cases");
        let count = different.len();
        let some = different[..count.min(9)].join("\n");
        assert!(count == 0, "{count} of {cases} differ:\n{some}");
    }
}
