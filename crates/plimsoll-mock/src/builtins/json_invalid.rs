//! `/json/invalid`: what [`super::json_valid`] answers, without the first quote.

use super::{Call, Reply, json_valid};
use plimsoll_wiremock::clock;

pub(super) fn reply(_: &Call<'_, '_>) -> Reply {
    json_valid::plain_text(&format!("{{time\": \"{}\"}}", clock::now()))
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
