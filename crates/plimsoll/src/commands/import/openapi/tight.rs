//! JSON whose mappings and lists have room for what they hold and no more. `serde_json` lets each grow, which for small ones is three times
//! as much; most mappings of a description are small.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A value that is read so.
pub struct Tight(pub Value);

impl<'de> Deserialize<'de> for Tight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(Tight(item)) = items.next_element()? {
            read.push(item);
        }
        read.shrink_to_fit();
        Ok(Value::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some((key, Tight(value))) = entries.next_entry::<String, Tight>()? {
            read.push((key, value));
        }
        let mut map = Map::with_capacity(read.len());
        map.extend(read);
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_it_would_be() {
        let check = |text: &str| {
            let Tight(value) = serde_json::from_str(text).unwrap();
            assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
            // In the same order.
            let as_usual = serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(value.to_string(), as_usual.to_string());
        };
        check(
            r#"{"b": [1, -1, 1.5, 1e300, 99999999999999999999], "a": {"": null}, "c": [true, "\u00e9"]}"#,
        );
        check(r#"{"b": 1, "a": 2, "b": 3}"#);
        check(r#"[[], {}, ""]"#);
    }
}
