//! Which of Tyk's files a file is, by what stands in it.

use crate::keys::tyk_fields::folded;
use plimsoll_base::document::{Document, Entry, Node, Value};

/// A sort of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TykFile {
    /// `tyk.conf`, which says where the others are.
    Conf,
    /// A classic API definition.
    Definition,
    /// Policies by their names, as in `policies.json`.
    Policies,
    /// One policy, as in a directory of them.
    Policy,
    /// An OpenAPI description with Tyk's extension, which is not read.
    OpenApi,
}

impl TykFile {
    /// Which one this is, if it is one.
    #[must_use]
    pub fn of(document: &Document) -> Option<Self> {
        let Value::Mapping(fields) = document.root().value() else {
            return None;
        };
        let listens = |proxy: &Node| matches!(proxy.value(), Value::Mapping(proxy) if has(proxy, "listen_path"));
        let is_policy = |fields: &[Entry]| {
            ["access_rights", "partitions", "quota_max"]
                .into_iter()
                .any(|name| has(fields, name))
        };
        let are_policies = |entry: &Entry| matches!(entry.node().value(), Value::Mapping(fields) if is_policy(fields));
        if has(fields, "app_path") {
            Some(Self::Conf)
        } else if get(fields, "proxy").is_some_and(listens) {
            Some(Self::Definition)
        } else if fields.iter().any(|field| field.key().starts_with("x-tyk-")) {
            Some(Self::OpenApi)
        } else if is_policy(fields) {
            Some(Self::Policy)
        } else if !fields.is_empty() && fields.iter().all(are_policies) {
            Some(Self::Policies)
        } else {
            None
        }
    }
}

fn has(fields: &[Entry], name: &str) -> bool {
    get(fields, name).is_some()
}

/// The field that Go would take for this one.
fn get<'a>(fields: &'a [Entry], name: &str) -> Option<&'a Node> {
    // All but a few are ASCII, and then folding is comparing without regard to case.
    let is = |key: &str| match key.is_ascii() {
        true => key.eq_ignore_ascii_case(name),
        false => folded(key) == name,
    };
    let found = fields.iter().find(|field| is(field.key()))?;
    Some(found.node())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_what_stands_in_them() {
        let check = |text: &str, expected: Option<TykFile>| {
            let document = Document::parse_json("file", text).unwrap();
            assert_eq!(TykFile::of(&document), expected, "{text}");
        };
        check(
            r#"{"secret": "s", "App_Path": "apps"}"#,
            Some(TykFile::Conf),
        );
        check(
            r#"{"PROXY": {"listen_path": "/"}}"#,
            Some(TykFile::Definition),
        );
        check(r#"{"proxy": {}}"#, None);
        check(
            r#"{"gold": {"rate": 1, "access_rights": {}}, "b": {"quota_max": 1}}"#,
            Some(TykFile::Policies),
        );
        check(
            r#"{"id": "p", "access_rights": {"a": {}}}"#,
            Some(TykFile::Policy),
        );
        check(
            r#"{"openapi": "3.0.3", "x-tyk-api-gateway": {}}"#,
            Some(TykFile::OpenApi),
        );
        check(r#"{"routes": []}"#, None);
        check("{}", None);
        check("[]", None);
    }
}
