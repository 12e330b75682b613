//! Events of a request beside its answer, as WireMock shows them among `subEvents`: formats that patterns could not read, how it differs from the nearest
//! stub, its webhooks.

use super::shown::{one_or_many, parameters, text};
use crate::outgoing::Received;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_wiremock::clock;
use plimsoll_wiremock::document::xml::Document;
use plimsoll_wiremock::request::content::Content;
use plimsoll_wiremock::request::misread::Misread;
use plimsoll_wiremock::stub::webhook::Call;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::time::Duration;

/// WireMock's code for what it cannot read.
const INVALID: u32 = 10;
/// Bytes of a body that are shown; of a longer one nothing is.
const SHOWN_BYTES: usize = 64 * 1024;

/// No stub matched: the table of differences from the nearest, which was made so long after the request came.
pub(crate) fn not_matched(table: &str, after: Duration) -> Value {
    json!({
        "type": "REQUEST_NOT_MATCHED",
        "timeOffsetNanos": u64::try_from(after.as_nanos()).unwrap_or(u64::MAX),
        "data": {"status": 404, "contentType": "text/plain", "report": table},
    })
}

/// Events of formats that patterns could not read a body as, one of each kind.
pub(crate) fn of_misread(misread: Misread, body: &Content<'_>) -> Vec<Value> {
    type Tell = fn(&Content<'_>) -> Value;
    let tell: [(Misread, Tell); 4] = [
        (Misread::JSON, |body| {
            json!({
                "type": "JSON_ERROR",
                "data": {"errors": [{
                    "code": INVALID, "title": "Error parsing JSON", "detail": why_no_json(body.bytes()),
                }]},
            })
        }),
        (Misread::JSON_PATH, |body| {
            warning(&no_json_for_a_path(&body.text()))
        }),
        (Misread::XML, |body| warning(&why_no_xml(&body.text()))),
        (Misread::XPATH, |body| {
            warning(&no_xml_for_a_path(&body.text()))
        }),
    ];
    let told = tell.iter().filter(|(form, _)| misread.contains(*form));
    told.map(|(_, event)| event(body)).collect()
}

fn warning(message: &str) -> Value {
    json!({"type": "WARNING", "data": {"message": message}})
}

/// Where a document ends too early, in Jackson's words; else in our reader's.
fn why_no_json(bytes: &[u8]) -> String {
    let mut documents = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match documents.next() {
        Some(Err(error)) if error.is_eof() => match innermost(bytes) {
            Some(within) => {
                format!("Unexpected end-of-input within/between {within} entries: {error}")
            }
            None => format!("Unexpected end-of-input: {error}"),
        },
        Some(Err(error)) => error.to_string(),
        _ => "no JSON".to_owned(),
    }
}

/// The innermost collection at the end of a document that ends too early.
fn innermost(bytes: &[u8]) -> Option<&'static str> {
    let (mut open, mut in_text, mut escaped) = (Vec::new(), false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => open.push("Object"),
            b'[' => open.push("Array"),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

fn no_json_for_a_path(body: &str) -> String {
    let why = if body.trim_start().starts_with('<') {
        "it's not JSON but probably XML"
    } else {
        "the JSON document couldn't be parsed"
    };
    format!("Warning: JSON path expression failed to match document '{body}' because {why}")
}

fn why_no_xml(body: &str) -> String {
    let error = Document::parse(body).err();
    error.map_or_else(String::new, |error| error.to_string())
}

fn no_xml_for_a_path(body: &str) -> String {
    if body.trim_start().starts_with('<') {
        let why = why_no_xml(body);
        format!("Warning: failed to parse the XML document. Reason: {why}\nXML: {body}")
    } else {
        format!("Warning: failed to parse the XML document\nXML: {body}")
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_told_once_of_each_kind() {
        let check = |misread: Misread, body: &str, kind: &str, words: &str| {
            let events = of_misread(misread, &Content::of(body.as_bytes()));
            assert_eq!(events.len(), 1, "{events:?}");
            assert_eq!(events[0]["type"], kind);
            let data = &events[0]["data"];
            let told = data["message"].as_str();
            let told = told.or_else(|| data["errors"][0]["detail"].as_str());
            assert!(told.unwrap().contains(words), "{data}");
        };
        let (object, array) = (
            "within/between Object entries",
            "within/between Array entries",
        );
        check(Misread::JSON, "{\"a\": ", "JSON_ERROR", object);
        check(Misread::JSON, "{\"{\\\"[\": [1, {}, ", "JSON_ERROR", array);
        check(Misread::JSON, "\"a", "JSON_ERROR", "end-of-input: ");
        check(Misread::JSON, "<a/>", "JSON_ERROR", "expected value");
        check(
            Misread::JSON_PATH,
            " <a/>",
            "WARNING",
            "' <a/>' because it's not JSON but probably XML",
        );
        check(
            Misread::JSON_PATH,
            "a",
            "WARNING",
            "'a' because the JSON document couldn't be parsed",
        );
        check(Misread::XML, "{}", "WARNING", "");
        check(
            Misread::XPATH,
            "{}",
            "WARNING",
            "parse the XML document\nXML: {}",
        );
        check(Misread::XPATH, "<a>", "WARNING", "Reason: ");
        let all = Misread::JSON | Misread::JSON_PATH | Misread::XML | Misread::XPATH;
        assert_eq!(of_misread(all, &Content::of(&b"a"[..])).len(), 4);
    }
}
