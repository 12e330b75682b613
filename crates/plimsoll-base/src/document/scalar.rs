//! Wire types for single values: quantities with units, text, ordered mappings, one-or-many lists.
//!
//! Each decodes through `deserr` with a message that shows a valid spelling, and describes itself to `schemars`.

use std::borrow::Cow;
use std::ops::{ControlFlow, Deref};
use std::time::Duration;

use deserr::ValuePointerRef;
use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Map, Value, ValueKind, take_cf_content,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::decode::describe;
use crate::units::{self, Rate};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($inner:ty), $parse:path, $example:literal, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name(pub $inner);

        impl Deref for $name {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }

        impl<E: DeserializeError> Deserr<E> for $name {
            fn deserialize_from_value<V: IntoValue>(value: Value<V>, at: ValuePointerRef<'_>) -> Result<Self, E> {
                let parsed = match as_written(&value) {
                    Some(text) => $parse(&text).map_err(|error| error.to_string()),
                    None => Err(format!("found {}: write {}", describe(&value), $example)),
                };
                parsed.map(Self).map_err(|message| unexpected::<E, V>(message, at))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

quantity!(
    /// A duration: `250ms`, `2s`, `1m30s`, `0`.
    DurationText(Duration),
    units::parse_duration,
    "`250ms`, `2s` or `1m30s`",
    {
        "description": "A duration with its unit: `250ms`, `2s`, `1m30s`, or `0`",
        "anyOf": [
            { "type": "string", "pattern": r"^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$" },
            { "const": 0 }
        ]
    }
);

quantity!(
    /// A rate: `5000/s`, `90/min`, `10/h`.
    RateText(Rate),
    Rate::parse,
    "`5000/s`, `90/min` or `10/h`",
    {
        "description": "Events per time with the unit: `5000/s`, `90/min`, `10/h`",
        "type": "string",
        "pattern": r"^[0-9]+(\.[0-9]+)?/(s|m|min|h)$"
    }
);

quantity!(
    /// A rate that may be zero, where one begins or ends: `0/s`, `5000/s`. The value is events per second.
    EdgeRateText(f64),
    units::parse_edge_rate,
    "`5000/s`, `90/min` or `0/s`",
    {
        "description": "Events per time with the unit, or none: `5000/s`, `90/min`, `0/s`",
        "anyOf": [
            { "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?/(s|m|min|h)$" },
            { "const": 0 }
        ]
    }
);

quantity!(
    /// A share of a whole: `0.1%` or `0.001`. The value is the fraction, 0 to 1.
    ShareText(f64),
    units::parse_share,
    "`0.1%` or `0.001`",
    {
        "description": "A share: `0.1%` or `0.001`",
        "anyOf": [
            { "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?%?$" },
            { "type": "number", "minimum": 0, "maximum": 1 }
        ]
    }
);

quantity!(
    /// A size in bytes: `512`, `64KiB`, `10MB`.
    BytesText(u64),
    units::parse_bytes,
    "`32KiB`, `10MB` or `512`",
    {
        "description": "A size in bytes, with or without unit: `512`, `64KiB`, `10MB`",
        "anyOf": [
            { "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(B|[kK]B|[MG]B|[KMG]iB)?$" },
            { "type": "integer", "minimum": 0 }
        ]
    }
);

/// The text of a scalar as it was written; `None` for anything that is not text or a number.
fn as_written<V: IntoValue>(value: &Value<V>) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::NegativeInteger(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Null | Value::Boolean(_) | Value::Sequence(_) | Value::Map(_) => None,
    }
}

fn unexpected<E: DeserializeError, V: IntoValue>(msg: String, at: ValuePointerRef<'_>) -> E {
    take_cf_content(E::error::<V>(None, ErrorKind::Unexpected { msg }, at))
}

/// Text where a whole number may be written without quotes: header values, arguments, environment values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<E: DeserializeError> Deserr<E> for Text {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            // Only whole numbers: `1.10` would come back as `1.1`.
            Value::Integer(number) => Ok(Self(number.to_string())),
            Value::NegativeInteger(number) => Ok(Self(number.to_string())),
            other => String::deserialize_from_value(other, at).map(Self),
        }
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// A quantity whose unit depends on something else in the file: text or a number, not yet parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub String);

impl Deref for Scalar {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<E: DeserializeError> Deserr<E> for Scalar {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        as_written(&value).map(Self).ok_or_else(|| {
            let message = format!("found {}: write a quantity such as `1ms`", describe(&value));
            unexpected::<E, V>(message, at)
        })
    }
}

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

/// A mapping with free keys, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Entries<T> {
    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Keys and values in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl<T: Deserr<E>, E: DeserializeError> Deserr<E> for Entries<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let map = match value {
            Value::Map(map) => map,
            actual => {
                let accepted = &[ValueKind::Map];
                let kind = ErrorKind::IncorrectValueKind { actual, accepted };
                return Err(take_cf_content(E::error(None, kind, at)));
            }
        };
        let mut error = None;
        let mut entries = Vec::with_capacity(map.len());
        for (key, value) in map.into_iter() {
            let here = at.push_key(&key);
            match T::deserialize_from_value(value.into_value(), here) {
                Ok(value) => entries.push((key, value)),
                Err(fault) => match E::merge(error, fault, here) {
                    ControlFlow::Continue(merged) => error = Some(merged),
                    ControlFlow::Break(merged) => return Err(merged),
                },
            }
        }
        error.map_or(Ok(Self(entries)), Err)
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Map_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

/// One value, or a list of them: `200` or `[200, 404]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: Deserr<E>, E: DeserializeError> Deserr<E> for OneOrMany<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            list @ Value::Sequence(_) => Vec::deserialize_from_value(list, at).map(Self),
            one => T::deserialize_from_value(one, at).map(|value| Self(vec![value])),
        }
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("One_or_many_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
