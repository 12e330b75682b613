//! `method` and `thresholds` as written.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::{DurationText, Scalar, suggestion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::LATER;

/// How the arms are run: the word `measure`, or a mapping.
#[derive(Debug)]
pub enum MethodWire {
    /// `measure`
    Measure,
    /// `compare: { … }`
    Mapping(MethodMappingWire),
}

/// Exactly one of `measure` and `compare`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Method",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["measure"] }, { "required": ["compare"] }])
)]
pub struct MethodMappingWire {
    /// Every arm once: how does it behave under this load?
    #[deserr(default)]
    pub measure: Option<MeasureWire>,
    /// Randomised blocks, each holding every arm once: which arm is slower, by how much, how sure?
    #[deserr(default)]
    pub compare: Option<CompareWire>,
}

impl<E: DeserializeError> Deserr<E> for MethodWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let word = match value {
            Value::String(word) => word,
            other => {
                return MethodMappingWire::deserialize_from_value(other, at).map(Self::Mapping);
            }
        };
        let msg = match word.as_str() {
            "measure" => return Ok(Self::Measure),
            "compare" => {
                "`compare` needs its fields: write `compare: { baseline: …, blocks: 6 }`".to_owned()
            }
            later if LATER.contains(&later) => {
                format!("`{later}` is not available in this version: write `measure` or `compare`")
            }
            other => format!(
                "unknown method `{other}`: {}",
                suggestion(other, &["measure".to_owned(), "compare".to_owned()])
            ),
        };
        Err(take_cf_content(E::error::<V>(
            None,
            ErrorKind::Unexpected { msg },
            at,
        )))
    }
}

impl JsonSchema for MethodWire {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MethodOrWord".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "measure" }, generator.subschema_for::<MethodMappingWire>()] })
    }
}

/// `measure` has no fields: write `{}`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Measure", deny_unknown_fields)]
pub struct MeasureWire {}

/// What arms are compared with, and how often.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Compare", deny_unknown_fields)]
pub struct CompareWire {
    /// The arm that others are compared with.
    pub baseline: String,
    /// How many blocks; at least 2. More blocks find smaller differences.
    #[schemars(range(min = 2, max = 1000))]
    pub blocks: u32,
}

/// A bound on one metric of one arm: exactly one of `below` and `above`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Threshold",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["below"] }, { "required": ["above"] }])
)]
pub struct ThresholdWire {
    /// The arm. Default: the only one.
    #[deserr(default)]
    pub arm: Option<String>,
    /// A path below `arms.<arm>` of `summary.json`, such as `response_time.p99`, `added.p99`, `failed_share`.
    pub metric: String,
    /// The metric must be below this, in its own unit: `1ms`, `0.1%`, `4900/s`, `64MiB`, `10`.
    #[deserr(default)]
    pub below: Option<Scalar>,
    /// The metric must be above this.
    #[deserr(default)]
    pub above: Option<Scalar>,
    /// `true`: it is also held against the last `window` of the load, every second, and ends the run where it does not hold. The run is
    /// kept, and the threshold has failed. Default: `false`.
    #[deserr(default)]
    pub abort: Option<bool>,
    /// With `abort`: how far it looks back, in whole seconds from 1s to 10m; the warm-up is left out, and the first window must be full.
    /// Beyond 20s it moves on by several seconds at a time. Default: 10s, or the measured time where that is shorter.
    #[deserr(default)]
    pub window: Option<DurationText>,
}
