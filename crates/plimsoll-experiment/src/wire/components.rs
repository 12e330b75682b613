//! `components` and `generator` as written.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::{BytesText, DurationText, Entries, Text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::probe::ProbeWire;

/// A process of the topology: exactly one of `mock`, `gateway`, `command` and `external`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Component",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["mock"] }, { "required": ["gateway"] }, { "required": ["command"] }, { "required": ["external"] }])
)]
pub struct ComponentWire {
    /// Our mock upstream.
    #[deserr(default)]
    pub mock: Option<MockWire>,
    /// Our gateway.
    #[deserr(default)]
    pub gateway: Option<GatewayWire>,
    /// A foreign program with its arguments. They may hold substitutions, such as `${self.port}` and `${self.dir}`.
    #[deserr(default)]
    pub command: Option<Vec<Text>>,
    /// A server that runs already: `http://host:port`.
    #[deserr(default)]
    pub external: Option<String>,
    /// Of `command`: files whose substitutions are made before it starts; the results lie in `${self.dir}`, without a final `.in`.
    #[deserr(default)]
    pub render: Option<Vec<String>>,
    /// Of `command`: environment variables, added to a minimal environment. Values may hold substitutions.
    #[deserr(default)]
    pub env: Option<Entries<Text>>,
    /// Of `command`: how it shows that it is ready. Default: its `main` listener accepts connections within 10s.
    #[deserr(default)]
    pub ready: Option<ReadyWire>,
    /// Of `command`: where it listens, by name. Default: `{ main: auto }`.
    #[deserr(default)]
    pub listeners: Option<Entries<ListenWire>>,
    /// Of `command`: `true`: where its program is not on this host, arms that lead to it are left out, and the report says so. Default: `false`.
    #[deserr(default)]
    pub optional: Option<bool>,
    /// Of `external`: how its resources are watched. Default: `none`, and then no verdict says anything of it.
    #[deserr(default)]
    pub probe: Option<ProbeWire>,
    /// With a `network`: the host on which it runs.
    #[deserr(default)]
    pub host: Option<String>,
    /// Of `command`: its directory, `${self.dir}`, is a file system in memory of this size, such as `64MiB`. Needs root.
    #[deserr(default)]
    pub disk: Option<BytesText>,
    /// Processors that it is pinned to, by number from 0.
    #[deserr(default)]
    pub cpus: Option<Vec<u32>>,
    /// Most CPU time it may use, in processors: `0.25` is a quarter of one.
    #[deserr(default)]
    pub cpu_quota: Option<f64>,
    /// How often `cpu_quota` is given out, `1ms` to `1s`: a component that has used up its share waits for the next period. Default: `100ms`,
    /// as containers have it.
    #[deserr(default)]
    pub cpu_period: Option<DurationText>,
}

/// Our mock upstream: go-bench-suite's endpoints, and WireMock stubs below `root`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Mock", deny_unknown_fields)]
pub struct MockWire {
    /// The directory that holds `mappings` and `__files`, relative to this file.
    #[deserr(default)]
    pub root: Option<String>,
    /// A fixed port, 1 to 65535. Default: a free one.
    #[deserr(default)]
    pub port: Option<u16>,
    /// Threads. Default: one per processor that it may use.
    #[deserr(default)]
    pub shards: Option<u32>,
    /// Seed of its random delays. Default: derived from the run's seed.
    #[deserr(default)]
    pub seed: Option<u64>,
    /// A second listener, called `https`, over TLS: target `NAME/https`. Default: none.
    #[deserr(default)]
    pub https: Option<HttpsWire>,
}

/// A mock's listener over TLS.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Https", deny_unknown_fields)]
pub struct HttpsWire {
    /// A fixed port, 1 to 65535. Default: a free one.
    #[deserr(default)]
    pub port: Option<u16>,
    /// The file of its certificate (PEM), relative to this file. Default: one made at the start, which loads take with `tls: { insecure: true }`.
    #[deserr(default)]
    pub cert: Option<String>,
    /// The file of its private key (PEM).
    #[deserr(default)]
    pub key: Option<String>,
    /// The file of the authorities (PEM) of which clients must have a certificate. Default: clients need none.
    #[deserr(default)]
    pub client_ca: Option<String>,
}

/// Our gateway.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Gateway", deny_unknown_fields)]
pub struct GatewayWire {
    /// Its configuration file, relative to this file. It may hold substitutions, such as `${upstream.url}`.
    #[deserr(default)]
    pub config: Option<String>,
    /// Instead: Tyk's `tyk.conf`, with substitutions. Its `app_path` is `${self.dir}/apps`.
    #[deserr(default)]
    pub tyk: Option<String>,
    /// Tyk's API definitions, with substitutions, which are put there.
    #[deserr(default)]
    #[schemars(default)]
    pub apis: Vec<String>,
    /// Keys that are there from the start, with substitutions: an object of JSON that has a session for each, as Tyk's control API takes it.
    #[deserr(default)]
    pub keys: Option<String>,
    /// Threads. Default: one per processor that it may use.
    #[deserr(default)]
    pub shards: Option<u32>,
}

/// How a command shows that it is ready: `http` or `tcp`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Ready", deny_unknown_fields)]
pub struct ReadyWire {
    /// A path on its `main` listener that answers with a status below 400.
    #[deserr(default)]
    pub http: Option<String>,
    /// `true`: its `main` listener accepts connections.
    #[deserr(default)]
    pub tcp: Option<bool>,
    /// How long it may take. Default: 10s.
    #[deserr(default)]
    pub within: Option<DurationText>,
}

/// Where the load generator runs.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Generator", deny_unknown_fields)]
pub struct GeneratorWire {
    /// Processors that it is pinned to, by number from 0.
    #[deserr(default)]
    pub cpus: Option<Vec<u32>>,
    /// Threads. Default: 1.
    #[deserr(default)]
    pub shards: Option<u32>,
}

/// A listener's port: `auto`, or a fixed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenWire {
    /// A free port.
    Auto,
    /// This port.
    Port(u16),
}

impl<E: DeserializeError> Deserr<E> for ListenWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        let port = match value {
            Value::String(ref word) if word == "auto" => return Ok(Self::Auto),
            Value::Integer(number) => u16::try_from(number).ok().filter(|port| *port > 0),
            _ => None,
        };
        port.map(Self::Port).ok_or_else(|| {
            let msg = "this is not a port: write `auto`, or a number from 1 to 65535".to_owned();
            take_cf_content(E::error::<V>(None, ErrorKind::Unexpected { msg }, at))
        })
    }
}

impl JsonSchema for ListenWire {
    fn schema_name() -> Cow<'static, str> {
        "Listen".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "auto" }, { "type": "integer", "minimum": 1, "maximum": 65535 }] })
    }
}
