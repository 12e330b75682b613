//! `when_busy` as written: what becomes of an arrival that finds no idle virtual user.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::suggestion;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Fate of an arrival that finds no idle virtual user.
#[derive(Debug, Clone, Copy)]
pub enum BusyWire {
    /// It waits in the queue.
    Queue,
    /// It is dropped and counted.
    Drop,
    /// It gets a new virtual user as long as there are fewer than a number, and waits in the queue after that.
    Grow(GrowWire),
}

/// Virtual users are added to the first ones when they are wanted.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Grow", deny_unknown_fields)]
pub struct GrowWire {
    /// How many there may be in all, with the first ones (`connections`).
    pub grow: u32,
}

impl<E: DeserializeError> Deserr<E> for BusyWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let word = match value {
            Value::String(word) => word,
            other => return GrowWire::deserialize_from_value(other, at).map(Self::Grow),
        };
        let msg = match word.as_str() {
            "queue" => return Ok(Self::Queue),
            "drop" => return Ok(Self::Drop),
            "grow" => "`grow` needs its limit: write `{ grow: 500 }`".to_owned(),
            other => {
                let known = ["queue", "drop", "{ grow: … }"].map(str::to_owned);
                format!("`{other}` is unknown: {}", suggestion(other, &known))
            }
        };
        let kind = ErrorKind::Unexpected { msg };
        Err(take_cf_content(E::error::<V>(None, kind, at)))
    }
}

impl JsonSchema for BusyWire {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Busy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "enum": ["queue", "drop"] }, generator.subschema_for::<GrowWire>()] })
    }
}
