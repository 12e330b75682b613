//! `load` as written. Every field is optional here, because an arm writes only those that differ.

mod arrivals;
mod busy;
mod count;
mod users;

use std::borrow::Cow;

use super::SpanWire;
use super::connections::{ConnectionPerWire, ProtocolWire, ResolveWire, TlsWire};
use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::{DurationText, RateText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

pub use arrivals::{ArrivalWire, RampWire, StageWire, StaircaseWire};
pub use busy::{BusyWire, GrowWire};
pub use count::ConnectionCountWire;
pub use users::{UserChangeWire, UsersWire};

/// How much load, and when: exactly one of `rate`, `ramp`, `staircase` (open model), `users` (closed model) and `stages` (either).
#[derive(Debug, Clone, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Load", deny_unknown_fields)]
pub struct LoadWire {
    /// Where the load of arms without a `target` goes: `component` or `component/listener`.
    #[deserr(default)]
    pub target: Option<String>,
    /// Open model: iterations that start per time, whatever the target does.
    #[deserr(default)]
    pub rate: Option<RateText>,
    /// Open model: how arrivals are spread, in every stage that does not say so itself. Default: `constant`.
    #[deserr(default)]
    pub profile: Option<ArrivalWire>,
    /// Open model: a rate that changes linearly over the whole load, warm-up included.
    #[deserr(default)]
    pub ramp: Option<RampWire>,
    /// Open model: levels of constant rate, one above the other, over the whole load, warm-up included.
    #[deserr(default)]
    pub staircase: Option<StaircaseWire>,
    /// Parts of the load, one after the other from the start of the warm-up: all of the open model or all of the closed one.
    #[deserr(default)]
    pub stages: Option<Vec<StageWire>>,
    /// Open model: virtual users, each with one connection at a time. Default: `auto`, as many as a search needs, and else 50.
    #[deserr(default)]
    pub connections: Option<ConnectionCountWire>,
    /// Open model: what becomes of an arrival that finds no idle virtual user. Default: `queue`.
    #[deserr(default)]
    pub when_busy: Option<BusyWire>,
    /// Open model: how many arrivals may wait for an idle virtual user; one more is dropped and counted. Default: 10000.
    #[deserr(default)]
    pub queue: Option<u32>,
    /// Closed model: virtual users, each of which starts its next iteration when its last one ended. Stalls are under-sampled.
    #[deserr(default)]
    pub users: Option<UsersWire>,
    /// Closed model: from the end of an iteration to the intended start of the next. Default: 0.
    #[deserr(default)]
    pub think: Option<SpanWire>,
    /// Closed model: the least time from the intended start of an iteration to that of the user's next one. Default: 0.
    #[deserr(default)]
    pub every: Option<SpanWire>,
    /// Closed model: so many iterations over all users, warm-up included, and no more; the load ends with the last of them, or with its time.
    #[deserr(default)]
    pub iterations: Option<u64>,
    /// Load before the measurement; reported apart. Default: 0.
    #[deserr(default)]
    pub warmup: Option<DurationText>,
    /// The measured time, after the warm-up. It may be left out where `stages` or levels say how long the load is.
    #[deserr(default)]
    pub duration: Option<DurationText>,
    /// How exactly intended starts are kept: the least time between two timer wakes (default `200us`), or `precise`, which spins.
    #[deserr(default)]
    pub pacing: Option<PacingWire>,
    /// How long an exchange may take; a step may have its own. Default: 10s.
    #[deserr(default)]
    pub timeout: Option<DurationText>,
    /// `false`: a connection for each exchange. Default: `true`.
    #[deserr(default)]
    pub keep_alive: Option<bool>,
    /// The protocol: `http1` (default) or `http2`.
    #[deserr(default)]
    pub protocol: Option<ProtocolWire>,
    /// With `protocol: http2`: how many virtual users of a shard share a connection, each with one stream at a time. Default: 10.
    #[deserr(default)]
    pub streams: Option<u32>,
    /// Whose a connection is: a `user`'s (default), an `iteration`'s or an `exchange`'s.
    #[deserr(default)]
    pub connection_per: Option<ConnectionPerWire>,
    /// So many connections are shared by all virtual users, each exchange taking one that is idle.
    #[deserr(default)]
    pub shared_connections: Option<u32>,
    /// A connection is closed after so many exchanges. Default: no limit.
    #[deserr(default)]
    pub exchanges_per_connection: Option<u32>,
    /// Addresses of this host to connect from, in turn. Default: the system chooses.
    #[deserr(default)]
    pub sources: Option<Vec<String>>,
    /// When the target's name is looked up: `once` (default), for every `connection`, or when the last answer is as old as this.
    #[deserr(default)]
    pub resolve: Option<ResolveWire>,
    /// How long a connection may take to be there, with its lookup and its TLS handshake. Default: as long as the exchange.
    #[deserr(default)]
    pub connect_timeout: Option<DurationText>,
    /// How long the first byte of an answer may take. Default: as long as the exchange.
    #[deserr(default)]
    pub first_byte_timeout: Option<DurationText>,
    /// How connections are secured. Default: not at all, or with this host's trusted authorities if the target is `https://`.
    #[deserr(default)]
    pub tls: Option<TlsWire>,
}

/// How exactly intended starts are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PacingWire {
    /// The least time between two timer wakes.
    Gap(DurationText),
    /// Spin.
    Precise,
}

impl<E: DeserializeError> Deserr<E> for PacingWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            Value::String(text) if text == "precise" => Ok(Self::Precise),
            Value::String(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                let msg = format!(
                    "unknown pacing `{text}`: write a duration such as `200us`, or `precise`"
                );
                Err(take_cf_content(E::error::<V>(
                    None,
                    ErrorKind::Unexpected { msg },
                    at,
                )))
            }
            other => DurationText::deserialize_from_value(other, at).map(Self::Gap),
        }
    }
}

impl JsonSchema for PacingWire {
    fn schema_name() -> Cow<'static, str> {
        "Pacing".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "precise" }, generator.subschema_for::<DurationText>()] })
    }
}
