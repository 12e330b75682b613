//! Reads a JSON document into an arena, and counts its values meanwhile.

use super::{FEW, Json, Member, mark};
use crate::budget::TooCostly;
use bumpalo::Bump;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

pub(super) fn read<'a, R: serde_json::de::Read<'a>>(
    parser: &mut serde_json::Deserializer<R>,
    arena: &'a Bump,
    left: usize,
) -> Result<Option<Json<'a>>, TooCostly> {
    let mut begun = Begun {
        arena,
        left,
        items: Vec::with_capacity(32),
        members: Vec::with_capacity(32),
    };
    let read = Reader(&mut begun).deserialize(parser).ok();
    if begun.left == 0 {
        return Err(TooCostly::Parts);
    }
    Ok(read)
}

/// Parts of arrays and objects that have begun; each takes its own at its end, when it is known how many they are.
struct Begun<'a> {
    arena: &'a Bump,
    /// How many values there may still be.
    left: usize,
    items: Vec<Json<'a>>,
    members: Vec<Member<'a>>,
}

impl Begun<'_> {
    /// Counts a value.
    fn count<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Err(E::custom(TooCostly::Parts));
        }
        Ok(())
    }
}

/// Makes a [`Json`] of what a parser sees.
struct Reader<'r, 'a>(&'r mut Begun<'a>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for Reader<'_, 'a> {
    type Value = Json<'a>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Reader<'_, 'a> {
    type Value = Json<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'a>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'a>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'a>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'a>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'a>, E> {
        Ok(Json::number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'a>, E> {
        Ok(Json::String(self.0.arena.alloc_str(text)))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'a>, E> {
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json<'a>, A::Error> {
        let begun = self.0;
        let start = begun.items.len();
        while let Some(item) = sequence.next_element_seed(Reader(begun))? {
            begun.count()?;
            begun.items.push(item);
        }
        let items = begun.items.drain(start..);
        Ok(Json::Array(begun.arena.alloc_slice_fill_iter(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'a>, A::Error> {
        let begun = self.0;
        let start = begun.members.len();
        let (mut marks, mut may_repeat) = (0, false);
        while let Some(name) = map.next_key_seed(NameReader(begun.arena))? {
            let mark = mark(name);
            may_repeat |= marks & mark != 0;
            marks |= mark;
            let value = map.next_value_seed(Reader(begun))?;
            begun.count()?;
            begun.members.push((name, value));
        }
        if may_repeat {
            drop_repeated(&mut begun.members, start);
        }
        Ok(Json::object(begun.members.drain(start..), begun.arena))
    }
}

/// Makes a text of the name that a parser sees.
struct NameReader<'a>(&'a Bump);

impl<'de: 'a, 'a> DeserializeSeed<'de> for NameReader<'a> {
    type Value = &'a str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'a str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for NameReader<'a> {
    type Value = &'a str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, text: &str) -> Result<&'a str, E> {
        Ok(self.0.alloc_str(text))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<&'a str, E> {
        Ok(text)
    }
}

/// Leaves one member of each name from `start` on: the first, with the value of the last.
fn drop_repeated(members: &mut Vec<Member<'_>>, start: usize) {
    let are_few = members.len() - start <= FEW;
    let mut places = HashMap::new();
    let mut end = start;
    for index in start..members.len() {
        let name = members[index].0;
        let first = if are_few {
            (start..end).find(|place| members[*place].0 == name)
        } else {
            places.get(name).copied()
        };
        match first {
            Some(first) => members.swap(first, index),
            None => {
                if !are_few {
                    places.insert(name, end);
                }
                members.swap(end, index);
                end += 1;
            }
        }
    }
    members.truncate(end);
}
