//! A length of time as written: fixed, or drawn anew each time.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::DurationText;
use plimsoll_load::plan::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A duration, or a mapping that says how one is drawn. Whether its values can be is the plan's to check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpanWire {
    /// `2s`
    Fixed(DurationText),
    /// `{ uniform: [1s, 3s] }` and the others.
    Drawn(DrawnWire),
}

/// How a length is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DrawnWire {
    /// `{ uniform: [1s, 3s] }`
    Uniform(DurationText, DurationText),
    /// `{ exponential: 2s }`
    Exponential(DurationText),
    /// `{ lognormal: { median: 2s, sigma: 0.5 } }`
    Lognormal(LognormalWire),
}

/// Exactly one of `uniform`, `exponential` and `lognormal`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Drawn",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["uniform"] }, { "required": ["exponential"] }, { "required": ["lognormal"] }])
)]
struct DrawnMappingWire {
    /// Any length between the shortest and the longest is as likely as any other: `[1s, 3s]`.
    #[deserr(default)]
    #[schemars(length(equal = 2))]
    uniform: Option<Vec<DurationText>>,
    /// Exponentially distributed, with this mean.
    #[deserr(default)]
    exponential: Option<DurationText>,
    /// Lognormally distributed.
    #[deserr(default)]
    lognormal: Option<LognormalWire>,
}

/// A lognormal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Lognormal", deny_unknown_fields)]
pub struct LognormalWire {
    /// The length that half of all are below.
    pub median: DurationText,
    /// The standard deviation of its logarithm: a tenth of all are beyond `median · exp(1.28 · sigma)`.
    pub sigma: f64,
}

impl SpanWire {
    /// The span as the plan has it.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Fixed(length) => Span::Constant(**length),
            Self::Drawn(DrawnWire::Uniform(from, to)) => Span::Uniform {
                from: **from,
                to: **to,
            },
            Self::Drawn(DrawnWire::Exponential(mean)) => Span::Exponential { mean: **mean },
            Self::Drawn(DrawnWire::Lognormal(wire)) => Span::Lognormal {
                median: *wire.median,
                sigma: wire.sigma,
            },
        }
    }
}

impl<E: DeserializeError> Deserr<E> for SpanWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let mapping = match value {
            map @ Value::Map(_) => DrawnMappingWire::deserialize_from_value(map, at)?,
            other => return DurationText::deserialize_from_value(other, at).map(Self::Fixed),
        };
        drawn(mapping).map(Self::Drawn).map_err(|message| {
            let msg = message.to_owned();
            take_cf_content(E::error::<V>(None, ErrorKind::Unexpected { msg }, at))
        })
    }
}

fn drawn(mapping: DrawnMappingWire) -> Result<DrawnWire, &'static str> {
    match mapping {
        DrawnMappingWire {
            uniform: Some(bounds),
            exponential: None,
            lognormal: None,
        } => match bounds[..] {
            [from, to] => Ok(DrawnWire::Uniform(from, to)),
            _ => Err("`uniform` has two bounds: write `uniform: [1s, 3s]`"),
        },
        DrawnMappingWire {
            uniform: None,
            exponential: Some(mean),
            lognormal: None,
        } => Ok(DrawnWire::Exponential(mean)),
        DrawnMappingWire {
            uniform: None,
            exponential: None,
            lognormal: Some(lognormal),
        } => Ok(DrawnWire::Lognormal(lognormal)),
        _ => Err(
            "is drawn in one way: write one of `{ uniform: [1s, 3s] }`, `{ exponential: 2s }` and `{ lognormal: { median: 2s, sigma: 0.5 } }`",
        ),
    }
}

impl JsonSchema for SpanWire {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<DurationText>(), generator.subschema_for::<DrawnMappingWire>()] })
    }
}
