//! What is noted of a request after its answer: its webhooks, as WireMock shows them among `subEvents`.

use super::shown::{one_or_many, parameters, text};
use crate::clock;
use crate::outgoing::Received;
use crate::webhook::Call;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// Bytes of a body that are shown; of a longer one nothing is.
const SHOWN_BYTES: usize = 64 * 1024;

/// A webhook is sent.
pub(crate) fn webhook_request(call: &Call) -> Value {
    let (now, url) = (clock::now(), &call.url);
    let query = url.target.split_once('?').map_or("", |(_, query)| query);
    let mut data = json!({
        "url": url.target,
        "absoluteUrl": format!("{}{}", url.origin(), url.target),
        "method": call.method,
        "headers": one_or_many(call.fields.iter().cloned()),
        "browserProxyRequest": false,
        "loggedDate": now.as_millisecond(),
        "scheme": url.scheme,
        "host": url.host,
        "port": url.port,
        "loggedDateString": now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        "queryParams": parameters(query),
        "formParams": {},
    });
    add_body(&mut data, &call.body);
    event("WEBHOOK_REQUEST", &data)
}

/// It was answered.
pub(crate) fn webhook_response(received: &Received) -> Value {
    let fields = received.head.fields().iter();
    let fields = fields.map(|(name, value)| (name.to_owned(), text(value)));
    let mut data = json!({
        "status": received.head.status(),
        "headers": one_or_many(fields),
    });
    add_body(&mut data, &received.body);
    event("WEBHOOK_RESPONSE", &data)
}

/// Something went wrong.
pub(crate) fn error(message: &str) -> Value {
    json!({"type": "ERROR", "data": {"message": message}})
}

fn event(kind: &str, data: &Value) -> Value {
    json!({"type": kind, "timeOffsetNanos": 0, "data": data})
}

fn add_body(data: &mut Value, body: &[u8]) {
    if body.len() <= SHOWN_BYTES {
        data["bodyAsBase64"] = BASE64.encode(body).into();
        data["body"] = text(body).into();
    }
}
