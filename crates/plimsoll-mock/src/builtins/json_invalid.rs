//! `/json/invalid`: what [`super::json_valid`] answers, without the first quote.

use super::{Call, Reply};
use crate::answer::AnswerBuilder;
use crate::clock;

pub(super) fn reply(_: &Call<'_>) -> Reply {
    let body = format!("{{time\": \"{}\"}}", clock::now());
    AnswerBuilder::new(200, None)
        .field("Content-Type", "text/plain; charset=utf-8")
        .body(body.as_bytes())
        .into()
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn the_body_is_not_json() {
        let (answer, _) = get("/json/invalid");
        let (_, body) = answer.split_once("\n\n").unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(body).is_err());
    }
}
