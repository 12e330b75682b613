//! Parameters of an admin call's query.

use super::error::AdminError;

/// The value of a parameter, undecoded, if it is there.
pub(super) fn value<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// A whole number, if it is there.
pub(super) fn count(query: &str, name: &str) -> Result<Option<usize>, AdminError> {
    let bad = |_| AdminError::bad_parameter(&format!("{name} is not a whole number"));
    value(query, name)
        .map(|value| value.parse().map_err(bad))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_whole_numbers() {
        assert_eq!(count("a=1&limit=20", "limit").unwrap(), Some(20));
        assert_eq!(count("a=1", "limit").unwrap(), None);
        assert!(count("limit=x", "limit").is_err());
        assert!(count("limit=-1", "limit").is_err());
    }
}
