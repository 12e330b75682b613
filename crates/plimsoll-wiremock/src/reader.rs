//! Reads a JSON document property by property, noting every problem with its JSON pointer and carrying on.
//!
//! The meaning of properties is left to the readers of each part (`request_pattern`, `response`, the matchers). Like
//! Jackson, which reads WireMock's files, `null` counts as absent, and a scalar may be written as a string.

#[cfg(any(test, feature = "testing"))]
mod asked;
pub mod body_files;
pub(crate) mod lenient_json;
pub mod problem;
pub mod surroundings;
pub mod targets;

#[cfg(any(test, feature = "testing"))]
pub use asked::names_asked_for;
use problem::{ProblemKind, StubProblem};
use serde_json::{Map, Value};

/// The problems found so far.
pub type Problems = Vec<StubProblem>;

/// One value of the document and where it stands.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// The value.
    pub value: &'a Value,
    /// Its JSON pointer.
    pub pointer: String,
}

/// An object being read: remembers which properties were asked for.
pub struct Object<'a> {
    map: &'a Map<String, Value>,
    /// Its JSON pointer.
    pub pointer: String,
    known: Vec<&'static str>,
}

/// Reads a document with the reader of a part.
pub fn read_value<T>(
    text: &str,
    read: impl FnOnce(&Node<'_>, &mut Problems) -> Option<T>,
) -> Result<T, Problems> {
    let document = parse_lenient(text)?;
    let mut problems = Problems::new();
    match read(&Node::root(&document), &mut problems) {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(problems),
    }
}

/// Parses JSON as WireMock accepts it.
pub fn parse_lenient(text: &str) -> Result<Value, Problems> {
    parse(&lenient_json::to_strict(text))
}

/// Parses strict JSON.
pub fn parse(text: &str) -> Result<Value, Problems> {
    if text.trim().is_empty() {
        return Err(vec![StubProblem::invalid("", "there is nothing")]);
    }
    serde_json::from_str(text).map_err(|error| {
        vec![StubProblem {
            pointer: String::new(),
            kind: ProblemKind::Syntax,
            message: format!("not JSON: {error}"),
        }]
    })
}

impl<'a> Node<'a> {
    /// The whole document.
    pub fn root(value: &'a Value) -> Self {
        Self {
            value,
            pointer: String::new(),
        }
    }

    /// The value as an object.
    pub fn object(&self, problems: &mut Problems) -> Option<Object<'a>> {
        let Value::Object(map) = self.value else {
            return self.wrong("an object", problems);
        };
        Some(Object {
            map,
            pointer: self.pointer.clone(),
            known: Vec::new(),
        })
    }

    /// The properties of an object whose names are the user's: a map.
    pub fn entries(&self, problems: &mut Problems) -> Vec<(&'a str, Node<'a>)> {
        let Value::Object(map) = self.value else {
            self.wrong::<()>("an object", problems);
            return Vec::new();
        };
        map.iter()
            .map(|(name, value)| (name.as_str(), self.child(name, value)))
            .collect()
    }

    /// The items of an array.
    pub fn items(&self, problems: &mut Problems) -> Vec<Node<'a>> {
        let Value::Array(items) = self.value else {
            self.wrong::<()>("an array", problems);
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .map(|(index, item)| self.child(&index.to_string(), item))
            .collect()
    }

    /// A string, where WireMock takes nothing else.
    pub fn string(&self, problems: &mut Problems) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            _ => self.wrong("a string", problems),
        }
    }

    /// A string, or a scalar as a string.
    pub fn text(&self, problems: &mut Problems) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            _ => self.wrong("a string", problems),
        }
    }

    /// A whole number, or a string of one.
    pub fn integer(&self, problems: &mut Problems) -> Option<i64> {
        let value = match self.value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        value.or_else(|| self.wrong("a whole number", problems))
    }

    /// A whole number of milliseconds, not negative.
    pub fn milliseconds(&self, problems: &mut Problems) -> Option<u64> {
        let value = u64::try_from(self.integer(problems)?).ok();
        value.or_else(|| self.wrong("a whole number of milliseconds, 0 or more", problems))
    }

    /// A finite number, or a string of one.
    pub fn number(&self, problems: &mut Problems) -> Option<f64> {
        let value = match self.value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        };
        value.or_else(|| self.wrong("a number", problems))
    }

    /// `true` or `false`, also as a string.
    pub fn boolean(&self, problems: &mut Problems) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(*value),
            Value::String(text) if text == "true" => Some(true),
            Value::String(text) if text == "false" => Some(false),
            _ => self.wrong("true or false", problems),
        }
    }

    /// Notes that this value is not `expected`.
    pub fn wrong<T>(&self, expected: &str, problems: &mut Problems) -> Option<T> {
        let message = format!("must be {expected}, not {}", brief(self.value));
        problems.push(StubProblem::invalid(&self.pointer, message));
        None
    }

    fn child(&self, name: &str, value: &'a Value) -> Self {
        Self {
            value,
            pointer: pointer_to(&self.pointer, name),
        }
    }
}

impl<'a> Object<'a> {
    /// The property of this name, if it is there and not `null`.
    pub fn get(&mut self, name: &'static str) -> Option<Node<'a>> {
        #[cfg(any(test, feature = "testing"))]
        asked::note(&[name]);
        self.known.push(name);
        let value = self.map.get(name).filter(|value| !value.is_null())?;
        Some(Node {
            value,
            pointer: pointer_to(&self.pointer, name),
        })
    }

    /// The property of this name, which must be there.
    pub fn required(&mut self, name: &'static str, problems: &mut Problems) -> Option<Node<'a>> {
        let node = self.get(name);
        if node.is_none() {
            let message = format!("\"{name}\" is missing");
            problems.push(StubProblem::invalid(&self.pointer, message));
        }
        node
    }

    /// Whether any of these properties is there.
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.map.contains_key(*name))
    }

    /// Whether there are properties that were not asked for.
    pub fn has_others(&self) -> bool {
        let mut names = self.map.keys();
        names.any(|name| !self.known.contains(&name.as_str()))
    }

    /// Accepts properties that carry nothing for a server: they are kept in the document and not read.
    pub fn ignore(&mut self, names: &[&'static str]) {
        #[cfg(any(test, feature = "testing"))]
        asked::note(names);
        self.known.extend(names);
    }

    /// Ends the object: what was not asked for is a problem, named as known to WireMock if it is in `later`.
    pub fn finish(self, later: &[&'static str], problems: &mut Problems) {
        #[cfg(any(test, feature = "testing"))]
        asked::note(later);
        for (name, value) in self.map {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            let pointer = pointer_to(&self.pointer, name);
            if !later.contains(&name.as_str()) {
                problems.push(StubProblem::unknown(pointer, name));
            } else if !is_empty(value) {
                problems.push(StubProblem::not_available(pointer, &format!("\"{name}\"")));
            }
        }
    }
}

/// Whether a property says nothing: `null`, an empty list or an empty object.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// The pointer to a member: `~` and `/` are escaped (RFC 6901 §3).
fn pointer_to(parent: &str, name: &str) -> String {
    format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A value short enough to quote in a message.
fn brief(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) if text.chars().count() > 40 => {
            format!("\"{}…\"", text.chars().take(40).collect::<String>())
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_problem_is_noted_with_its_pointer() {
        let document = json!({"a": 1, "odd/name": {}, "later": true, "later_empty": [], "b": "x"});
        let mut problems = Problems::new();
        let mut object = Node::root(&document).object(&mut problems).unwrap();
        assert_eq!(
            object.get("a").unwrap().text(&mut problems).as_deref(),
            Some("1")
        );
        assert_eq!(object.get("b").unwrap().integer(&mut problems), None);
        object.finish(&["later", "later_empty"], &mut problems);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        /b: must be a whole number, not "x"
        /odd~1name: unknown property "odd/name"
        /later: "later" is not available in this version
        "#);
    }
}
