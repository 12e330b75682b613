//! `policies.json`: what keys are granted by name.

use super::fields;
use super::notes::Account;
use crate::keys::session::{self, AccessWire, access};
use crate::keys::terms::{Figures, Grant, Parts, Policies, PolicyGrant};
use deserr::Deserr;
use plimsoll_base::document::{Document, Entries, Nulls, Path, Problem, Problems, Rules};
use serde_json::Value;

#[derive(Debug, Deserr)]
pub(super) struct Wire {
    #[deserr(default)]
    rate: Option<f64>,
    #[deserr(default)]
    per: Option<f64>,
    #[deserr(default)]
    quota_max: Option<i64>,
    #[deserr(default)]
    quota_renewal_rate: Option<i64>,
    #[deserr(default)]
    access_rights: Option<Entries<AccessWire>>,
    #[deserr(default)]
    is_inactive: Option<bool>,
    #[deserr(default)]
    key_expires_in: Option<i64>,
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
    per_api: Option<bool>,
}

/// The policies of the file called `file`, and what becomes of its fields.
pub(super) fn read(file: &str, document: &Document) -> Result<(Policies, Account), Problems> {
    let Value::Object(entries) = document.to_json() else {
        let message = "policies are a mapping of names to policies: write `{ \"name\": { … } }`";
        return Err(Problem::clone(&document.problem(Path::root(), message)).into());
    };
    let mut problems = Problems::default();
    let mut account = Account {
        name: file.to_owned(),
        supported: 0,
        ignored: Vec::new(),
    };
    for (name, value) in &entries {
        let at = Path::root().key(name);
        let verdict = fields::judge_below(fields::POLICY, document, &at, value);
        let (refused, own) = verdict.into_parts(file);
        problems.extend(refused);
        account.supported += own.supported;
        let ignored = own.ignored.iter();
        (account.ignored).extend(ignored.map(|path| format!("{name}.{path}")));
    }
    let rules = Rules {
        nulls: Nulls::Allowed,
        ..Rules::default()
    };
    match document.decode_with::<Entries<Wire>>(rules) {
        Ok(wires) => {
            let policies = wires.0.into_iter().map(|(name, wire)| (name, policy(wire)));
            let policies: Policies = policies.collect();
            for (name, policy) in &policies {
                let at = Path::root().key(name);
                problems.extend(session::beyond(document, &at, &policy.grant));
            }
            problems.or_ok((policies, account))
        }
        Err(wrong) => {
            problems.extend(wrong);
            Err(problems)
        }
    }
}

fn policy(wire: Wire) -> PolicyGrant {
    let on = |flag: Option<bool>| flag.unwrap_or(false);
    let parts = wire.partitions.as_ref().map_or([false; 3], |parts| {
        let access = on(parts.acl) || on(parts.per_api);
        [on(parts.rate_limit), on(parts.quota), access]
    });
    let parts = if parts == [false; 3] {
        [true; 3]
    } else {
        parts
    };
    PolicyGrant {
        grant: Grant {
            inactive: on(wire.is_inactive),
            figures: Figures {
                rate: wire.rate.unwrap_or(0.0),
                per: wire.per.unwrap_or(0.0),
                quota_max: wire.quota_max.unwrap_or(0),
                quota_renewal: wire.quota_renewal_rate.unwrap_or(0),
            },
            access: access(wire.access_rights),
            policies: Vec::new(),
        },
        parts: Parts {
            rate: parts[0],
            quota: parts[1],
            access: parts[2],
        },
        key_expires_in: u32::try_from(wire.key_expires_in.unwrap_or(0).max(0)).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_could_not_be_held_to_are_refused() {
        let told = |policy: &str| {
            let text = format!(r#"{{"p": {policy}}}"#);
            let document = Document::parse_json("policies.json", &text).unwrap();
            let read = read("policies.json", &document);
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
