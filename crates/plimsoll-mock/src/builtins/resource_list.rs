//! `/resource?limit=10`: the first resources, by id.

use super::resource::{COUNT, resource};
use super::{Call, Reply};
use plimsoll_wiremock::response::answer::Answer;
use serde_json::{Map, Value};

/// How many are listed unless the query says so.
const DEFAULT_LIMIT: u64 = 10;

pub(super) fn reply(call: &Call<'_, '_>) -> Reply {
    let asked = call
        .request
        .query()
        .split('&')
        .find_map(|pair| pair.strip_prefix("limit=")?.parse().ok());
    let limit = asked.filter(|limit| *limit > 0).unwrap_or(DEFAULT_LIMIT);
    let resources: Map<String, Value> = (0..limit.min(COUNT))
        .map(|id| (id.to_string(), resource(id)))
        .collect();
    Answer::json(200, &Value::Object(resources)).into()
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn the_limit_is_respected() {
        for (url, expected) in [
            ("/resource", 10),
            ("/resource?limit=3", 3),
            ("/resource?a=1&limit=1000", 100),
            ("/resource?limit=0", 10),
        ] {
            let (answer, _) = get(url);
            assert_eq!(answer.matches("\"Id\"").count(), expected, "{url}");
        }
    }
}
