//! Entries of the journal as WireMock's admin API shows them: logged requests and serve events.

use super::{Entry, Journal, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_wiremock::request::parameters::{of_cookies, of_query};
use plimsoll_wiremock::response::answer::Shown;
use plimsoll_wiremock::response::delivery::Delivery;
use serde_json::{Map, Value, json};

/// A `LoggedRequest`.
pub(crate) fn request(journal: &Journal, entry: &Entry) -> Value {
    let head = &entry.head;
    let seen = entry.request();
    let time = journal.time_of(entry);
    let scheme = entry.channel.scheme.name();
    let form = head
        .fields()
        .get("Content-Type")
        .is_some_and(|kind| kind.starts_with(b"application/x-www-form-urlencoded"));
    let form = if form { &*entry.body } else { b"" };
    json!({
        "url": seen.url,
        "absoluteUrl": format!("{scheme}://{}{}", seen.authority, seen.url),
        "method": seen.method,
        "clientIp": entry.channel.client.map(|ip| ip.to_string()),
        "headers": one_or_many(head.fields().iter().map(|(name, value)| (name.to_owned(), text(value)))),
        "cookies": one_or_many(cookies(entry)),
        "browserProxyRequest": false,
        "loggedDate": time.as_millisecond(),
        "bodyAsBase64": BASE64.encode(&entry.body),
        "body": text(&entry.body),
        "protocol": match head.version() {
            plimsoll_http::Version::Http10 => "HTTP/1.0",
            plimsoll_http::Version::Http11 => "HTTP/1.1",
            plimsoll_http::Version::Http2 => "HTTP/2.0",
        },
        "scheme": scheme,
        "host": seen.host(),
        "port": seen.port(),
        "loggedDateString": time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        "queryParams": parameters(seen.query()),
        "formParams": parameters(&text(form)),
    })
}

/// A `ServeEvent`. Its times are whole milliseconds; those that the mock takes itself are not kept per request, and are 0 here.
pub(crate) fn serve_event(journal: &Journal, entry: &Entry) -> Value {
    let delay = u64::try_from(entry.delay.as_millis()).unwrap_or(u64::MAX);
    let id = journal.id_of_entry(entry).to_string();
    let (definition, response, stub) = match &entry.outcome {
        Outcome::Stub(stub) => {
            let mut shown = response(journal, &entry.shown_answer());
            if let Delivery::Fault(fault) = stub.delivery {
                shown["fault"] = fault.name().into();
            }
            let definition = stub.document["response"].clone();
            (definition, shown, Some(stub.document.clone()))
        }
        Outcome::Own(status) => (
            json!({"status": status}),
            json!({"status": status, "headers": {}, "bodyAsBase64": "", "body": ""}),
            None,
        ),
        Outcome::Unmatched(status) => {
            let definition = json!({"status": status, "fromConfiguredStub": false});
            let stub = json!({
                "id": id, "request": {"method": "ANY"}, "response": definition, "uuid": id,
            });
            let response = json!({"status": status, "bodyAsBase64": "", "body": ""});
            (definition, response, Some(stub))
        }
    };
    let mut event = json!({
        "id": id,
        "request": request(journal, entry),
        "responseDefinition": definition,
        "response": response,
        "wasMatched": !entry.is_unmatched(),
        "timing": {
            "addedDelay": delay, "processTime": 0, "responseSendTime": 0, "serveTime": 0, "totalTime": delay,
        },
        "subEvents": entry.sub_events(),
    });
    if let Some(stub) = stub {
        event["stubMapping"] = stub;
    }
    event
}

fn response(journal: &Journal, answer: &Shown) -> Value {
    let body = journal.shown_of(answer.body);
    json!({
        "status": answer.status,
        "headers": one_or_many(answer.fields.iter().cloned()),
        "bodyAsBase64": BASE64.encode(body),
        "body": text(body),
    })
}

fn cookies(entry: &Entry) -> impl Iterator<Item = (String, String)> {
    let fields = entry.head.fields().get_all("Cookie");
    fields.flat_map(|field| of_cookies(&text(field)))
}

/// `{"a": {"key": "a", "values": […]}}`, with values decoded.
pub(crate) fn parameters(query: &str) -> Value {
    let mut shown = Map::new();
    for (key, value) in of_query(query) {
        let parameter = shown
            .entry(key.clone())
            .or_insert_with(|| json!({"key": key, "values": []}));
        if let Some(Value::Array(values)) = parameter.get_mut("values") {
            values.push(value.into());
        }
    }
    Value::Object(shown)
}

/// A map in which a name with one value has that value, and one with several a list.
pub(crate) fn one_or_many(pairs: impl Iterator<Item = (String, String)>) -> Value {
    let mut shown: Map<String, Value> = Map::new();
    for (name, value) in pairs {
        match shown.get_mut(&name) {
            None => {
                shown.insert(name, value.into());
            }
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    Value::Object(shown)
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_gathered() {
        assert_eq!(
            parameters("a=1&b=x+y%20z&a=%32&c&=%zz"),
            json!({
                "a": {"key": "a", "values": ["1", "2"]},
                "b": {"key": "b", "values": ["x y z"]},
                "c": {"key": "c", "values": [""]},
                "": {"key": "", "values": ["%zz"]},
            })
        );
    }

    #[test]
    fn one_value_is_no_list() {
        let pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            one_or_many(pairs.into_iter()),
            json!({"a": ["1", "3", "4"], "b": "2"})
        );
    }
}
