//! A value in a body of JSON by its path, as gjson finds it: names and places in lists with dots between. What comes behind the value
//! does not matter, so it is found in the beginning of a long body, too.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::cell::RefCell;
use std::fmt;

/// The text that a value has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodyField {
    path: Vec<String>,
    value: String,
}

impl BodyField {
    /// The value at `path`, which has to be `value`.
    ///
    /// # Errors
    /// The part of them that is not supported.
    pub(crate) fn new(path: &str, value: &str) -> Result<Self, String> {
        let is_plain = |name: &str| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        if !path.split('.').all(is_plain) {
            return Err(format!(
                "`{path}` is more than names and places with dots between, and that is not supported: write for instance `errors.0.code`"
            ));
        }
        Ok(Self {
            path: path.split('.').map(str::to_owned).collect(),
            value: value.to_owned(),
        })
    }

    /// Whether it is in a body, of which this is the beginning.
    pub(super) fn is_in(&self, body: &[u8]) -> bool {
        let Some(start) = body.iter().position(|byte| b"{[".contains(byte)) else {
            return false;
        };
        let found = RefCell::new(None);
        let seek = Seek {
            path: &self.path,
            found: &found,
        };
        // What cannot be read behind it has no say.
        let read = seek.deserialize(&mut serde_json::Deserializer::from_slice(&body[start..]));
        drop(read);
        found.into_inner().is_some_and(|value| value == self.value)
    }
}

/// A value as gjson shows it; lists and objects, which it shows as they are written, are none.
fn shown(value: Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(is) => Some(is.to_string()),
        Value::String(text) => Some(text),
        Value::Number(number) => match number.is_f64() {
            true => Some(format!("{}", number.as_f64()?)),
            false => Some(number.to_string()),
        },
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Looks for what is left of the path; with the first that is found it is over.
#[derive(Clone, Copy)]
struct Seek<'a> {
    path: &'a [String],
    found: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if self.found.borrow().is_some() || self.path.first() != Some(&name) {
                map.next_value::<IgnoredAny>()?;
            } else if self.path.len() == 1 {
                let value = map.next_value()?;
                self.found.replace(shown(value));
            } else {
                map.next_value_seed(self.below())?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let place = self.path.first().and_then(|name| name.parse().ok());
        for index in 0_usize.. {
            if self.found.borrow().is_none() && place == Some(index) {
                if self.path.len() == 1 {
                    let Some(value) = items.next_element()? else {
                        break;
                    };
                    self.found.replace(shown(value));
                } else if items.next_element_seed(self.below())?.is_none() {
                    break;
                }
            } else if items.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

impl Seek<'_> {
    fn below(&self) -> Self {
        Self {
            path: &self.path[1..],
            found: self.found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_as_gjson_finds_it() {
        let check = |body: &str, path: &str, value: &str, expected: bool| {
            let field = BodyField::new(path, value).unwrap();
            assert_eq!(field.is_in(body.as_bytes()), expected, "{body} {path}");
        };
        check(r#"{"error":{"code":"X"}}"#, "error.code", "X", true);
        check(r#"{"error":{"code":"Y"}}"#, "error.code", "X", false);
        check(r#"{"a":[{"b":1},{"b":2}]}"#, "a.1.b", "2", true);
        check(r#"[true, null, 1.50]"#, "2", "1.5", true);
        check(r#"[true, null, 1.50]"#, "0", "true", true);
        check(r#"{"a":[1]}"#, "a", "[1]", false);
        check(r#"{"0":"x"}"#, "0", "x", true);
        check(r#"{"a":1,"a":{"b":"x"}}"#, "a.b", "x", true);
        check(r#"{"a":"x","a":"y"}"#, "a", "y", false);
        check(r#"{"a":"x","rest":"cut of"#, "a", "x", true);
        check(r#"{"a":"cut of"#, "a", "cut of", false);
        check(r#")]}', {"a":"x"}"#, "a", "x", true);
        check("no JSON", "a", "", false);
        for path in ["a.#.b", "a|b", "a.*", "@this", "", "a..b", r"a\.b"] {
            assert!(BodyField::new(path, "x").is_err(), "{path}");
        }
    }
}
