//! `probe` as written: the word `none`, or what is looked at.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::Text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// How the resources of an external component are watched.
#[derive(Debug)]
pub enum ProbeWire {
    /// Not at all.
    None,
    /// One of several ways.
    Way(ProbeWayWire),
}

/// Exactly one of `prometheus`, `postgresql`, `redis`, `container`, `process` and `cgroup`; `container` also beside `prometheus`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Probe",
    deny_unknown_fields,
    extend("oneOf" = [
        { "required": ["prometheus"] },
        { "required": ["postgresql"] },
        { "required": ["redis"] },
        { "required": ["container"], "not": { "required": ["prometheus"] } },
        { "required": ["process"] },
        { "required": ["cgroup"] }
    ])
)]
pub struct ProbeWayWire {
    /// An endpoint in Prometheus' text format, read once a second: `http://host:9100/metrics`.
    #[deserr(default)]
    pub prometheus: Option<Text>,
    /// With `prometheus`: who exports it. Default: `cadvisor` with `container`, else `node_exporter`.
    #[deserr(default)]
    pub exporter: Option<ExporterWire>,
    /// PostgreSQL's own statistics, over a connection in plaintext: `postgresql://user:${env:PASSWORD}@host/database`. The password comes from the
    /// environment or a file (`${file:PATH}`).
    #[deserr(default)]
    pub postgresql: Option<Text>,
    /// Redis's own statistics, over a connection in plaintext: `redis://:${env:PASSWORD}@host:6379`. The password comes from the environment or a
    /// file (`${file:PATH}`).
    #[deserr(default)]
    pub redis: Option<Text>,
    /// A container of this host by its name or id, as Docker or Podman know it: its processes. With `prometheus`: the container of cAdvisor's.
    #[deserr(default)]
    pub container: Option<String>,
    /// With `container` alone: the unix socket of the engine's API. Default: that of `DOCKER_HOST`, or `/var/run/docker.sock`.
    #[deserr(default)]
    pub socket: Option<String>,
    /// A process of this host by its id, with all below it.
    #[deserr(default)]
    pub process: Option<u32>,
    /// A control group of this host by its directory, such as `/sys/fs/cgroup/system.slice/nginx.service`: its processes.
    #[deserr(default)]
    pub cgroup: Option<String>,
}

/// Whose names an endpoint uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "Exporter", rename_all = "lowercase")]
pub enum ExporterWire {
    /// node_exporter's: the whole host.
    #[deserr(rename = "node_exporter")]
    #[schemars(rename = "node_exporter")]
    Node,
    /// cAdvisor's: one container.
    Cadvisor,
    /// Those of Prometheus' client libraries: the process itself.
    Process,
}

impl<E: DeserializeError> Deserr<E> for ProbeWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let msg = match value {
            map @ Value::Map(_) => {
                return ProbeWayWire::deserialize_from_value(map, at).map(Self::Way);
            }
            Value::String(ref word) if word == "none" => return Ok(Self::None),
            Value::Null => return Ok(Self::None),
            _ => "this is not a probe: write `none`, or for instance `{ prometheus: \"http://host:9100/metrics\" }`".to_owned(),
        };
        Err(take_cf_content(E::error::<V>(
            None,
            ErrorKind::Unexpected { msg },
            at,
        )))
    }
}

impl JsonSchema for ProbeWire {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ProbeOrNone".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "none" }, generator.subschema_for::<ProbeWayWire>()] })
    }
}
