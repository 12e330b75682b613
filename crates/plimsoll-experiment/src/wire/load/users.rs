//! `users` as written: a number, or how it changes.

use std::borrow::Cow;

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use plimsoll_base::document::{DurationText, RateText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Virtual users of the closed model.
#[derive(Debug, Clone, Copy)]
pub enum UsersWire {
    /// So many throughout.
    Number(u32),
    /// A number that changes.
    Change(UserChangeWire),
}

/// A number of users that changes: linearly with `from` and `to`, or level by level with `from`, `step` and `every`.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "UserChange", deny_unknown_fields)]
pub struct UserChangeWire {
    /// How many there are at the start.
    pub from: u32,
    /// How many there are at the end.
    #[deserr(default)]
    pub to: Option<u32>,
    /// With `to`: how many come, or go, per time. What is left of the stage after that, it stays at `to`. Default: the stage's whole length.
    #[deserr(default)]
    pub rate: Option<RateText>,
    /// Added from level to level.
    #[deserr(default)]
    pub step: Option<u32>,
    /// With `step`: how long a level lasts.
    #[deserr(default)]
    pub every: Option<DurationText>,
    /// With `step`: how many levels there are; the last one is held for as long as the stage lasts. Default: as many as fit in.
    #[deserr(default)]
    pub levels: Option<u32>,
}

impl<E: DeserializeError> Deserr<E> for UsersWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            map @ Value::Map(_) => {
                UserChangeWire::deserialize_from_value(map, at).map(Self::Change)
            }
            other => u32::deserialize_from_value(other, at).map(Self::Number),
        }
    }
}

impl JsonSchema for UsersWire {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Users".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<u32>();
        json_schema!({ "anyOf": [number, generator.subschema_for::<UserChangeWire>()] })
    }
}
