//! Secrets of a recording: replaced by variables, named once each, never shown.

use crate::commands::import::draft::{Body, slug};
use plimsoll_http::Url;
use std::collections::HashMap;

/// Fields whose values are secrets.
const FIELDS: [&str; 6] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-auth-token",
    "x-csrf-token",
];
/// Words in the name of a query's parameter that make its value one.
const PARAMETERS: [&str; 6] = [
    "token",
    "secret",
    "password",
    "apikey",
    "api_key",
    "signature",
];

/// Those of one recording.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Variables, in the order in which they came.
    found: Vec<String>,
    /// Variables by the name of the field, in capitals, and the value.
    variables: HashMap<String, HashMap<String, String>>,
    /// Entries whose query or body seems to hold one.
    in_sight: Vec<String>,
}

impl Secrets {
    /// Text in place of the value of a field that is secret; equal values have one variable.
    pub fn replace(&mut self, name: &str, value: &str) -> Option<String> {
        if !FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field)) {
            return None;
        }
        let stem = slug(&name.to_ascii_uppercase(), '_');
        let variables = self.variables.entry(stem.clone()).or_default();
        if let Some(variable) = variables.get(value) {
            return Some(format!("${{env:{variable}}}"));
        }
        let variable = match variables.len() {
            0 => stem,
            taken => format!("{stem}_{}", taken + 1),
        };
        let reference = format!("${{env:{variable}}}");
        variables.insert(value.to_owned(), variable.clone());
        self.found.push(variable);
        Some(reference)
    }

    /// Looks for parameters that seem secret. They stay: an address is part of what was recorded.
    pub fn look_at_query(&mut self, number: usize, url: &Url) {
        let Some((_, query)) = url.target.split_once('?') else {
            return;
        };
        let names = query.split('&').filter_map(|pair| pair.split('=').next());
        let secret = names.filter(|name| {
            let name = name.to_ascii_lowercase();
            PARAMETERS.iter().any(|word| name.contains(word))
        });
        self.in_sight.extend(secret.map(|name| {
            format!("entry {number} has `{name}` in its query: it stands in the file as recorded")
        }));
    }

    /// Looks at the body of a request.
    pub fn look_at_body(&mut self, number: usize, body: &Body) {
        let holds = |text: &str, word: &&&str| text.to_ascii_lowercase().contains(**word);
        let word = PARAMETERS.iter().find(|word| match body {
            Body::None => false,
            Body::Text(text) => holds(text, word),
            Body::Multipart(parts) => parts.iter().any(|part| holds(&part.name, word)),
        });
        self.in_sight.extend(word.map(|word| {
            format!("entry {number} seems to have a {word} in its body: it stands in the file as recorded")
        }));
    }

    /// Advice about them.
    pub fn notes(&self) -> Vec<String> {
        let replaced = self.found.iter().map(|variable| {
            format!("a recorded secret is replaced by ${{env:{variable}}}: set {variable} before validating or running")
        });
        replaced.chain(self.in_sight.iter().cloned()).collect()
    }
}
