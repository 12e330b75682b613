//! JSONPath in the dialect of Jayway's JsonPath, which WireMock uses: definite and indefinite paths, filters, functions.
//!
//! Parsing is left to `parse`, filters to `filter`, functions to `function`. What is not known is refused when a path is compiled.

mod filter;
mod function;
mod parse;

use crate::budget::{Budget, TooCostly};
use crate::document::json::{Json, Members};
use bumpalo::Bump;
use filter::Filter;
use function::Function;

/// A compiled path.
#[derive(Debug, Clone)]
pub struct JsonPath {
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

/// A search under way.
struct Walk<'w> {
    root: &'w Json<'w>,
    budget: &'w Budget,
}

/// Result of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonFound<'v> {
    /// A path that can lead to one place only leads nowhere.
    Nothing,
    /// The value at that one place.
    One(&'v Json<'v>),
    /// The values, perhaps none, of a path that can lead to several places.
    Many(Vec<&'v Json<'v>>),
}

impl JsonPath {
    /// Compiles a path; the error says what is wrong with it.
    pub fn compile(text: &str) -> Result<Self, String> {
        parse::path(text)
    }

    /// Where the path leads in `root`. What functions make on the way stands in the arena.
    pub fn find<'v>(
        &self,
        root: &'v Json<'v>,
        arena: &'v Bump,
        budget: &Budget,
    ) -> Result<JsonFound<'v>, TooCostly> {
        let walk = Walk { root, budget };
        self.find_from(root, &walk, arena)
    }

    /// The result from a value inside `root`, for the paths of filters.
    fn find_from<'v>(
        &self,
        start: &'v Json<'v>,
        walk: &Walk<'_>,
        arena: &'v Bump,
    ) -> Result<JsonFound<'v>, TooCostly> {
        // Names alone, as in most filters, need no list.
        let (mut start, mut segments) = (Some(start), &*self.segments);
        while let [Segment::Name(name), rest @ ..] = segments {
            start = start
                .and_then(Json::as_object)
                .and_then(|map| map.get(name));
            segments = rest;
        }
        if segments.is_empty() {
            return Ok(start.map_or(JsonFound::Nothing, JsonFound::One));
        }
        let mut found: Vec<_> = start.into_iter().collect();
        for segment in segments {
            let mut next = Vec::new();
            for value in found {
                segment.apply(value, walk, arena, &mut next)?;
            }
            found = next;
        }
        if !self.is_definite() {
            return Ok(JsonFound::Many(found));
        }
        Ok(found.pop().map_or(JsonFound::Nothing, JsonFound::One))
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
        value: &'v Json<'v>,
        walk: &Walk<'_>,
        arena: &'v Bump,
        out: &mut Vec<&'v Json<'v>>,
    ) -> Result<(), TooCostly> {
        walk.budget.spend(1 + self.width(value))?;
        match self {
            Self::Name(name) => out.extend(value.as_object().and_then(|map| map.get(name))),
            Self::Names(names) => {
                out.extend(value.as_object().map(|map| only(map, names, arena)));
            }
            Self::Wildcard => out.extend(children(value)),
            Self::Index(index) => out.extend(item(value, *index)),
            Self::Indices(indices) => {
                out.extend(indices.iter().filter_map(|index| item(value, *index)));
            }
            Self::Slice(from, to) => {
                let items = value.as_array().unwrap_or_default();
                out.extend(slice(items, *from, *to));
            }
            Self::Filter(filter) => match value {
                Json::Array(items) => {
                    for item in *items {
                        if filter.accepts(item, walk)? {
                            out.push(item);
                        }
                    }
                }
                Json::Object(_) if filter.accepts(value, walk)? => out.push(value),
                _ => {}
            },
            Self::Descend(segment) => segment.descend(value, walk, arena, out)?,
            Self::Function(function) => {
                let made = function.apply(value, arena);
                out.extend(made.map(|made| &*arena.alloc(made)));
            }
        }
        Ok(())
    }

    /// How many parts of a value are looked at, but for filters, which say so themselves.
    fn width(&self, value: &Json<'_>) -> usize {
        match (self, value) {
            (Self::Wildcard | Self::Slice(..) | Self::Function(_), Json::Array(items)) => {
                items.len()
            }
            (Self::Wildcard | Self::Function(_), Json::Object(members)) => members.len(),
            (Self::Names(names), _) => names.len() * names.len(),
            (Self::Indices(indices), _) => indices.len(),
            _ => 0,
        }
    }

    /// Applies this segment to an object or array and to all of them below it. A filter is asked about each of them, not about their items.
    fn descend<'v>(
        &self,
        value: &'v Json<'v>,
        walk: &Walk<'_>,
        arena: &'v Bump,
        out: &mut Vec<&'v Json<'v>>,
    ) -> Result<(), TooCostly> {
        if value.as_object().is_none() && value.as_array().is_none() {
            return Ok(());
        }
        match self {
            Self::Filter(filter) => {
                if filter.accepts(value, walk)? {
                    out.push(value);
                }
            }
            _ => self.apply(value, walk, arena, out)?,
        }
        for child in children(value) {
            walk.budget.spend(1)?;
            self.descend(child, walk, arena, out)?;
        }
        Ok(())
    }
}

/// The values of an object or the items of an array.
fn children<'v>(value: &'v Json<'v>) -> Box<dyn Iterator<Item = &'v Json<'v>> + 'v> {
    match value {
        Json::Array(items) => Box::new(items.iter()),
        Json::Object(members) => Box::new(members.iter().map(|(_, value)| value)),
        _ => Box::new(std::iter::empty()),
    }
}

fn only<'v>(members: &'v Members<'v>, names: &[String], arena: &'v Bump) -> &'v Json<'v> {
    let mut kept: Vec<(&str, Json<'_>)> = Vec::new();
    for name in names {
        let is_new = kept.iter().all(|(own, _)| own != name);
        if let Some(value) = members.get(name).filter(|_| is_new) {
            kept.push((arena.alloc_str(name), *value));
        }
    }
    arena.alloc(Json::object(kept, arena))
}

fn item<'v>(value: &Json<'v>, index: i64) -> Option<&'v Json<'v>> {
    let items = value.as_array()?;
    let length = i64::try_from(items.len()).ok()?;
    let index = if index < 0 { index + length } else { index };
    items.get(usize::try_from(index).ok()?)
}

fn slice<T>(items: &[T], from: Option<i64>, to: Option<i64>) -> &[T] {
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

    /// Checks the result of a path, as JSON; `null` for nothing.
    fn check(text: &str, expected: Value) {
        let document = store();
        let arena = Bump::new();
        let document = Json::of(&document, &arena);
        let path = JsonPath::compile(text).unwrap();
        let found = path.find(&document, &arena, &Budget::for_bytes(0)).unwrap();
        let actual = match found {
            JsonFound::Nothing => Value::Null,
            JsonFound::One(value) => value.to_value(),
            JsonFound::Many(values) => values.iter().map(|value| value.to_value()).collect(),
        };
        assert_eq!(actual, expected, "{text}");
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
        check("$.book[0]['title','title']", json!({"title": "A"}));
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
    fn costly_searches_are_given_up() {
        let mut nested = json!(0);
        for _ in 0..100 {
            nested = json!([nested, 0, 0]);
        }
        let document: Value = std::iter::repeat_n(nested, 100).collect();
        let arena = Bump::new();
        let document = Json::of(&document, &arena);
        let check = |text: &str, is_known: bool| {
            let (path, budget) = (JsonPath::compile(text).unwrap(), Budget::for_bytes(0));
            let found = path.find(&document, &arena, &budget);
            assert_eq!(found.is_ok(), is_known, "{text}");
            assert_eq!(budget.is_spent(), !is_known, "{text}");
        };
        check("$..*", true);
        check("$..*..*..*", false);
        check("$..[?(@.size() == $..*.size())]", false);
        check("$..[?($..* contains 1)]", false);
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
