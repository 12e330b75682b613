//! An operation's security requirements, as variables that the caller sets.

use super::description::Description;
use super::parameters::Parts;
use crate::commands::import::draft::slug;
use serde_json::Value;

/// Adds what the first alternative of `required` asks for.
pub fn apply(
    description: &Description,
    required: Option<&Value>,
    parts: &mut Parts,
    title: &str,
    notes: &mut Vec<String>,
) {
    let alternatives = required.and_then(Value::as_array);
    let first = alternatives
        .and_then(|all| all.first())
        .and_then(Value::as_object);
    for (name, _) in first.into_iter().flatten() {
        let scheme = description.security_scheme(name);
        let word = |key: &str| {
            scheme
                .and_then(|scheme| scheme.get(key))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let variable = slug(&name.to_ascii_uppercase(), '_');
        let reference = format!("${{env:{variable}}}");
        let field = word("name");
        let what = match (word("type"), word("in"), word("scheme")) {
            ("apiKey", "header", _) => {
                parts.headers.push((field.to_owned(), reference));
                "the key"
            }
            ("apiKey", "query", _) => {
                parts.query.push(format!("{field}={reference}"));
                "the key"
            }
            ("apiKey", "cookie", _) => {
                parts.cookies.push(format!("{field}={reference}"));
                "the key"
            }
            ("http", _, scheme) if scheme.eq_ignore_ascii_case("basic") => {
                parts
                    .headers
                    .push(("Authorization".to_owned(), format!("Basic {reference}")));
                "base64 of user:password"
            }
            ("http" | "oauth2" | "openIdConnect", _, _) => {
                parts
                    .headers
                    .push(("Authorization".to_owned(), format!("Bearer {reference}")));
                "the token"
            }
            (kind, _, _) => {
                notes.push(format!(
                    "{title}: its security `{name}` ({kind}) is not carried over"
                ));
                continue;
            }
        };
        let note = format!(
            "set {variable} to {what} that `{name}` asks for, before validating or running"
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}
