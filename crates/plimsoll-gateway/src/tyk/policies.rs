//! `policies.json`: what keys are granted by name.

use super::{RULES, VALUES, fields};
use crate::keys::grant::{Figures, Grant, Parts, Policies, PolicyGrant, Unapplied};
use crate::keys::lifetime::AfterExpiry;
use crate::keys::session::{self, AccessWire, access};
use crate::keys::tyk_fields::account::{Account, Ignored};
use deserr::Deserr;
use plimsoll_base::document::{
    self, Allowance, Counted, Document, Entries, Path, Problem, Problems,
};

#[derive(Debug, Deserr)]
pub(super) struct Wire {
    #[deserr(default)]
    id: Option<String>,
    #[deserr(default)]
    _id: Option<String>,
    #[deserr(default)]
    org_id: Option<String>,
    #[deserr(default)]
    rate: Option<f64>,
    #[deserr(default)]
    per: Option<f64>,
    #[deserr(default)]
    quota_max: Option<i64>,
    #[deserr(default)]
    quota_renewal_rate: Option<i64>,
    #[deserr(default)]
    throttle_interval: Option<f64>,
    #[deserr(default)]
    throttle_retry_limit: Option<i64>,
    #[deserr(default)]
    max_query_depth: Option<i64>,
    #[deserr(default)]
    access_rights: Option<Entries<AccessWire>>,
    #[deserr(default)]
    is_inactive: Option<bool>,
    #[deserr(default)]
    key_expires_in: Option<i64>,
    #[deserr(default)]
    post_expiry_action: Option<String>,
    #[deserr(default)]
    post_expiry_grace_period: Option<i64>,
    #[deserr(default)]
    partitions: Option<PartitionsWire>,
}

#[derive(Debug, Deserr)]
struct PartitionsWire {
    #[deserr(default)]
    quota: Option<bool>,
    #[deserr(default)]
    rate_limit: Option<bool>,
    #[deserr(default)]
    acl: Option<bool>,
    #[deserr(default)]
    complexity: Option<bool>,
    #[deserr(default)]
    per_api: Option<bool>,
}

/// How a file holds policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An object of policies by their names.
    Named,
    /// One, which names itself.
    Single,
}

/// The policies of a file, and what becomes of its fields.
pub(super) fn read(
    name: &str,
    document: Document,
    form: Form,
) -> Result<(Policies, Account), Problems> {
    /// A policy of a few bytes takes some thousand.
    const COLLECTIONS: Allowance = Allowance {
        any: 6_000,
        bytes_each: 45,
    };
    const POLICIES: Allowance = Allowance {
        any: 6_000,
        bytes_each: 120,
    };
    document.bound(Counted::Entries, POLICIES)?;
    document.bound(Counted::Collections, COLLECTIONS)?;
    document.bound(Counted::Values, VALUES)?;
    let document = fields::spelled(fields::POLICY, document, form == Form::Named)?;
    match form {
        Form::Named => named(name, &document),
        Form::Single => single(name, &document),
    }
}

fn named(file: &str, document: &Document) -> Result<(Policies, Account), Problems> {
    let document::Value::Mapping(entries) = document.root().value() else {
        let message = "policies are a mapping of names to policies: write `{ \"name\": { … } }`";
        return Err(Problem::clone(&document.problem(Path::root(), message)).into());
    };
    let mut problems = Problems::default();
    let mut account = Account {
        name: file.to_owned(),
        supported: 0,
        ignored: Ignored::default(),
    };
    for entry in entries {
        let name = entry.key();
        let at = Path::root().key(name);
        let verdict = fields::judge_below(fields::POLICY, document, &at, entry.node());
        let (refused, own) = verdict.into_parts(file);
        problems.append(refused);
        account.supported += own.supported;
        account.ignored.note_below(name, &own.ignored);
    }
    match document.decode_with::<Entries<Wire>>(RULES) {
        Ok(wires) => {
            let mut policies = Policies::new();
            for (name, wire) in wires.0 {
                let (policy, unfit) = policy(document, &Path::root().key(&name), wire);
                problems.append(unfit);
                policies.insert(name, policy);
            }
            problems.or_ok((policies, account))
        }
        Err(wrong) => {
            problems.append(wrong);
            Err(problems)
        }
    }
}

fn single(file: &str, document: &Document) -> Result<(Policies, Account), Problems> {
    let (mut problems, account) = fields::judge(fields::POLICY, document).into_parts(file);
    let wire: Wire = match document.decode_with(RULES) {
        Ok(wire) => wire,
        Err(wrong) => {
            problems.append(wrong);
            return Err(problems);
        }
    };
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let name = named(&wire.id).or_else(|| named(&wire._id));
    if name.is_none() {
        let message = "a policy in a file of its own names itself: add `id`";
        problems.extend([document.problem(Path::root(), message)]);
    }
    let (policy, unfit) = policy(document, &Path::root(), wire);
    problems.append(unfit);
    problems.or_ok(([(name.unwrap_or_default(), policy)].into(), account))
}

/// The policy that is written at `at`, and what of it could not be held to.
fn policy(document: &Document, at: &Path, wire: Wire) -> (PolicyGrant, Problems) {
    let on = |flag: Option<bool>| flag.unwrap_or(false);
    let action = wire.post_expiry_action.as_deref().unwrap_or("");
    let grace = wire.post_expiry_grace_period.unwrap_or(0);
    let (after_expiry, mut problems) = match session::after_expiry(document, at, action, grace) {
        Ok(after_expiry) => (after_expiry, Problems::default()),
        Err(problems) => (AfterExpiry::Unsaid, problems),
    };
    let partitions = wire.partitions.as_ref();
    let parts = partitions.map_or(Parts::default(), |parts| Parts {
        rate: on(parts.rate_limit),
        quota: on(parts.quota),
        access: on(parts.acl),
        complexity: on(parts.complexity),
    });
    let per_api = partitions.is_some_and(|parts| on(parts.per_api));
    if per_api && parts.is_any() {
        let message = "no key could use this policy: `per_api` stands alone among the partitions";
        problems.extend([document.problem(at.key("partitions").key("per_api"), message)]);
    }
    let grant = Grant {
        inactive: on(wire.is_inactive),
        figures: Figures {
            rate: wire.rate.unwrap_or(0.0),
            per: wire.per.unwrap_or(0.0),
            quota_max: wire.quota_max.unwrap_or(0),
            quota_renewal: wire.quota_renewal_rate.unwrap_or(0),
            unapplied: Unapplied {
                query_depth: wire.max_query_depth.unwrap_or(0),
                throttle_interval: wire.throttle_interval.unwrap_or(0.0),
                throttle_retries: wire.throttle_retry_limit.unwrap_or(0),
            },
        },
        access: access(wire.access_rights),
        policies: Vec::new(),
        organisation: String::new(),
    };
    problems.extend(session::beyond(document, at, &grant));
    let policy = PolicyGrant {
        grant,
        organisation: wire.org_id.unwrap_or_default(),
        parts,
        per_api,
        key_expires_in: u32::try_from(wire.key_expires_in.unwrap_or(0).max(0)).unwrap_or(u32::MAX),
        after_expiry,
    };
    (policy, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_as_many_policies_as_its_length_allows() {
        let policies = |count: usize, policy: &str| {
            let policies = (0..count).map(|number| format!("\"p{number}\":{policy}"));
            let text = format!("{{{}}}", policies.collect::<Vec<_>>().join(",\n"));
            let document = Document::parse_json("policies.json", &text).unwrap();
            let read = read("policies.json", document, Form::Named);
            read.map(|(policies, _)| policies.len())
                .map_err(|problems| problems.to_string())
        };
        let usual = r#"{"name":"a policy of some name","rate":1000,"per":60,"quota_max":-1,"access_rights":{"api":{"api_id":"api","api_name":"the API","versions":["Default"]}},"org_id":"default"}"#;
        assert_eq!(policies(10_000, usual), Ok(10_000));
        let check = |count: usize, policy: &str, counted: &str| {
            let refused = policies(count, policy).unwrap_err();
            assert!(refused.contains(counted), "{refused}");
        };
        check(20_000, "{}", " entries in ");
        let lists = format!("{{\"tags\":[{}[]]}}", "[],".repeat(20_000));
        check(1, &lists, " mappings and lists in ");
    }

    #[test]
    fn limits_that_could_not_be_held_to_are_refused() {
        let told = |policy: &str| {
            let text = format!(r#"{{"p": {policy}}}"#);
            let document = Document::parse_json("policies.json", &text).unwrap();
            let read = read("policies.json", document, Form::Named);
            read.map_or_else(|problems| problems.to_string(), |_| String::new())
        };
        assert_eq!(told(r#"{"rate": 5, "per": 1, "quota_max": -1}"#), "");
        let refused = [
            r#"{"rate": 5}"#,
            r#"{"quota_max": 5000000000}"#,
            r#"{"access_rights": {"a": {"limit": {"rate": 5}}}}"#,
            r#"{"access_rights": {"a": {"limit": {"quota_max": 5000000000}}}}"#,
        ];
        insta::assert_snapshot!(refused.map(told).join("\n"), @r"
        policies.json:1:16: p.rate: a rate needs `per`, its seconds: write for instance `1`
        policies.json:1:21: p.quota_max: at most 4294967295 can be counted: -1 is no quota
        policies.json:1:50: p.access_rights.a.limit.rate: a rate needs `per`, its seconds: write for instance `1`
        policies.json:1:55: p.access_rights.a.limit.quota_max: at most 4294967295 can be counted: -1 is no quota
        ");
    }
}
