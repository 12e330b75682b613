//! `availability` as written.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::{DurationText, Entries, Text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Trials of faults, each a load of its own. They take the place of what `load` would say of times; its rate stays.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Availability", deny_unknown_fields)]
pub struct AvailabilityWire {
    /// Rows of the answer by name: which fault of `faults`, on how many servers, how often in a year.
    pub faults: Entries<AvailabilityFaultWire>,
    /// Trials of each row; at least 5. Default: 59, of which the longest outage bounds 95 % of all with 95 % confidence.
    #[deserr(default)]
    #[schemars(range(min = 5, max = 10000))]
    pub trials: Option<u32>,
    /// Trials in which nothing is broken. Default: one in twenty, and at least 5.
    #[deserr(default)]
    #[schemars(range(min = 5, max = 10000))]
    pub shams: Option<u32>,
    /// Time of the whole run: there are fewer trials than `trials` where these would take longer. Default: no limit.
    #[deserr(default)]
    pub budget: Option<DurationText>,
    /// A good answer comes so soon after its intended start. `load.timeout` is as long unless it is written. Default: 1s.
    #[deserr(default)]
    pub deadline: Option<DurationText>,
    /// A good answer that comes later is slow. Default: half of `deadline`.
    #[deserr(default)]
    pub slow: Option<DurationText>,
    /// Failures with less time between them are of one outage. Default: 1s.
    #[deserr(default)]
    pub gap: Option<DurationText>,
    /// Callers have recovered once nothing has failed for so long. Default: 5s.
    #[deserr(default)]
    pub settle: Option<DurationText>,
    /// Callers who have not recovered so long after the heal never do: a failed failover. Default: 60s.
    #[deserr(default)]
    pub abort: Option<DurationText>,
    /// The moment of each fault is random within so long; at least twice the longest period of a timer of the target. Default: 2s.
    #[deserr(default)]
    pub phase: Option<DurationText>,
    /// How long it takes people to repair what does not recover by itself. Default: not known.
    #[deserr(default)]
    pub repair: Option<DurationText>,
    /// Most seconds of a year that may be lost. Default: not asked.
    #[deserr(default)]
    pub within: Option<DurationText>,
    /// A client that tries again: its outages are estimated beside those of one that does not. Default: not asked.
    #[deserr(default)]
    pub retries: Option<RetriesWire>,
}

/// One row of the answer.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "AvailabilityFault", deny_unknown_fields)]
pub struct AvailabilityFaultWire {
    /// The fault, by its name among `faults`.
    pub fault: String,
    /// How many there are that may have it. Default: as many as `among` names with that `role`, or 1.
    #[deserr(default)]
    #[schemars(range(min = 1))]
    pub servers: Option<u32>,
    /// How often one of them has it in a year: a number, or `{ counted: 4, in_years: 2 }`. Without it nothing is said of a year.
    #[deserr(default)]
    pub per_year: Option<PerYearWire>,
    /// Components of which each trial breaks one, chosen at random, in the place of the fault's own.
    #[deserr(default)]
    pub among: Option<Vec<String>>,
    /// Of `among`: which of them, by what `leader` says.
    #[deserr(default)]
    pub role: Option<RoleWire>,
    /// Of `role`: how to learn who leads.
    #[deserr(default)]
    pub leader: Option<LeaderWire>,
}

/// Components by their role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "Role", rename_all = "lowercase")]
pub enum RoleWire {
    /// The one that leads.
    Leader,
    /// One that does not.
    Follower,
    /// Any; each role has a row of its own in the answer.
    Any,
}

/// How to learn which component leads.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Leader", deny_unknown_fields)]
pub struct LeaderWire {
    /// A program and its arguments. It prints the name of the component, and ends with 0.
    pub command: Vec<Text>,
}

/// A client that tries again.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Retries", deny_unknown_fields)]
pub struct RetriesWire {
    /// How often.
    #[schemars(range(min = 1, max = 10))]
    pub times: u32,
    /// How long after each failure.
    pub after: DurationText,
}

/// How often a fault happens in a year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PerYearWire {
    /// As somebody declares.
    Declared(f64),
    /// As it was counted.
    Counted(CountedWire),
}

/// A number of events, and how long they were counted.
#[derive(Debug, Clone, Copy, PartialEq, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Counted", deny_unknown_fields)]
pub struct CountedWire {
    /// How often it happened.
    pub counted: u32,
    /// In so many years of one server.
    pub in_years: f64,
}

impl<E: DeserializeError> Deserr<E> for PerYearWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            Value::Map(_) => CountedWire::deserialize_from_value(value, at).map(Self::Counted),
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            Value::Integer(number) => Ok(Self::Declared(number as f64)),
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            Value::NegativeInteger(number) => Ok(Self::Declared(number as f64)),
            Value::Float(number) => Ok(Self::Declared(number)),
            _ => {
                let msg = "is no number of faults in a year: write for instance `1`, `0.5` or `{ counted: 4, in_years: 2 }`".to_owned();
                let unexpected = ErrorKind::Unexpected { msg };
                Err(take_cf_content(E::error::<V>(None, unexpected, at)))
            }
        }
    }
}

impl JsonSchema for PerYearWire {
    fn schema_name() -> Cow<'static, str> {
        "PerYear".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 0 }, generator.subschema_for::<CountedWire>()] })
    }
}
