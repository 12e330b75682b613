//! A JSON document to compare and to search. Short texts and few members stand in place: a tree of [`serde_json::Value`] allocates every
//! text and hashes every name, which costs several times as much as all else about a request.

use compact_str::CompactString;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::collections::HashMap;
use std::fmt;

/// Up to so many members are looked for one by one.
const FEW: usize = 16;

/// A value, its parts in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(CompactString),
    Array(Vec<Json>),
    Object(Members),
}

/// The members of an object. Of several with one name the last counts, in the place of the first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    entries: Vec<(CompactString, Json)>,
    /// Where each name is, once there are more than [`FEW`]; elsewhere, as every value has the size of the largest.
    places: Option<Box<Places>>,
}

#[derive(Debug, Clone)]
struct Places(HashMap<CompactString, usize>);

impl Json {
    /// The first document of a text; what follows it does not matter.
    pub(crate) fn first_of(bytes: &[u8]) -> Option<Self> {
        first_document(bytes)
    }

    /// As serde_json has it, for those who work with that.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.as_str().into()),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                let entries = members.iter();
                Value::Object(
                    entries
                        .map(|(name, value)| (name.to_owned(), value.to_value()))
                        .collect(),
                )
            }
        }
    }

    /// A number, or `null` for what JSON has no number for.
    pub(crate) fn number(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }

    /// A count.
    pub(crate) fn count(count: usize) -> Self {
        Self::Number(Number::from(count))
    }

    pub(crate) fn as_object(&self) -> Option<&Members> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

/// The first document of a text, in whichever form.
pub(crate) fn first_document<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    // Texts need not be looked at one by one when all of it is UTF-8.
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::Deserializer::from_str(text)
            .into_iter()
            .next()?
            .ok(),
        Err(_) => serde_json::Deserializer::from_slice(bytes)
            .into_iter()
            .next()?
            .ok(),
    }
}

impl Members {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries.iter().map(|(name, value)| (&**name, value))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        Some(&self.entries[self.place(name)?].1)
    }

    fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.0.get(name).copied(),
            None => self.entries.iter().position(|(own, _)| own == name),
        }
    }

    fn insert(&mut self, name: CompactString, value: Json) {
        if let Some(place) = self.place(&name) {
            self.entries[place].1 = value;
            return;
        }
        let place = self.entries.len();
        if place == FEW {
            let names = self.entries.iter().map(|(name, _)| name.clone());
            self.places = Some(Box::new(Places(names.zip(0..).collect())));
        }
        if let Some(places) = &mut self.places {
            places.0.insert(name.clone(), place);
        }
        self.entries.push((name, value));
    }
}

/// Whatever their order.
impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        let has = |(name, value)| other.get(name).is_some_and(|theirs| theirs == value);
        self.len() == other.len() && self.iter().all(has)
    }
}

impl FromIterator<(CompactString, Json)> for Members {
    fn from_iter<I: IntoIterator<Item = (CompactString, Json)>>(entries: I) -> Self {
        let mut members = Self::default();
        for (name, value) in entries {
            members.insert(name, value);
        }
        members
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let entries = map.iter();
                Self::Object(
                    entries
                        .map(|(name, value)| (name.into(), Self::from(value)))
                        .collect(),
                )
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Makes a [`Json`] of what a parser sees.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key()? {
            members.insert(name, map.next_value()?);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Option<Json> {
        Json::first_of(text.as_bytes())
    }

    /// Any document, with names that repeat and texts that need escapes.
    fn documents() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-c\"\\\\\n\u{e4}]{0,30}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
                prop::collection::vec(("[a-c\"\u{e4}]{0,4}", inner), 0..24)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_reads(document in documents(), other in documents()) {
            let text = document.to_string();
            let read = read(&text).unwrap();
            prop_assert_eq!(read.to_value().to_string(), text);
            prop_assert_eq!(&read, &Json::from(&document));
            prop_assert_eq!(read == Json::from(&other), document == other);
        }
    }

    #[test]
    fn of_several_members_with_one_name_the_last_counts() {
        let check = |others: usize| {
            let others: String = (0..others).map(|n| format!("\"m{n}\": {n}, ")).collect();
            let text = format!("{{\"a\": 1, {others}\"b\": 2, \"\\u0061\": 3}}");
            let expected: Value = serde_json::from_str(&text).unwrap();
            let read = read(&text).unwrap();
            assert_eq!(read.to_value().to_string(), expected.to_string());
            let members = read.as_object().unwrap();
            assert_eq!(members.get("a"), Some(&Json::Number(3.into())));
            assert_eq!(members.get("z"), None);
        };
        check(0);
        check(FEW - 2);
        check(FEW - 1);
        check(3 * FEW);
    }

    #[test]
    fn only_the_first_document_matters() {
        assert_eq!(read("{} x").map(|json| json.to_value()), Some(json!({})));
        assert_eq!(Json::first_of(b"[1] \xff"), read("[1]"));
        assert_eq!(Json::first_of(b"[\"\xff\"]"), None);
        assert_eq!(read("["), None);
        assert_eq!(read(""), None);
        assert_eq!(read(&"[".repeat(100_000)), None);
    }
}
