//! JSONPath in the dialect of Jayway's JsonPath, which WireMock uses: definite and indefinite paths, filters, functions.
//!
//! Parsing is left to `parse`, filters to `filter`, functions to `function`. What is not known is refused when a path is compiled.

mod filter;
mod function;
mod parse;

use crate::java_regex::TooCostly;
use crate::json::{Json, Members};
use filter::Filter;
use function::Function;
use std::borrow::Cow;

/// A compiled path.
#[derive(Debug, Clone)]
pub(crate) struct JsonPath {
    segments: Vec<Segment>,
}

/// One step of a path.
#[derive(Debug, Clone)]
enum Segment {
    Name(String),
    /// `['a','b']`: an object of these.
    Names(Vec<String>),
    Wildcard,
    /// From the end if negative.
    Index(i64),
    Indices(Vec<i64>),
    /// From one index up to, but not with, another.
    Slice(Option<i64>, Option<i64>),
    Filter(Filter),
    /// `..`: the segment on every object and array below, from the top.
    Descend(Box<Segment>),
    Function(Function),
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found<'v> {
    /// A path that can lead to one place only leads nowhere.
    Nothing,
    /// The value at that one place.
    One(Cow<'v, Json>),
    /// The values, perhaps none, of a path that can lead to several places.
    Many(Vec<Cow<'v, Json>>),
}

impl JsonPath {
    /// Compiles a path; the error says what is wrong with it.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        parse::path(text)
    }

    /// Where the path leads in `root`.
    pub(crate) fn find<'v>(&self, root: &'v Json) -> Result<Found<'v>, TooCostly> {
        self.find_from(Cow::Borrowed(root), root)
    }

    /// The same from a value inside `root`, for the paths of filters.
    fn find_from<'v>(&self, start: Cow<'v, Json>, root: &Json) -> Result<Found<'v>, TooCostly> {
        let mut found = vec![start];
        for segment in &self.segments {
            let mut next = Vec::new();
            for value in found {
                segment.apply(value, root, &mut next)?;
            }
            found = next;
        }
        if !self.is_definite() {
            return Ok(Found::Many(found));
        }
        Ok(found.pop().map_or(Found::Nothing, Found::One))
    }

    /// Whether the path can lead to one place only.
    fn is_definite(&self) -> bool {
        self.segments.iter().enumerate().all(|(index, segment)| {
            matches!(
                segment,
                Segment::Name(_) | Segment::Index(_) | Segment::Function(_)
            ) || matches!(segment, Segment::Names(_)) && index + 1 == self.segments.len()
        })
    }
}

impl Segment {
    /// Adds what this segment leads to from `value`.
    fn apply<'v>(
        &self,
        value: Cow<'v, Json>,
        root: &Json,
        out: &mut Vec<Cow<'v, Json>>,
    ) -> Result<(), TooCostly> {
        match value {
            Cow::Borrowed(value) => self.apply_borrowed(value, root, out),
            // Only functions make values; what follows them owns its results.
            Cow::Owned(value) => {
                let mut found = Vec::new();
                self.apply_borrowed(&value, root, &mut found)?;
                out.extend(
                    found
                        .into_iter()
                        .map(|found| Cow::Owned(found.into_owned())),
                );
                Ok(())
            }
        }
    }

    fn apply_borrowed<'v>(
        &self,
        value: &'v Json,
        root: &Json,
        out: &mut Vec<Cow<'v, Json>>,
    ) -> Result<(), TooCostly> {
        match self {
            Self::Name(name) => out.extend(
                value
                    .as_object()
                    .and_then(|map| map.get(name))
                    .map(Cow::Borrowed),
            ),
            Self::Names(names) => {
                out.extend(value.as_object().map(|map| Cow::Owned(only(map, names))))
            }
            Self::Wildcard => out.extend(children(value).map(Cow::Borrowed)),
            Self::Index(index) => out.extend(item(value, *index).map(Cow::Borrowed)),
            Self::Indices(indices) => {
                out.extend(
                    indices
                        .iter()
                        .filter_map(|index| item(value, *index))
                        .map(Cow::Borrowed),
                );
            }
            Self::Slice(from, to) => {
                let items = value
                    .as_array()
                    .map_or(&[][..], |items| slice(items, *from, *to));
                out.extend(items.iter().map(Cow::Borrowed));
            }
            Self::Filter(filter) => match value {
                Json::Array(items) => {
                    for item in items {
                        if filter.accepts(item, root)? {
                            out.push(Cow::Borrowed(item));
                        }
                    }
                }
                Json::Object(_) if filter.accepts(value, root)? => out.push(Cow::Borrowed(value)),
                _ => {}
            },
            Self::Descend(segment) => segment.descend(value, root, out)?,
            Self::Function(function) => out.extend(function.apply(value).map(Cow::Owned)),
        }
        Ok(())
    }

    /// Applies this segment to an object or array and to all of them below it. A filter is asked about each of them, not about their items.
    fn descend<'v>(
        &self,
        value: &'v Json,
        root: &Json,
        out: &mut Vec<Cow<'v, Json>>,
    ) -> Result<(), TooCostly> {
        if value.as_object().is_none() && value.as_array().is_none() {
            return Ok(());
        }
        match self {
            Self::Filter(filter) => {
                if filter.accepts(value, root)? {
                    out.push(Cow::Borrowed(value));
                }
            }
            _ => self.apply_borrowed(value, root, out)?,
        }
        for child in children(value) {
            self.descend(child, root, out)?;
        }
        Ok(())
    }
}

/// The values of an object or the items of an array.
fn children(value: &Json) -> Box<dyn Iterator<Item = &Json> + '_> {
    match value {
        Json::Array(items) => Box::new(items.iter()),
        Json::Object(members) => Box::new(members.iter().map(|(_, value)| value)),
        _ => Box::new(std::iter::empty()),
    }
}

fn only(members: &Members, names: &[String]) -> Json {
    let kept = names
        .iter()
        .filter_map(|name| Some((name.into(), members.get(name)?.clone())));
    Json::Object(kept.collect())
}

fn item(value: &Json, index: i64) -> Option<&Json> {
    let items = value.as_array()?;
    let length = i64::try_from(items.len()).ok()?;
    let index = if index < 0 { index + length } else { index };
    items.get(usize::try_from(index).ok()?)
}

fn slice(items: &[Json], from: Option<i64>, to: Option<i64>) -> &[Json] {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let place = |index: i64| {
        let index = if index < 0 { index + length } else { index };
        usize::try_from(index.clamp(0, length)).unwrap_or(0)
    };
    let (from, to) = (from.map_or(0, place), to.map_or(items.len(), place));
    items.get(from..to).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn store() -> Value {
        json!({
            "book": [
                {"title": "A", "price": 8.95, "tags": ["x", "y"], "isbn": "1"},
                {"title": "B", "price": 12, "tags": []},
                {"title": "C", "price": 22.5, "isbn": null}
            ],
            "odd name": {"it's": 1},
            "limit": 10
        })
    }

    /// What a path leads to, as JSON; `null` for nothing.
    fn check(path: &str, expected: Value) {
        let document = store();
        let document = Json::from(&document);
        let found = JsonPath::compile(path).unwrap().find(&document).unwrap();
        let actual = match found {
            Found::Nothing => Value::Null,
            Found::One(value) => value.to_value(),
            Found::Many(values) => values.iter().map(|value| value.to_value()).collect(),
        };
        assert_eq!(actual, expected, "{path}");
    }

    #[test]
    fn places() {
        check("$.limit", json!(10));
        check("limit", json!(10));
        check("$['odd name']['it\\'s']", json!(1));
        check("$.book[0].title", json!("A"));
        check("$.book[-1].title", json!("C"));
        check("$.book[0,2].title", json!(["A", "C"]));
        check("$.book[1:].title", json!(["B", "C"]));
        check("$.book[:-1].title", json!(["A", "B"]));
        check("$.book[*].price", json!([8.95, 12, 22.5]));
        check("$.book.*.title", json!(["A", "B", "C"]));
        check("$..title", json!(["A", "B", "C"]));
        check("$..tags[0]", json!(["x"]));
        check(
            "$.book[0]['title','price']",
            json!({"title": "A", "price": 8.95}),
        );
        check("$.nothing", Value::Null);
        check("$.book[9]", Value::Null);
        check("$..nothing", json!([]));
    }

    #[test]
    fn filters() {
        let titles = |filter: &str, expected: &[&str]| {
            check(&format!("$.book[?({filter})].title"), json!(expected));
        };
        titles("@.price < 10", &["A"]);
        titles("@.price >= 12", &["B", "C"]);
        titles("@.price > $.limit", &["B", "C"]);
        titles("@.isbn", &["A", "C"]);
        titles("!@.isbn", &["B"]);
        titles("!(@.price < 10)", &["B", "C"]);
        titles(
            "@.title == 'A' || @.title == \"B\" && @.price > 100",
            &["A"],
        );
        titles("@.title =~ /[a-b]/i", &["A", "B"]);
        titles("@.title in ['A', 'C']", &["A", "C"]);
        titles("@.title nin ['A', 'C']", &["B"]);
        titles("@.tags contains 'x'", &["A"]);
        titles("@.tags size 2", &["A"]);
        titles("@.tags empty true", &["B"]);
        titles("@.tags anyof ['x', 'z']", &["A"]);
        titles("@.tags subsetof ['x', 'y', 'z']", &["A", "B"]);
        titles("@.isbn == null", &["C"]);
        titles("@.price == 12.0", &["B"]);
        titles("@.tags.length() == 2", &["A"]);
        check("$..[?(@.title == 'B')].price", json!([12]));
    }

    #[test]
    fn functions() {
        check("$.book.length()", json!(3));
        check("$.book.size()", json!(3));
        check("$.book[*].price.sum()", json!([]));
        check("$.book[0].tags.first()", json!("x"));
        check("$.book[0].tags.last()", json!("y"));
        check("$.book[0].tags.index(1)", json!("y"));
        check("$['odd name'].keys()", json!(["it's"]));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [
            "",
            "$.",
            "$.a[",
            "$.a[?(@.x ==)]",
            "$.a[?(@.x ~ 1)]",
            "$.a.unknown()",
            "$..",
            "$.a[x]",
        ] {
            assert!(JsonPath::compile(path).is_err(), "{path}");
        }
    }
}
