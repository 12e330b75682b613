//! A pattern in WireMock's words: taken from the document that it was read from.

use crate::document::xml::{Document, ItemId, print};
use crate::java;
use crate::matcher::Matcher;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

/// Words of a content pattern.
pub(super) struct Wish {
    pub(super) operator: String,
    pub(super) text: String,
}

impl Wish {
    /// Words of a pattern. Patterns that compare for equality have no operator but `plain`.
    pub(super) fn of(pattern: &Value, plain: &str) -> Self {
        let (name, operand) = operator_of(pattern);
        let operator = match name {
            "equalTo" | "equalToJson" | "equalToXml" | "binaryEqualTo" => plain.to_owned(),
            name => format!(" [{name}] "),
        };
        Self {
            operator,
            text: operand_text(name, operand),
        }
    }

    /// The credentials that a pattern asks for.
    pub(super) fn credentials(document: &Value) -> Self {
        let own = ["basicAuth", "basicAuthCredentials"].map(|name| &document[name]);
        let own = own.into_iter().find(|value| value.is_object());
        let part = |name: &str| own.and_then(|own| own[name].as_str()).unwrap_or_default();
        let pair = format!("{}:{}", part("username"), part("password"));
        Self {
            operator: " [prefix] ".to_owned(),
            text: format!("Basic {}", BASE64.encode(pair)),
        }
    }

    pub(super) fn of_several(pattern: &Value, plain: &str) -> Self {
        for (name, shown) in [("hasExactly", "exactly"), ("includes", "including")] {
            if let Some(patterns) = pattern.get(name).and_then(Value::as_array) {
                let wish = |pattern: &Value| {
                    let (name, operand) = operator_of(pattern);
                    format!("{name} {}", operand_text(name, operand))
                };
                let texts: Vec<String> = patterns.iter().map(wish).collect();
                return Self {
                    operator: format!(" {shown} [{}]", texts.join(" AND ")),
                    text: String::new(),
                };
            }
        }
        Self::of(pattern, plain)
    }
}

/// The operator of a pattern and its operand.
pub(super) fn operator_of(pattern: &Value) -> (&str, &Value) {
    let entries = pattern.as_object().into_iter().flatten();
    let mut operators = entries.filter(|(name, _)| Matcher::is_operator(name));
    operators
        .next()
        .map_or(("", &Value::Null), |(name, operand)| {
            (name.as_str(), operand)
        })
}

fn operand_text(name: &str, operand: &Value) -> String {
    match (name, operand) {
        ("absent", _) => "(absent)".to_owned(),
        ("anything", _) => "anything".to_owned(),
        ("equalToJson", operand) => {
            let parsed = operand
                .as_str()
                .and_then(|text| serde_json::from_str::<Value>(text).ok());
            java::json::pretty(parsed.as_ref().unwrap_or(operand))
        }
        ("equalToXml", Value::String(text)) => Document::parse(text).map_or_else(
            |_| text.clone(),
            |document| print::indented(&document, ItemId::ROOT),
        ),
        ("and" | "or", Value::Array(patterns)) => {
            let each = |pattern: &Value| {
                let (name, operand) = operator_of(pattern);
                format!("{name} {}", operand_text(name, operand))
            };
            let texts: Vec<String> = patterns.iter().map(each).collect();
            texts.join(if name == "and" { " AND " } else { " OR " })
        }
        ("not", pattern) => {
            let (name, operand) = operator_of(pattern);
            operand_text(name, operand)
        }
        (_, Value::Object(inner)) => inner
            .get("expression")
            .and_then(Value::as_str)
            .map_or_else(|| operand.to_string(), str::to_owned),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// The method that a pattern asks for.
pub(super) fn method(document: &Value) -> String {
    match &document["method"] {
        Value::String(method) => method.clone(),
        Value::Null => "ANY".to_owned(),
        other => other.to_string(),
    }
}

/// The URL that a pattern asks for: as it is shown, and by itself.
pub(super) fn url(document: &Value) -> (String, &str) {
    for (name, kind) in [
        ("url", ""),
        ("urlPattern", "[regex] "),
        ("urlPath", "[path] "),
        ("urlPathPattern", "[path regex] "),
        ("urlPathTemplate", "[path template] "),
    ] {
        if let Some(text) = document[name].as_str() {
            return (format!("{kind}{text}"), text);
        }
    }
    ("(always)".to_owned(), "")
}
