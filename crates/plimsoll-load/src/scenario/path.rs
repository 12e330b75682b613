//! JSONPath (RFC 9535), compiled. A path that can find one thing only, such as `$.user.id`, is walked without building lists.

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector};
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value as Json;

/// A query.
#[derive(Debug, Clone)]
pub(super) enum JsonPath {
    /// Leads to one thing at most.
    Single(Vec<PathStep>),
    Any(JpQuery),
}

/// One step of a way that does not fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    /// From the end, where it is negative.
    Index(i64),
}

impl JsonPath {
    /// Compiles a query.
    ///
    /// # Errors
    /// The problem, in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let query = parse_json_path(text).map_err(|error| refusal(text, &error.to_string()))?;
        let parts: Option<Vec<PathStep>> = query.segments.iter().map(part).collect();
        Ok(match parts {
            Some(parts) => Self::Single(parts),
            None => Self::Any(query),
        })
    }

    /// The first thing that it finds.
    pub(super) fn find<'a>(&self, document: &'a Json) -> Option<&'a Json> {
        match self {
            Self::Single(parts) => parts.iter().try_fold(document, |at, part| match part {
                PathStep::Key(key) => at.get(key),
                PathStep::Index(index) => {
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

/// The problem of a text, and what to write instead. Of the parser's own account only the column is used: it speaks of its grammar.
fn refusal(text: &str, account: &str) -> String {
    let column = account
        .split_once(" 1:")
        .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next())
        .and_then(|column| column.parse().ok())
        .unwrap_or(1_usize);
    let at = text.char_indices().nth(column.saturating_sub(1));
    let (read, rest) = text.split_at(at.map_or(text.len(), |(at, _)| at));
    if !text.starts_with('$') {
        let example = text.trim_start_matches('.');
        let example = if example.is_empty() { "id" } else { example };
        return format!(
            "`{text}` is no JSONPath of RFC 9535: it begins with `$`, such as `$.{example}`"
        );
    }
    let place = match rest {
        "" => "it breaks off".to_owned(),
        rest => format!("it cannot be read from `{rest}` on"),
    };
    let read = read.trim_end();
    if read.contains('?') {
        return format!(
            "`{text}` is no JSONPath of RFC 9535: {place}; a condition is written such as `?@.price > 10`"
        );
    }
    let wanted = match read.chars().next_back() {
        Some('[' | ',') => {
            "a name in quotes, a number, a slice such as `0:2`, `*`, or `?` and a condition"
        }
        Some('.') => "a name, `*`, or for names with other characters `['first name']`",
        _ => "`.name`, `['name']`, `[0]`, `[*]` or `..name`",
    };
    format!("`{text}` is no JSONPath of RFC 9535: {place}; after `{read}` comes {wanted}")
}

fn part(segment: &Segment) -> Option<PathStep> {
    let Segment::Selector(selector) = segment else {
        return None;
    };
    match selector {
        Selector::Name(name) => {
            let quoted = ['\'', '"'].iter().any(|quote| name.starts_with(*quote));
            // Quotes and escapes are the library's to undo.
            (!quoted && !name.contains('\\')).then(|| PathStep::Key(name.clone()))
        }
        Selector::Index(index) => Some(PathStep::Index(*index)),
        _ => None,
    }
}

/// A match as text: strings without quotes, everything else as JSON.
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
        let refused = [
            "",
            "id",
            ".a.b",
            "$.",
            "$[",
            "$.a[?]",
            "$.a[?@.x =]",
            "$.é[",
            "$.a[1,]",
            "$.1",
        ];
        let messages = refused.map(|path| JsonPath::parse(path).unwrap_err());
        insta::assert_snapshot!(messages.join("\n"), @r"
        `` is no JSONPath of RFC 9535: it begins with `$`, such as `$.id`
        `id` is no JSONPath of RFC 9535: it begins with `$`, such as `$.id`
        `.a.b` is no JSONPath of RFC 9535: it begins with `$`, such as `$.a.b`
        `$.` is no JSONPath of RFC 9535: it breaks off; after `$.` comes a name, `*`, or for names with other characters `['first name']`
        `$[` is no JSONPath of RFC 9535: it breaks off; after `$[` comes a name in quotes, a number, a slice such as `0:2`, `*`, or `?` and a condition
        `$.a[?]` is no JSONPath of RFC 9535: it cannot be read from `]` on; a condition is written such as `?@.price > 10`
        `$.a[?@.x =]` is no JSONPath of RFC 9535: it cannot be read from `=]` on; a condition is written such as `?@.price > 10`
        `$.é[` is no JSONPath of RFC 9535: it breaks off; after `$.é[` comes a name in quotes, a number, a slice such as `0:2`, `*`, or `?` and a condition
        `$.a[1,]` is no JSONPath of RFC 9535: it cannot be read from `]` on; after `$.a[1,` comes a name in quotes, a number, a slice such as `0:2`, `*`, or `?` and a condition
        `$.1` is no JSONPath of RFC 9535: it cannot be read from `1` on; after `$.` comes a name, `*`, or for names with other characters `['first name']`
        ");
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
