//! `/echo`: the request as JSON. A field that occurs several times is shown with its last value.

use super::{Call, Reply};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

pub(super) fn reply(call: &Call<'_, '_>) -> Reply {
    let mut headers = Map::new();
    let mut lines = String::new();
    for (name, value) in call.request.fields.iter() {
        let value = String::from_utf8_lossy(value);
        writeln!(lines, "{name}: {value}\r").expect("invariant: a string takes all");
        headers.insert(name.to_owned(), Value::from(value));
    }
    let host = call.request.fields.get("Host").unwrap_or(b"");
    let echo = json!({
        "Method": call.request.method,
        "RequestURI": call.request.url,
        "Header": lines,
        "Headers": headers,
        "Body": call.request.body.text(),
        "Host": String::from_utf8_lossy(host),
        "QueryArgs": call.request.query(),
    });
    Answer::json(200, &echo).into()
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn the_request_comes_back() {
        let (answer, _) = get("/echo?a=1&b=2");
        let (_, body) = answer.split_once("\n\n").unwrap();
        insta::assert_snapshot!(body, @r#"{"Method":"GET","RequestURI":"/echo?a=1&b=2","Header":"","Headers":{},"Body":"","Host":"","QueryArgs":"a=1&b=2"}"#);
    }
}
