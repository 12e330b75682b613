//! `connections` as written: a number, or `auto`.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Virtual users of the open model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionCountWire {
    /// As where nothing is written.
    Auto,
    /// So many.
    Number(u32),
}

impl ConnectionCountWire {
    /// The number, where one is written.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Number(number) => Some(number),
        }
    }
}

impl<E: DeserializeError> Deserr<E> for ConnectionCountWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            Value::String(word) if !word.starts_with(|c: char| c.is_ascii_digit()) => {
                let msg = format!("`{word}` is unknown: write a number such as `50`, or `auto`");
                let kind = ErrorKind::Unexpected { msg };
                Err(take_cf_content(E::error::<V>(None, kind, at)))
            }
            other => u32::deserialize_from_value(other, at).map(Self::Number),
        }
    }
}

impl JsonSchema for ConnectionCountWire {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ConnectionCount".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "auto" }, generator.subschema_for::<u32>()] })
    }
}
