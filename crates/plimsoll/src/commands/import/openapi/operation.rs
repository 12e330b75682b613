//! One operation as one step.

use super::description::{Description, text_of};
use super::example::{self, Example};
use super::parameters::{Parts, Remarks, is_wanted, name_of};
use super::security;
use super::style::pairs;
use crate::commands::import::draft::{Body, FormPart, Step, literal, sendable};
use plimsoll_http::Url;
use serde_json::Value;
use std::collections::HashSet;

/// One operation of the description.
#[derive(Debug)]
pub struct Operation<'a> {
    /// In capitals.
    pub method: &'static str,
    /// As a template, such as `/pets/{id}`.
    pub path: &'a str,
    /// Object below the path, for all its operations.
    pub item: &'a Value,
    pub value: &'a Value,
}

impl Operation<'_> {
    /// Method and path: what patterns are held against, and what reports call it.
    pub fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The request, with values for everything that it needs.
    ///
    /// # Errors
    /// An operation that cannot be carried over.
    pub fn step(
        &self,
        description: &Description,
        server: &Url,
        notes: &mut Vec<String>,
    ) -> Result<Step, String> {
        let title = self.title();
        let mut remarks = Remarks::default();
        let mut parts = Parts {
            path: literal(&sendable(&format!(
                "{}{}",
                server.target.trim_end_matches('/'),
                self.path
            ))),
            ..Parts::default()
        };
        self.note_other_server(server, notes);
        for parameter in self.parameters(description)? {
            if is_wanted(description, parameter) {
                parts.add(description, parameter, &mut remarks)?;
            } else {
                remarks.left_out.push(format!("`{}`", name_of(parameter)));
            }
        }
        if parts.path.contains('{') {
            return Err("its path has a part that no parameter describes".to_owned());
        }
        let required = self.value.get("security").or(description.security());
        security::apply(description, required, &mut parts, &title, notes);
        let body = self.body(description, &mut parts, &mut remarks)?;
        notes.extend(remarks.notes(&title));
        if !parts.cookies.is_empty() {
            parts
                .headers
                .push(("Cookie".to_owned(), parts.cookies.join("; ")));
        }
        let query = if parts.query.is_empty() {
            String::new()
        } else {
            format!("?{}", parts.query.join("&"))
        };
        Ok(Step {
            method: self.method,
            target: format!("{}{query}", parts.path),
            name: title,
            headers: parts.headers,
            body,
            pause_ms: 0,
            statuses: self.statuses(),
        })
    }

    /// Says so where an operation, or a path, has a server of its own: a scenario has one.
    fn note_other_server(&self, server: &Url, notes: &mut Vec<String>) {
        let own = [self.value, self.item].into_iter().find_map(|holder| {
            let first = holder.get("servers")?.as_array()?.first()?;
            first.get("url")?.as_str()
        });
        if let Some(own) = own {
            notes.push(format!(
                "{}: has a server of its own, {own}; here it goes to {}",
                self.title(),
                server.origin()
            ));
        }
    }

    /// Its parameters, and those of its path that it does not replace.
    fn parameters<'a>(&'a self, description: &'a Description) -> Result<Vec<&'a Value>, String> {
        let mut found: Vec<&Value> = Vec::new();
        let mut known = HashSet::new();
        for holder in [self.value, self.item] {
            for parameter in holder
                .get("parameters")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let parameter = description.resolve(parameter)?;
                if known.insert(["name", "in"].map(|key| parameter.get(key))) {
                    found.push(parameter);
                }
            }
        }
        Ok(found)
    }

    /// The body, with its `Content-Type` among the headers unless it follows from the body.
    fn body(
        &self,
        description: &Description,
        parts: &mut Parts,
        remarks: &mut Remarks,
    ) -> Result<Body, String> {
        let Some(body) = self.value.get("requestBody") else {
            return Ok(Body::None);
        };
        let body = description.resolve(body)?;
        let content = body.get("content").and_then(Value::as_object);
        let kinds: Vec<(&String, &Value)> = content.into_iter().flatten().collect();
        let Some((kind, holder, form)) = best(&kinds) else {
            let known: Vec<&str> = kinds.iter().map(|(kind, _)| kind.as_str()).collect();
            return match known.as_slice() {
                [] => Ok(Body::None),
                _ => Err(format!(
                    "its body is {}: JSON, forms and text are understood",
                    known.join(", ")
                )),
            };
        };
        let Example {
            value,
            made_up,
            partial,
        } = example::of(description, holder)?;
        if made_up {
            remarks.made_up.push("parts of the body".to_owned());
        }
        if partial {
            remarks.left_out.push("properties of the body".to_owned());
        }
        if form != Form::Parts {
            let kind = kind.replace('*', if form == Form::Text { "plain" } else { "json" });
            parts.headers.push(("Content-Type".to_owned(), kind));
        }
        Ok(match (form, value) {
            (Form::Parts, Value::Object(fields)) => {
                let parts = fields.iter().flat_map(|(name, value)| {
                    form_parts(name, value, is_file(description, holder, name))
                });
                Body::Multipart(parts.collect())
            }
            (Form::Parts, _) => return Err("its form has no fields".to_owned()),
            (Form::Pairs, Value::Object(fields)) => {
                let pairs = fields.iter().flat_map(|(name, value)| pairs(name, value));
                Body::Text(pairs.collect::<Vec<_>>().join("&"))
            }
            (Form::Text | Form::Pairs, Value::String(text)) => Body::Text(literal(&text)),
            (_, other) => Body::Text(literal(&other.to_string())),
        })
    }

    /// The statuses below 400 that it describes, if it names them one by one.
    fn statuses(&self) -> Vec<u16> {
        let responses = self.value.get("responses").and_then(Value::as_object);
        let keys: Vec<&str> = responses
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect();
        if keys
            .iter()
            .any(|key| key.starts_with("2X") || key.starts_with("3X"))
        {
            return Vec::new();
        }
        let statuses = keys.iter().filter_map(|key| key.parse().ok());
        statuses
            .filter(|status| (200..400).contains(status))
            .collect()
    }
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    /// `name=value&…`.
    Pairs,
    /// `multipart/form-data`.
    Parts,
    Text,
}

/// The kind of content that is best understood, of those that there are.
fn best<'a>(kinds: &[(&'a String, &'a Value)]) -> Option<(&'a str, &'a Value, Form)> {
    let of = |kind: &str| {
        let kind = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match kind.as_str() {
            "application/json" | "application/*" | "*/*" => Some(Form::Json),
            json if json.ends_with("+json") => Some(Form::Json),
            "application/x-www-form-urlencoded" => Some(Form::Pairs),
            "multipart/form-data" => Some(Form::Parts),
            text if text.starts_with("text/") => Some(Form::Text),
            _ => None,
        }
    };
    [Form::Json, Form::Pairs, Form::Parts, Form::Text]
        .into_iter()
        .find_map(|form| {
            let fitting = kinds.iter().find(|(kind, _)| of(kind) == Some(form));
            fitting.map(|(kind, holder)| (kind.as_str(), *holder, form))
        })
        .map(|(kind, holder, form)| match kind {
            "*/*" => ("application/json", holder, form),
            other => (other, holder, form),
        })
}

/// Whether a field of a form is a file, by its schema.
fn is_file(description: &Description, holder: &Value, name: &str) -> bool {
    let field = below(description, holder, "schema")
        .and_then(|schema| below(description, schema, "properties"))
        .and_then(|properties| below(description, properties, name));
    let is_binary = |schema: &Value| schema.get("format").and_then(Value::as_str) == Some("binary");
    field.is_some_and(|field| {
        is_binary(field) || below(description, field, "items").is_some_and(is_binary)
    })
}

/// Value of a schema at a key, references followed.
fn below<'a>(description: &'a Description, schema: &'a Value, key: &str) -> Option<&'a Value> {
    let schema = description.resolve(schema).ok()?;
    description.resolve(schema.get(key)?).ok()
}

/// A field of a form as its parts: each value of a list is one, and what has fields of its own is JSON (OpenAPI, special considerations
/// for `multipart` content).
fn form_parts(name: &str, value: &Value, is_file: bool) -> Vec<FormPart> {
    let part = |value: &Value| FormPart {
        name: name.to_owned(),
        value: literal(&text_of(value)),
        filename: is_file.then(|| name.to_owned()),
        media_type: match value {
            _ if is_file => Some("application/octet-stream".to_owned()),
            Value::Object(_) => Some("application/json".to_owned()),
            _ => None,
        },
    };
    match value {
        Value::Array(items) => items.iter().map(part).collect(),
        one => vec![part(one)],
    }
}
