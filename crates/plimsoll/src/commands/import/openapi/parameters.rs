//! An operation's parameters in its request, and notes for the reader on their values.

use super::description::Description;
use super::example;
use super::style::{self, joined};
use crate::commands::import::draft::literal;
use serde_json::Value;

/// The parts of a request that parameters give.
#[derive(Debug, Default)]
pub struct Parts {
    pub path: String,
    /// Encoded pairs.
    pub query: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub cookies: Vec<String>,
}

/// Notes for the reader on the values.
#[derive(Debug, Default)]
pub struct Remarks {
    pub made_up: Vec<String>,
    pub left_out: Vec<String>,
}

impl Parts {
    /// Takes in a parameter.
    ///
    /// # Errors
    /// A parameter that cannot be carried over.
    pub fn add(
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
        let content = parameter
            .get("content")
            .and_then(Value::as_object)
            .and_then(|content| content.iter().next());
        let holder = content.map_or(parameter, |(_, holder)| holder);
        let mut example = example::of(description, holder)?;
        if content.is_some_and(|(kind, _)| kind.contains("json")) {
            example.value = Value::String(example.value.to_string());
        }
        if example.made_up {
            remarks.made_up.push(format!("`{name}`"));
        }
        match place {
            "path" => {
                let value = style::in_path(parameter, name, &example.value)?;
                description.spend_text(self.path.len())?;
                self.path = self.path.replace(&format!("{{{name}}}"), &value);
            }
            "query" => self
                .query
                .extend(style::in_query(parameter, name, &example.value)?),
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

impl Remarks {
    pub fn notes(&self, title: &str) -> Vec<String> {
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

pub fn name_of(parameter: &Value) -> &str {
    let name = parameter.get("name").and_then(Value::as_str);
    name.unwrap_or_default()
}

/// Whether a parameter is required or has an example.
pub fn is_wanted(description: &Description, parameter: &Value) -> bool {
    let is_in_path = parameter.get("in").and_then(Value::as_str) == Some("path");
    is_in_path
        || parameter.get("required") == Some(&Value::Bool(true))
        || example::is_given(description, parameter)
}
