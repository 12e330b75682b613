//! The description as a whole: its version, its server, and what its references stand for.

use serde_json::Value;

/// How many references may follow each other.
const MOST_REFERENCES: usize = 32;

/// A description of a version that is understood.
#[derive(Debug)]
pub struct Description(Value);

impl Description {
    /// # Errors
    /// What is not a description, or one of another version.
    pub fn of(value: Value) -> Result<Self, String> {
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
        Ok(Self(value))
    }

    /// What the service is called.
    pub fn title(&self) -> &str {
        self.0
            .pointer("/info/title")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The first server's address, its variables filled in with their defaults.
    ///
    /// # Errors
    /// When it says none that stands alone.
    pub fn server(&self, notes: &mut Vec<String>) -> Result<String, String> {
        let servers = self.0.get("servers").and_then(Value::as_array);
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
        let paths = self.0.get("paths").and_then(Value::as_object);
        paths
            .into_iter()
            .flatten()
            .map(|(path, item)| (path.as_str(), self.resolve(item).unwrap_or(item)))
    }

    /// What is required of callers where an operation says nothing of its own.
    pub fn security(&self) -> Option<&Value> {
        self.0.get("security")
    }

    /// A security scheme by name.
    pub fn security_scheme(&self, name: &str) -> Option<&Value> {
        let schemes = self.0.pointer("/components/securitySchemes")?;
        self.resolve(schemes.get(name)?).ok()
    }

    /// What a value is, or what its reference stands for.
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
            value = self
                .0
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
