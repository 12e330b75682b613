//! The parts of `load` that say how connections are made.

use std::borrow::Cow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content,
};
use plimsoll_base::document::DurationText;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Protocol of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "Protocol", rename_all = "lowercase")]
pub enum ProtocolWire {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: agreed on by ALPN over TLS, and with prior knowledge without it.
    Http2,
}

/// Whose a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "ConnectionPer", rename_all = "lowercase")]
pub enum ConnectionPerWire {
    /// A virtual user's, for as long as it can carry another exchange.
    User,
    /// An iteration's.
    Iteration,
    /// An exchange's.
    Exchange,
}

/// When the target's name is looked up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResolveWire {
    /// Before the load.
    Once,
    /// For every connection.
    Connection,
    /// When an answer is this old, for the next connection.
    Every(DurationText),
}

impl<E: DeserializeError> Deserr<E> for ResolveWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            Value::String(text) if text == "once" => Ok(Self::Once),
            Value::String(text) if text == "connection" => Ok(Self::Connection),
            Value::String(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                let msg = format!(
                    "`{text}` is unknown: write `once`, `connection`, or how long an answer holds, such as `30s`"
                );
                Err(refused::<V, E>(msg, at))
            }
            other => DurationText::deserialize_from_value(other, at).map(Self::Every),
        }
    }
}

impl JsonSchema for ResolveWire {
    fn schema_name() -> Cow<'static, str> {
        "Resolve".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "enum": ["once", "connection"] }, generator.subschema_for::<DurationText>()] })
    }
}

/// How connections are secured. Paths are relative to the experiment file.
#[derive(Debug, Clone, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Tls", deny_unknown_fields)]
pub struct TlsWire {
    /// `true`: any certificate is accepted. The report says so. Default: `false`.
    #[deserr(default)]
    pub insecure: Option<bool>,
    /// A file of certificates (PEM) that servers' must come from, in place of this host's store.
    #[deserr(default)]
    pub ca: Option<String>,
    /// The name that is sent as SNI and that the server's certificate must bear. Default: the target's host.
    #[deserr(default)]
    pub server_name: Option<String>,
    /// The oldest version that is offered: `1.2` (default) or `1.3`.
    #[deserr(default)]
    pub min_version: Option<TlsVersionWire>,
    /// The newest version that is offered: `1.2` or `1.3` (default).
    #[deserr(default)]
    pub max_version: Option<TlsVersionWire>,
    /// Protocols offered by ALPN. Default: the protocol's name.
    #[deserr(default)]
    pub alpn: Option<Vec<String>>,
    /// `false`: a full handshake for every connection. Default: `true`, a virtual user takes up its own sessions.
    #[deserr(default)]
    pub resumption: Option<bool>,
    /// The client's certificate (PEM, with those of intermediate authorities after it), the same for all virtual users.
    #[deserr(default)]
    pub cert: Option<String>,
    /// The key of `cert` (PEM, not encrypted).
    #[deserr(default)]
    pub key: Option<String>,
    /// A certificate for each virtual user: a directory of pairs `NAME.pem` and `NAME.key`, taken in the order of their names, or a CSV file
    /// with the columns `cert` and `key`, paths relative to it.
    #[deserr(default)]
    pub identities: Option<String>,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersionWire {
    /// 1.2.
    Tls12,
    /// 1.3.
    Tls13,
}

impl<E: DeserializeError> Deserr<E> for TlsVersionWire {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        // Without quotes it is a number.
        let text = match value {
            Value::String(text) => text,
            Value::Float(number) => number.to_string(),
            _ => String::new(),
        };
        match text.as_str() {
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            _ => Err(refused::<V, E>("write `1.2` or `1.3`".to_owned(), at)),
        }
    }
}

impl JsonSchema for TlsVersionWire {
    fn schema_name() -> Cow<'static, str> {
        "TlsVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [1.2, 1.3, "1.2", "1.3"] })
    }
}

fn refused<V: IntoValue, E: DeserializeError>(msg: String, at: ValuePointerRef<'_>) -> E {
    take_cf_content(E::error::<V>(None, ErrorKind::Unexpected { msg }, at))
}
