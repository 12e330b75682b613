//! JSONPath (RFC 9535), compiled. A path that can find one thing only, such as `$.user.id`, is walked without building lists.

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector};
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value as Json;

/// A query.
#[derive(Debug, Clone)]
pub(super) enum JsonPath {
    /// Leads to one thing at most.
    Single(Vec<Part>),
    Any(JpQuery),
}

/// One step of a way that does not fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Key(String),
    /// From the end, where it is negative.
    Index(i64),
}

impl JsonPath {
    /// Compiles a query.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let query = parse_json_path(text).map_err(|error| {
            let first = error.to_string();
            let first = first.lines().last().unwrap_or_default().trim();
            format!("`{text}` is no JSONPath of RFC 9535: {first}")
        })?;
        let parts: Option<Vec<Part>> = query.segments.iter().map(part).collect();
        Ok(match parts {
            Some(parts) => Self::Single(parts),
            None => Self::Any(query),
        })
    }

    /// The first thing that it finds.
    pub(super) fn find<'a>(&self, document: &'a Json) -> Option<&'a Json> {
        match self {
            Self::Single(parts) => parts.iter().try_fold(document, |at, part| match part {
                Part::Key(key) => at.get(key),
                Part::Index(index) => {
                    let list = at.as_array()?;
                    let at = match usize::try_from(*index) {
                        Ok(index) => index,
                        Err(_) => list
                            .len()
                            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
                    };
                    list.get(at)
                }
            }),
            Self::Any(query) => {
                let found = js_path_process(query, document).ok()?;
                found.into_iter().next().map(|found| found.val)
            }
        }
    }
}

fn part(segment: &Segment) -> Option<Part> {
    let Segment::Selector(selector) = segment else {
        return None;
    };
    match selector {
        Selector::Name(name) => {
            let quoted = ['\'', '"'].iter().any(|quote| name.starts_with(*quote));
            // Quotes and escapes are the library's to undo.
            (!quoted && !name.contains('\\')).then(|| Part::Key(name.clone()))
        }
        Selector::Index(index) => Some(Part::Index(*index)),
        _ => None,
    }
}

/// What was found, as text: strings without quotes, everything else as JSON.
pub(super) fn as_text<'a>(found: &'a Json, buffer: &'a mut String) -> &'a str {
    if let Json::String(text) = found {
        return text;
    }
    buffer.clear();
    *buffer = found.to_string();
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        let document = serde_json::json!({
            "id": 7, "user": { "name": "a", "first name": "b" }, "list": [ { "x": 1.5 }, { "x": true } ], "none": null,
        });
        let path = JsonPath::parse(path).unwrap();
        let mut buffer = String::new();
        let found = path
            .find(&document)
            .map(|found| as_text(found, &mut buffer));
        assert_eq!(found, expected, "{path:?}");
    }

    #[test]
    fn first_things_are_found() {
        check("$.id", Some("7"));
        check("$.user.name", Some("a"));
        check("$['user']['first name']", Some("b"));
        check("$.list[0].x", Some("1.5"));
        check("$.list[-1].x", Some("true"));
        check("$.list[-3].x", None);
        check("$..x", Some("1.5"));
        check("$.list[?@.x == true].x", Some("true"));
        check("$.user", Some(r#"{"name":"a","first name":"b"}"#));
        check("$.none", Some("null"));
        check("$.missing.id", None);
        check(
            "$",
            Some(
                r#"{"id":7,"user":{"name":"a","first name":"b"},"list":[{"x":1.5},{"x":true}],"none":null}"#,
            ),
        );
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["", "id", "$.", "$[", "$.a[?]"] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn ways_that_do_not_fork_are_walked() {
        assert!(matches!(
            JsonPath::parse("$.a[0].b"),
            Ok(JsonPath::Single(_))
        ));
        assert!(matches!(JsonPath::parse("$.a[*]"), Ok(JsonPath::Any(_))));
    }
}
