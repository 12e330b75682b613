//! JSON as Go's `encoding/json` reads it into a struct: names in any case, unknown ones ignored, null like nothing, and whatever follows
//! the first value ignored.
//!
//! <https://pkg.go.dev/encoding/json#Unmarshal>. Clients of Toxiproxy were written against it.

use crate::error::ApiError;
use serde_json::{Map, Value};

/// The first value of a body.
///
/// # Errors
/// A body that does not begin with one.
pub fn first(body: &[u8]) -> Result<Value, ApiError> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(ApiError::bad_body(error)),
        None => Err(ApiError::bad_body("EOF")),
    }
}

/// An object of the API, and which of its fields were asked for.
#[derive(Debug)]
pub struct Object<'a> {
    type_name: &'static str,
    fields: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    /// A value that is to be an object of this type.
    ///
    /// # Errors
    /// It is something else.
    pub fn new(value: &'a Value, type_name: &'static str) -> Result<Self, ApiError> {
        match value {
            Value::Object(fields) => Ok(Self {
                type_name,
                fields,
                known: Vec::new(),
            }),
            other => Err(ApiError::bad_body(format_args!(
                "json: cannot unmarshal {} into Go value of type toxiproxy.{type_name}",
                kind(other)
            ))),
        }
    }

    /// The value of this name, unless it is null; the last one, if there are several in different cases.
    pub fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        let named = self.fields.iter().rev();
        let mut named = named.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        named
            .next()
            .map(|(_, value)| value)
            .filter(|value| !value.is_null())
    }

    /// A string.
    ///
    /// # Errors
    /// It is something else; so the others.
    pub fn string(&mut self, name: &'static str) -> Result<Option<String>, ApiError> {
        self.read(name, "string", |value| value.as_str().map(str::to_owned))
    }

    /// True or false.
    pub fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, ApiError> {
        self.read(name, "bool", Value::as_bool)
    }

    /// A number, as Go's `float32`.
    pub fn float(&mut self, name: &'static str) -> Result<Option<f32>, ApiError> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is a float32 there, too"
        )]
        let read = |value: &Value| value.as_f64().map(|number| number as f32);
        self.read(name, "float32", read)
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        type_name: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(mismatch(
                value,
                &format!("{}.{name}", self.type_name),
                type_name,
            )),
        }
    }

    /// The names that nobody asked for.
    pub fn unknown(&self) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        let is_known = |given: &str| {
            self.known
                .iter()
                .any(|name| name.eq_ignore_ascii_case(given))
        };
        let names = self.fields.keys().map(String::as_str);
        names.filter(move |given| !is_known(given))
    }
}

/// A whole number, as Go's `int64`.
///
/// # Errors
/// It is something else.
pub fn integer(value: &Value, field: &str) -> Result<i64, ApiError> {
    value
        .as_i64()
        .ok_or_else(|| mismatch(value, field, "int64"))
}

fn mismatch(value: &Value, field: &str, type_name: &str) -> ApiError {
    ApiError::bad_body(format_args!(
        "json: cannot unmarshal {} into Go struct field {field} of type {type_name}",
        kind(value)
    ))
}

/// The words of Go for a value.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) => format!("number {number}"),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_what_follows_is_ignored() {
        let value = first(br#"{"NAME": "a", "other": 1, "enabled": null} trailing"#).unwrap();
        let mut object = Object::new(&value, "Proxy").unwrap();
        assert_eq!(object.string("name").unwrap().as_deref(), Some("a"));
        assert_eq!(object.boolean("enabled").unwrap(), None);
        assert_eq!(object.unknown().collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn what_has_another_type_is_refused_in_the_words_of_go() {
        let value = first(br#"{"enabled": "yes"}"#).unwrap();
        let refused = Object::new(&value, "Proxy").unwrap().boolean("enabled");
        assert_eq!(
            refused.unwrap_err().message,
            "bad request body: json: cannot unmarshal string into Go struct field Proxy.enabled of type bool"
        );
        assert_eq!(first(b" ").unwrap_err().message, "bad request body: EOF");
        let refused = Object::new(&Value::Null, "Proxy").unwrap_err();
        assert_eq!(refused.status, 400);
    }
}
