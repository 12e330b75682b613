//! `method` and `thresholds` as written.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::{DurationText, RateText, Scalar, ShareText, suggestion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{AvailabilityWire, LATER};

/// How the arms are run: the word `measure`, or a mapping.
#[derive(Debug)]
pub enum MethodWire {
    /// `measure`
    Measure,
    /// `compare: { … }`
    Mapping(Box<MethodMappingWire>),
}

/// The words and keys of methods.
pub const METHODS: [&str; 6] = [
    "measure",
    "compare",
    "levels",
    "capacity",
    "sensitivity",
    "availability",
];

/// Exactly one of `measure`, `compare`, `levels`, `capacity`, `sensitivity` and `availability`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Method",
    deny_unknown_fields,
    extend("oneOf" = [
        { "required": ["measure"] },
        { "required": ["compare"] },
        { "required": ["levels"] },
        { "required": ["capacity"] },
        { "required": ["sensitivity"] },
        { "required": ["availability"] }
    ])
)]
pub struct MethodMappingWire {
    /// Every arm once: how does it behave under this load?
    #[deserr(default)]
    pub measure: Option<MeasureWire>,
    /// Randomised blocks, each holding every arm once: which arm is slower, by how much, how sure?
    #[deserr(default)]
    pub compare: Option<CompareWire>,
    /// Every arm at several rates, or with several numbers of users, each held for some time: how does it behave at each?
    #[deserr(default)]
    pub levels: Option<LevelsWire>,
    /// A search of each arm: which rate does it carry within an objective, and what gives way?
    #[deserr(default)]
    pub capacity: Option<CapacityWire>,
    /// Links between components are delayed one by one: what of it do callers notice, and what would they gain without the dependency?
    #[deserr(default)]
    pub sensitivity: Option<SensitivityWire>,
    /// Faults are tried, one by one and many times: for how long are callers without answers, and how much of a year is that?
    #[deserr(default)]
    pub availability: Option<AvailabilityWire>,
}

impl<E: DeserializeError> Deserr<E> for MethodWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let word = match value {
            Value::String(word) => word,
            other => {
                return MethodMappingWire::deserialize_from_value(other, at)
                    .map(|mapping| Self::Mapping(Box::new(mapping)));
            }
        };
        let msg = match word.as_str() {
            "measure" => return Ok(Self::Measure),
            "compare" => {
                "`compare` needs its fields: write `compare: { baseline: …, blocks: 6 }`".to_owned()
            }
            "levels" => {
                "`levels` needs its fields: write `levels: { rates: [10/s, 50/s], hold: 10s }`"
                    .to_owned()
            }
            "capacity" => {
                "`capacity` needs its fields: write `capacity: { objective: { p99: 200ms }, from: 10/s }`"
                    .to_owned()
            }
            "sensitivity" => {
                "`sensitivity` needs its fields: write `sensitivity: { links: all, delays: [0ms, 4ms, 8ms, 14ms, 20ms], hold: 3s }`"
                    .to_owned()
            }
            "availability" => {
                "`availability` needs its fields: write `availability: { faults: { application: { fault: crash, per_year: 4 } } }`"
                    .to_owned()
            }
            later if LATER.contains(&later) => format!(
                "`{later}` is not available in this version: write `measure`, `compare`, `levels`, `capacity`, `sensitivity` or `availability`"
            ),
            other => format!(
                "unknown method `{other}`: {}",
                suggestion(other, &METHODS.map(str::to_owned))
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

/// Comparison of arms with a baseline, and how often.
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

/// Rates or numbers of users, each held for some time after a warm-up of its own. They take the place of what `load` would say of them.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Levels",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["rates"] }, { "required": ["users"] }])
)]
pub struct LevelsWire {
    /// Open model: rates, ascending.
    #[deserr(default)]
    pub rates: Option<Vec<RateText>>,
    /// Closed model: numbers of users, ascending.
    #[deserr(default)]
    pub users: Option<Vec<u32>>,
    /// The measured time of each level. The warm-up before it is `load.warmup`; default: a fifth of this, at most 5s.
    pub hold: DurationText,
    /// In which order they run; reports show them ascending all the same. Default: `ascending`.
    #[deserr(default)]
    pub order: Option<LevelOrderWire>,
}

/// In which order levels run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "LevelOrder", rename_all = "lowercase")]
pub enum LevelOrderWire {
    /// As they are written.
    Ascending,
    /// In an order that the run's seed draws, so that what drifts with time falls on no rate in particular.
    Random,
}

/// A search for the highest rate that meets an objective. It takes the place of what `load` would say of rates and times.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Capacity", deny_unknown_fields)]
pub struct CapacityWire {
    /// Objective that a good trial meets.
    pub objective: ObjectiveWire,
    /// The first rate; the search doubles it, or halves it, until the capacity is enclosed.
    pub from: RateText,
    /// No higher rate is ever offered. Default: no limit.
    #[deserr(default)]
    pub to: Option<RateText>,
    /// The wanted width of the interval, as a share of its lower end: `1%` to `50%`. Default: 5%.
    #[deserr(default)]
    pub precision: Option<ShareText>,
    /// Time of the search of each arm in all, with warm-ups and confirmation. Default: 10m.
    #[deserr(default)]
    pub budget: Option<DurationText>,
    /// The measured time of a trial. The warm-up before it is `load.warmup`; default: a fifth of this, at most 5s. Default: 10s.
    #[deserr(default)]
    pub trial: Option<DurationText>,
    /// Share of trial time that may be bad at a rate that still counts as carried, below 100%. Default: 50%.
    #[deserr(default)]
    pub exceed: Option<ShareText>,
    /// Whether the component whose processors gave way first is then held to 80 % of them, and the capacity searched for again: it must
    /// move as much. Takes up to half of `budget` more. Default: false.
    #[deserr(default)]
    pub confirm: Option<bool>,
}

/// Delays of links between components, towards the caller. They take the place of what `load` would say of times; its rate stays.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Sensitivity", deny_unknown_fields)]
pub struct SensitivityWire {
    /// Links that are delayed.
    pub links: LinksWire,
    /// Delays, ascending from 0; at least four, none beyond a quarter of the timeout.
    pub delays: Vec<DurationText>,
    /// Rounds that hold every delay of every link once, in random order. Default: 6.
    #[deserr(default)]
    #[schemars(range(min = 2, max = 100))]
    pub blocks: Option<u32>,
    /// The measured time of each delay. The warm-up before it is `load.warmup`; default: a fifth of this, at most 5s.
    pub hold: DurationText,
}

/// The word `all`, or links as `caller -> dependency`.
#[derive(Debug)]
pub enum LinksWire {
    /// Every reference of one component to another.
    All,
    /// These.
    Named(Vec<String>),
}

impl<E: DeserializeError> Deserr<E> for LinksWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            Value::String(word) if word == "all" => Ok(Self::All),
            Value::String(other) => {
                let msg = format!(
                    "`{other}` is no choice of links: write `all`, or a list such as `[api -> upstream]`"
                );
                let unexpected = ErrorKind::Unexpected { msg };
                Err(take_cf_content(E::error::<V>(None, unexpected, at)))
            }
            list => Vec::deserialize_from_value(list, at).map(Self::Named),
        }
    }
}

impl JsonSchema for LinksWire {
    fn schema_name() -> Cow<'static, str> {
        "Links".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "all" }, generator.subschema_for::<Vec<String>>()] })
    }
}

/// Limits of a trial: at least one percentile, or `errors`. A rate that is not sustained misses every objective.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Objective", deny_unknown_fields)]
pub struct ObjectiveWire {
    /// The median of response times is at most this.
    #[deserr(default)]
    pub p50: Option<DurationText>,
    /// The 75th percentile is at most this.
    #[deserr(default)]
    pub p75: Option<DurationText>,
    /// The 90th percentile is at most this.
    #[deserr(default)]
    pub p90: Option<DurationText>,
    /// The 95th percentile is at most this.
    #[deserr(default)]
    pub p95: Option<DurationText>,
    /// The 99th percentile is at most this.
    #[deserr(default)]
    pub p99: Option<DurationText>,
    /// The 99.9th percentile is at most this.
    #[deserr(default)]
    pub p999: Option<DurationText>,
    /// At most this share of exchanges fails, dropped arrivals included. Default: 0.1%.
    #[deserr(default)]
    pub errors: Option<ShareText>,
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
