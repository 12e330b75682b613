//! The description as a whole: its version, its server, and what its references stand for.

use serde_json::Value;
use std::cell::Cell;

/// How many references may follow each other.
const MOST_REFERENCES: usize = 32;

/// Schemas, values and references that may be looked at, whatever the description's length, and one more for so many of its bytes. Schemas
/// that hold each other stand for exponentially many without a circle.
const MOST_SCHEMAS: usize = 50_000;
const BYTES_PER_SCHEMA: usize = 10;
/// Bytes of a text that count as a schema, where one is taken over.
const BYTES_PER_STEP: usize = 64;

/// A description of a version that is understood.
#[derive(Debug)]
pub struct Description {
    value: Value,
    /// Limit of values that may be looked at.
    most: usize,
    /// How much of it is left; `None` once more was asked for.
    left: Cell<Option<usize>>,
}

impl Description {
    /// The description that was written in so many bytes.
    ///
    /// # Errors
    /// A document that is no description, or one of another version.
    pub fn of(value: Value, bytes: usize) -> Result<Self, String> {
        if let Some(version) = value.get("swagger") {
            return Err(format!(
                "is Swagger {}: convert it to OpenAPI 3 first",
                text_of(version)
            ));
        }
        let version = value
            .get("openapi")
            .map(text_of)
            .ok_or("is not OpenAPI: it has no `openapi: 3…`")?;
        if !version.starts_with("3.0") && !version.starts_with("3.1") {
            return Err(format!("is OpenAPI {version}: 3.0 and 3.1 are understood"));
        }
        if value
            .get("paths")
            .and_then(Value::as_object)
            .is_none_or(serde_json::Map::is_empty)
        {
            return Err("has no paths: there is nothing to request".to_owned());
        }
        let most = MOST_SCHEMAS + bytes / BYTES_PER_SCHEMA;
        Ok(Self {
            value,
            most,
            left: Cell::new(Some(most)),
        })
    }

    /// Looks at so many schemas.
    ///
    /// # Errors
    /// When that is more than may be looked at.
    pub fn spend(&self, schemas: usize) -> Result<(), String> {
        let left = self.left.get().and_then(|left| left.checked_sub(schemas));
        self.left.set(left);
        match left {
            Some(_) => Ok(()),
            None => Err(format!(
                "the schemas hold each other so often that they stand for more than {} schemas, values and references: give it an `example`, or leave it out with --exclude",
                self.most
            )),
        }
    }

    /// Looks at a text that is taken over.
    ///
    /// # Errors
    /// As of [`Self::spend`].
    pub fn spend_text(&self, bytes: usize) -> Result<(), String> {
        self.spend(1 + bytes / BYTES_PER_STEP)
    }

    /// Whether more was asked for than may be looked at.
    pub fn is_exhausted(&self) -> bool {
        self.left.get().is_none()
    }

    /// Looks at a value and all that is in it.
    ///
    /// # Errors
    /// As of [`Self::spend`].
    pub fn spend_value(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => self.spend_text(text.len()),
            Value::Array(items) => {
                self.spend(1)?;
                items.iter().try_for_each(|item| self.spend_value(item))
            }
            Value::Object(fields) => {
                self.spend(1)?;
                fields.iter().try_for_each(|(name, value)| {
                    self.spend_text(name.len())?;
                    self.spend_value(value)
                })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(1),
        }
    }

    /// Title of the service.
    pub fn title(&self) -> &str {
        self.value
            .pointer("/info/title")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The first server's address, its variables filled in with their defaults.
    ///
    /// # Errors
    /// When it says none that stands alone.
    pub fn server(&self, notes: &mut Vec<String>) -> Result<String, String> {
        let servers = self.value.get("servers").and_then(Value::as_array);
        let first = servers.and_then(|servers| servers.first());
        let url = first
            .and_then(|server| server.get("url"))
            .and_then(Value::as_str);
        let mut url = url
            .ok_or("names no server: say where it is with --server http://host:port/base")?
            .to_owned();
        let variables = first
            .and_then(|server| server.get("variables"))
            .and_then(Value::as_object);
        for (name, variable) in variables.into_iter().flatten() {
            let default = variable.get("default").map(text_of).unwrap_or_default();
            self.spend_text(url.len())?;
            url = url.replace(&format!("{{{name}}}"), &default);
        }
        if !url.contains("://") {
            return Err(format!(
                "its server is `{url}`, on whatever host serves the description: say where with --server http://host:port{url}"
            ));
        }
        let further = servers.map_or(0, Vec::len) - 1;
        if further > 0 {
            notes.push(format!(
                "of {} servers the first is taken, {url}; --server chooses",
                further + 1
            ));
        }
        Ok(url)
    }

    /// Paths and what stands below them.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.value.get("paths").and_then(Value::as_object);
        paths
            .into_iter()
            .flatten()
            .map(|(path, item)| (path.as_str(), self.resolve(item).unwrap_or(item)))
    }

    /// Security required of callers where an operation states none of its own.
    pub fn security(&self) -> Option<&Value> {
        self.value.get("security")
    }

    /// A security scheme by name.
    pub fn security_scheme(&self, name: &str) -> Option<&Value> {
        let schemes = self.value.pointer("/components/securitySchemes")?;
        self.resolve(schemes.get(name)?).ok()
    }

    /// A value itself, or the target of its reference.
    ///
    /// # Errors
    /// A reference to another file, to nothing, or in a circle.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..MOST_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            let pointer = reference
                .strip_prefix('#')
                .ok_or_else(|| format!("`{reference}` is in another file"))?;
            self.spend_text(pointer.len())?;
            value = self
                .value
                .pointer(pointer)
                .ok_or_else(|| format!("`{reference}` leads nowhere"))?;
        }
        Err("its references go in a circle".to_owned())
    }
}

/// A scalar as text.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
