//! `docs/tyk.md`: the list as a page, and proof that what it calls supported is read. `UPDATE=1 cargo test -p plimsoll-gateway --lib tyk`
//! writes it.

use crate::keys::tyk_fields::{CONF, Class, DEFINITION, Field, Kind, POLICY, SESSION};
use std::fmt::Write as _;

const INTRODUCTION: &str = "# Tyk, field by field

What `plimsoll gateway --tyk tyk.standalone.conf` makes of every field of Tyk's files, and of sessions that its control API takes. Generated from the gateway's own list, by which it judges
files: a test holds this page to it (`UPDATE=1 cargo test -p plimsoll-gateway --lib tyk` writes it anew) and shows that each supported field is read.

**Supported**: it means what it means to Tyk, but for what is said beside it. **Ignored**: it cannot change who gets in or what is sent;
those that a file sets are named at start and at each reload. **Refused**: it restricts access or changes content and is not supported, so a
file that sets it is refused, with its place. A field at nothing (`false`, `0`, `\"\"`, `[]`, `{}`, `null`) says nothing and is accepted in
every class; a field that is not listed is refused if it says anything. `*` stands for any name or place.
";

/// Results of Tyk's own files when they were last read.
const PUBLIC_FILES: &str = "
## Tyk's own files

Of the classic API definitions and `tyk*.conf` in Tyk's public repository (tag v5.15.0-alpha14; those of v5.14.0 and v5.15.0-rc7 are the
same) 56 of 93 load: 53 of 84 definitions, 3 of 9 configurations. Why the others are refused, by the number of files and of those for this
reason alone:

| reason | files | alone | what to write instead |
|---|---|---|---|
| `custom_middleware.post` | 6 | 6 | what the code does as rules; it would run in Tyk |
| `use_oauth2` | 4 | 4 | `use_standard_auth`, or `enable_jwt` with the key of the one who issues |
| `extended_paths.validate_json` | 4 | 2 | nothing here: bodies are passed on unread |
| `graphql.enabled` | 3 | 3 | plain HTTP with rules for its path |
| not JSON (a template, a comma too many) | 3 | 3 | Tyk does not read them either |
| `custom_middleware_bundle` | 2 | 2 | as for code |
| `is_oas`, with what belongs to it | 2 | 0 | a classic definition |
| `proxy.target_url` with `tyk://` | 2 | 2 | the URL of what that API leads to |
| `use_basic_auth` | 2 | 2 | keys |
| several versions | 2 | 0 | a definition for each |
| `policy_source`, `use_rpc`, `auth_override`, `analytics_config.type` of a hybrid gateway | 1 | 0 | files |
| `error_overrides` with `template` | 1 | 0 | the text as `body` |
| `cache_all_safe_requests`, `check_host_against_uptime_tests`, `enforce_org_quotas`, `url_rewrites` | 1 each | 1 each | see the tables |
| `use_standard_auth` beside `enable_jwt`; bodies, variables and `jq` in headers | 1 each | 0 | one way; fixed values |

`plimsoll-calibration --only tyk-files --tyk CHECKOUT` counts them again; at Tyk's commit 31e219be it found the same
([table](../calibration/results/2026-11-29T212508Z.md)).
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for kind in [CONF, DEFINITION, POLICY, SESSION] {
        let of = |class: fn(&Class) -> bool| kind.fields().filter(|field| class(&field.1)).count();
        let name = kind.name.trim_start_matches("an ").trim_start_matches("a ");
        let first = match name.contains('.') {
            true => name[..1].to_owned(),
            false => name[..1].to_uppercase(),
        };
        writeln!(
            page,
            "\n## {first}{}\n\n{} fields: {} supported, {} ignored, {} refused.\n\n| field | here | |\n|---|---|---|",
            &name[1..],
            kind.fields().count(),
            of(|class| *class == Class::Supported),
            of(|class| *class == Class::Ignored),
            of(|class| matches!(class, Class::Refused(_))),
        )
        .unwrap();
        for field in kind.fields() {
            row(&mut page, &field);
        }
    }
    page += PUBLIC_FILES;
    page
}

fn row(page: &mut String, Field(path, class, note): &Field) {
    let (word, harmless) = match class {
        Class::Supported => ("supported", String::new()),
        Class::Ignored => ("ignored", String::new()),
        Class::Refused(None) => ("**refused**", String::new()),
        Class::Refused(Some(value)) => ("**refused**", format!("; accepted: `{value}`")),
    };
    writeln!(page, "| `{path}` | {word} | {note}{harmless} |").unwrap();
}

#[test]
fn the_page_is_what_the_gateway_does() {
    let here = env!("CARGO_MANIFEST_DIR");
    plimsoll_testbed::committed::check(here, "../../docs/tyk.md", &page());
}

/// A document in which only the field at `path` is there, with a value that no field has.
fn with_nonsense(path: &str) -> String {
    let names: Vec<&str> = path.split('.').collect();
    let nonsense = serde_json::json!([[[{ "nonsense": true }]]]);
    let whole = (0..names.len()).rev().fold(nonsense, |inner, index| {
        let above = index.checked_sub(1).map(|above| names[above]);
        match (names[index], above) {
            ("*", Some("versions" | "access_rights" | "error_overrides")) => {
                serde_json::json!({ "x": inner })
            }
            ("*", _) => serde_json::json!([inner]),
            (name, _) => serde_json::json!({ name: inner }),
        }
    });
    whole.to_string()
}

/// Whether reading a file of this kind stumbles over nonsense at `path`.
fn reads(kind: &Kind, path: &str) -> bool {
    let name = path.rsplit('.').find(|name| *name != "*").unwrap();
    super::decode_errors(kind, &with_nonsense(path)).contains(name)
}

#[test]
fn what_is_called_supported_is_read() {
    for kind in [CONF, DEFINITION, POLICY, SESSION] {
        for Field(path, class, _) in kind.fields() {
            if class == Class::Supported {
                assert!(reads(kind, path), "{} does not read `{path}`", kind.name);
            }
        }
    }
}
