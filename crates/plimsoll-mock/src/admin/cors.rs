//! Cross-origin resource sharing (Fetch standard, "CORS protocol") with the fields that WireMock has: which pages of other servers may read an answer.

use plimsoll_http::RequestHead;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

const METHODS: &str = "OPTIONS,GET,POST,PUT,PATCH,DELETE";
/// Seconds for which a browser may remember what it was allowed.
const MEMORY: &str = "1800";

/// The page's server that a request names.
pub(crate) fn origin(head: &RequestHead) -> Option<&str> {
    let origin = head.fields().get("Origin")?;
    std::str::from_utf8(origin).ok()
}

/// The answer to a browser that asks whether a page may send a request; `None` if this is no such question.
pub(crate) fn preflight(head: &RequestHead, origin: &str) -> Option<Answer> {
    let method = head.fields().get("Access-Control-Request-Method")?;
    if head.method() != "OPTIONS" || !METHODS.split(',').any(|own| own.as_bytes() == method) {
        return None;
    }
    let asked = head.fields().get_all("Access-Control-Request-Headers");
    let asked: Vec<_> = asked.map(String::from_utf8_lossy).collect();
    let answer = AnswerBuilder::new(200, None)
        .field("Access-Control-Max-Age", MEMORY)
        .field("Access-Control-Allow-Methods", METHODS)
        .field("Access-Control-Allow-Headers", &asked.join(","))
        .body(b"");
    Some(answer.with_fields(&fields(origin)))
}

/// An answer that pages of this origin may read, in the place of those that it says itself.
pub(crate) fn shared(answer: &Answer, origin: &str) -> Answer {
    let own = |name: &str| {
        let start = name.get(.."access-control-".len());
        start.is_some_and(|start| start.eq_ignore_ascii_case("access-control-"))
    };
    answer.without(own).with_fields(&fields(origin))
}

fn fields(origin: &str) -> [(&'static str, &str); 3] {
    [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Vary", "Origin"),
    ]
}
