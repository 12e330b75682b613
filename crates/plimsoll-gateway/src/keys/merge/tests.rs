//! Policies merge as in Tyk: cases of its own tests, and cases that were drawn and merged by it.

use super::*;
use crate::keys::grant::{ApiGrant, Unapplied};

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
const TABLE: &str = include_str!("../../../tests/tyk_merge/table.txt");

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
