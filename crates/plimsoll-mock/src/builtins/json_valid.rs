//! `/json/valid`: a small JSON object with the time. As in go-bench-suite its type is text/plain.

use super::{Call, Reply};
use plimsoll_wiremock::clock;
use plimsoll_wiremock::response::answer::AnswerBuilder;

pub(super) fn reply(_: &Call<'_, '_>) -> Reply {
    plain_text(&format!("{{\"time\": \"{}\"}}", clock::now()))
}

/// An answer of the type that go-bench-suite gives its JSON, valid or not.
pub(super) fn plain_text(body: &str) -> Reply {
    AnswerBuilder::new(200, None)
        .field("Content-Type", "text/plain; charset=utf-8")
        .body(body.as_bytes())
        .into()
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn the_body_is_json() {
        let (answer, _) = get("/json/valid");
        let (head, body) = answer.split_once("\n\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\nContent-Type: text/plain"));
        let value: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(value["time"].is_string());
    }
}
