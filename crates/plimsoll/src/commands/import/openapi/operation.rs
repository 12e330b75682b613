//! One operation as one step.

use super::description::{Description, text_of};
use super::example::{self, Example};
use super::{encoded, security};
use crate::commands::import::draft::{Step, literal};
use serde_json::Value;

/// One operation of the description.
#[derive(Debug)]
pub struct Operation<'a> {
    /// In capitals.
    pub method: String,
    /// As a template, such as `/pets/{id}`.
    pub path: &'a str,
    /// What stands below the path, for all its operations.
    pub item: &'a Value,
    pub value: &'a Value,
}

/// What parameters make of a request.
#[derive(Debug, Default)]
pub struct Parts {
    pub path: String,
    /// Encoded pairs.
    pub query: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub cookies: Vec<String>,
}

/// What a reader must know of the values.
#[derive(Debug, Default)]
pub struct Remarks {
    made_up: Vec<String>,
    left_out: Vec<String>,
}

impl Operation<'_> {
    /// Method and path: what patterns are held against, and what reports call it.
    pub fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The request, with values for everything that it needs.
    ///
    /// # Errors
    /// What cannot be carried over.
    pub fn step(
        &self,
        description: &Description,
        base: &str,
        notes: &mut Vec<String>,
    ) -> Result<Step, String> {
        let title = self.title();
        let mut remarks = Remarks::default();
        let mut parts = Parts {
            path: literal(&format!("{base}{}", self.path)),
            ..Parts::default()
        };
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
            method: self.method.clone(),
            target: format!("{}{query}", parts.path),
            name: title,
            headers: parts.headers,
            body,
            pause_ms: 0,
            statuses: self.statuses(),
        })
    }

    /// Its parameters, and those of its path that it does not replace.
    fn parameters<'a>(&'a self, description: &'a Description) -> Result<Vec<&'a Value>, String> {
        let mut found: Vec<&Value> = Vec::new();
        for holder in [self.value, self.item] {
            for parameter in holder
                .get("parameters")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let parameter = description.resolve(parameter)?;
                let is_same = |other: &&Value| {
                    ["name", "in"]
                        .iter()
                        .all(|key| other.get(key) == parameter.get(key))
                };
                if !found.iter().any(is_same) {
                    found.push(parameter);
                }
            }
        }
        Ok(found)
    }

    /// The body, with its `Content-Type` among the headers.
    fn body(
        &self,
        description: &Description,
        parts: &mut Parts,
        remarks: &mut Remarks,
    ) -> Result<Option<String>, String> {
        let Some(body) = self.value.get("requestBody") else {
            return Ok(None);
        };
        let body = description.resolve(body)?;
        let content = body.get("content").and_then(Value::as_object);
        let kinds = || content.into_iter().flatten();
        let is_json = |kind: &str| {
            kind.starts_with("application/json")
                || kind
                    .split(';')
                    .next()
                    .is_some_and(|kind| kind.ends_with("+json"))
        };
        let json = kinds().find(|(kind, _)| is_json(kind));
        let form = kinds().find(|(kind, _)| kind.starts_with("application/x-www-form-urlencoded"));
        let plain = kinds().find(|(kind, _)| kind.starts_with("text/"));
        let Some((kind, holder)) = json.or(form).or(plain) else {
            let known: Vec<&str> = kinds().map(|(kind, _)| kind.as_str()).collect();
            return match known.as_slice() {
                [] => Ok(None),
                _ => Err(format!(
                    "its body is {}: JSON, form and text are understood",
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
        parts
            .headers
            .push(("Content-Type".to_owned(), kind.clone()));
        Ok(Some(match value {
            Value::Object(fields) if form.is_some() && json.is_none() => {
                let pairs = fields
                    .iter()
                    .map(|(name, value)| format!("{}={}", encoded(name), encoded(&text_of(value))));
                pairs.collect::<Vec<_>>().join("&")
            }
            Value::String(text) if json.is_none() => literal(&text),
            other => literal(&other.to_string()),
        }))
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

impl Remarks {
    fn notes(&self, title: &str) -> Vec<String> {
        let kinds = [
            ("made up, for want of an example", &self.made_up),
            (
                "left out, being optional and without an example",
                &self.left_out,
            ),
        ];
        let said = kinds.iter().filter(|(_, what)| !what.is_empty());
        said.map(|(how, what)| format!("{title}: {how}: {}", what.join(", ")))
            .collect()
    }
}

fn name_of(parameter: &Value) -> &str {
    let name = parameter.get("name").and_then(Value::as_str);
    name.unwrap_or_default()
}

/// Whether a parameter is required or has an example.
fn is_wanted(description: &Description, parameter: &Value) -> bool {
    let is_in_path = parameter.get("in").and_then(Value::as_str) == Some("path");
    is_in_path
        || parameter.get("required") == Some(&Value::Bool(true))
        || example::is_given(description, parameter)
}

impl Parts {
    /// Takes in a parameter.
    fn add(
        &mut self,
        description: &Description,
        parameter: &Value,
        remarks: &mut Remarks,
    ) -> Result<(), String> {
        let name = name_of(parameter);
        let place = parameter
            .get("in")
            .and_then(Value::as_str)
            .unwrap_or_default();
        // OpenAPI, Parameter Object: fields that are described elsewhere.
        let own = ["accept", "content-type", "authorization"];
        if place == "header" && own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Ok(());
        }
        let holder = parameter
            .get("content")
            .and_then(Value::as_object)
            .and_then(|content| content.values().next());
        let example = example::of(description, holder.unwrap_or(parameter))?;
        if example.made_up {
            remarks.made_up.push(format!("`{name}`"));
        }
        match place {
            "path" => {
                let value = encoded(&joined(&example.value));
                self.path = self.path.replace(&format!("{{{name}}}"), &value);
            }
            "query" => self.query.extend(pairs(name, &example.value)),
            "header" => self
                .headers
                .push((name.to_owned(), literal(&joined(&example.value)))),
            "cookie" => self
                .cookies
                .push(format!("{name}={}", literal(&joined(&example.value)))),
            other => return Err(format!("its parameter `{name}` is in `{other}`")),
        }
        Ok(())
    }
}

/// The default styles, `simple` and `form`: values of a list with commas between.
fn joined(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => text_of(other),
    }
}

/// The default style of a query, `form` and exploded: a list is one pair for each value, an object one for each property.
fn pairs(name: &str, value: &Value) -> Vec<String> {
    let pair =
        |name: &str, value: &Value| format!("{}={}", encoded(name), encoded(&text_of(value)));
    match value {
        Value::Array(items) => items.iter().map(|item| pair(name, item)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| pair(name, value))
            .collect(),
        other => vec![pair(name, other)],
    }
}
