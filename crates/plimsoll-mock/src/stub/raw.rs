//! The source text of every `jsonBody` of a document, so that numbers are sent as they are written.
//!
//! A parsed value would turn `12345678901234567890123` and `1.10` into other texts.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The `jsonBody` texts of a document, in the order of its mappings.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct JsonBodies<'a> {
    #[serde(borrow, default)]
    mappings: Vec<RawMapping<'a>>,
    #[serde(borrow, default)]
    response: Option<RawResponse<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawMapping<'a> {
    #[serde(borrow, default)]
    response: Option<RawResponse<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawResponse<'a> {
    #[serde(borrow, rename = "jsonBody", default)]
    json_body: Option<&'a RawValue>,
}

impl<'a> JsonBodies<'a> {
    /// Finds them in strict JSON; in a document of another shape there are none.
    pub(crate) fn find(text: &'a str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The text of the `index`th mapping of a list.
    pub(crate) fn of_item(&self, index: usize) -> Option<&'a RawValue> {
        self.mappings.get(index)?.response.as_ref()?.json_body
    }

    /// The text of a document that is one mapping.
    pub(crate) fn of_document(&self) -> Option<&'a RawValue> {
        self.response.as_ref()?.json_body
    }
}

/// JSON text without the white space between its tokens.
pub(crate) fn compact(text: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    let kept = text.chars().filter(|&c| {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            return true;
        }
        in_string = c == '"';
        !c.is_ascii_whitespace()
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_stay_as_written() {
        let text = r#"{ "a" : [ 1.10, 12345678901234567890123 ], "b c" : "x \" y\\" , "d": " " }"#;
        let expected = r#"{"a":[1.10,12345678901234567890123],"b c":"x \" y\\","d":" "}"#;
        assert_eq!(compact(text), expected);
    }

    #[test]
    fn bodies_are_found_in_both_shapes() {
        let body = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_owned());
        let one = JsonBodies::find(r#"{"response": {"status": 1, "jsonBody": 1.0}, "x": 1}"#);
        assert_eq!(body(one.of_document()).as_deref(), Some("1.0"));
        let list = JsonBodies::find(r#"{"mappings": [{}, {"response": {"jsonBody": [1]}}]}"#);
        assert_eq!(body(list.of_item(0)), None);
        assert_eq!(body(list.of_item(1)).as_deref(), Some("[1]"));
    }
}
