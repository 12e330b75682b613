//! OpenTelemetry's JSON (OTLP/HTTP, proto3's JSON mapping) as far as logs and spans share it: the resource, attributes, the request.

use super::sink::Failed;
use plimsoll_http::otlp::Endpoint;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What sends requests to one collector, from a thread that may wait.
pub(super) struct Exporter {
    to: Endpoint,
    runtime: Runtime,
}

impl Exporter {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(to: Endpoint) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { to, runtime })
    }

    /// Sends one request.
    pub(super) fn send(&self, body: &Value) -> Result<(), Failed> {
        let body = body.to_string();
        let sent = self.runtime.block_on(async {
            let sending = self.to.send("application/json", body.as_bytes(), PATIENCE);
            tokio::time::timeout(PATIENCE, sending).await
        });
        let late = || Err(format!("no answer within {} s", PATIENCE.as_secs()));
        sent.unwrap_or_else(|_| late()).map_err(Failed::Away)
    }
}

/// The resource: this gateway, as the service of this name.
pub(super) fn resource(service: &str, origin: &str) -> Value {
    json!({ "attributes": [
        text("service.name", service),
        text("service.instance.id", origin),
        text("service.version", env!("CARGO_PKG_VERSION")),
    ] })
}

/// The scope: what has made the records.
pub(super) fn scope() -> Value {
    json!({ "name": "plimsoll-gateway", "version": env!("CARGO_PKG_VERSION") })
}

/// An attribute.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// The same with a whole number, which proto3 writes as text.
pub(super) fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

/// A time in nanoseconds, of microseconds since 1970.
pub(super) fn nanos(micros: u64) -> String {
    (u128::from(micros) * 1000).to_string()
}
