//! `GET /mappings?limit&offset`: the mappings in match order and how many there are in all.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::answer::Answer;
use serde_json::json;

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let limit = parameter(&request.query, "limit")?;
    let offset = parameter(&request.query, "offset")?;
    let set = admin.stubs.current();
    let mappings: Vec<_> = set
        .stubs()
        .iter()
        .skip(offset.unwrap_or(0))
        .take(limit.unwrap_or(usize::MAX))
        .map(|stub| &stub.document)
        .collect();
    let total = set.stubs().len();
    Ok(Answer::json(
        200,
        &json!({"mappings": mappings, "meta": {"total": total}}),
    ))
}

/// A whole number of the query, if it is there.
fn parameter(query: &str, name: &str) -> Result<Option<usize>, AdminError> {
    let value = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name);
    let bad = |_| AdminError::bad_parameter(&format!("{name} is not a whole number"));
    value
        .map(|(_, value)| value.parse().map_err(bad))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_whole_numbers() {
        assert_eq!(parameter("a=1&limit=20", "limit").unwrap(), Some(20));
        assert_eq!(parameter("a=1", "limit").unwrap(), None);
        assert!(parameter("limit=x", "limit").is_err());
        assert!(parameter("limit=-1", "limit").is_err());
    }
}
