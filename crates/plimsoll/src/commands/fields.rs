//! The header fields of a request, put together from several places: each name once.

use std::collections::HashMap;

/// Fields of which a request has one (RFC 9110); two of them do not make a list.
const SINGLE: [&str; 15] = [
    "authorization",
    "content-length",
    "content-type",
    "date",
    "from",
    "host",
    "if-modified-since",
    "if-range",
    "if-unmodified-since",
    "max-forwards",
    "origin",
    "proxy-authorization",
    "range",
    "referer",
    "user-agent",
];

/// Each name once: several values of one field are one value with commas between (RFC 9110, section 5.3); cookies have their own
/// separator (RFC 6265, section 4.2.1).
///
/// # Errors
/// The name of a field that is there twice, with two values, and that no request has twice.
pub fn combined(
    fields: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<(String, String)>, String> {
    let mut combined: Vec<(String, String)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, value) in fields {
        let place = *places
            .entry(name.to_ascii_lowercase())
            .or_insert(combined.len());
        let Some((_, all)) = combined.get_mut(place) else {
            combined.push((name, value));
            continue;
        };
        let is_single = SINGLE
            .iter()
            .any(|single| name.eq_ignore_ascii_case(single));
        if is_single && *all == value {
            continue;
        }
        if is_single {
            return Err(name);
        }
        let is_cookie = name.eq_ignore_ascii_case("cookie");
        all.push_str(if is_cookie { "; " } else { ", " });
        all.push_str(&value);
    }
    Ok(combined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_once() {
        let check = |written: &[(&str, &str)], expected: Result<&[(&str, &str)], &str>| {
            let owned = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
                let pairs = fields.iter();
                pairs
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect()
            };
            let expected = expected.map(owned).map_err(str::to_owned);
            assert_eq!(combined(owned(written)), expected);
        };
        check(
            &[("A", "1"), ("Cookie", "b=c"), ("a", "2"), ("cookie", "d=e")],
            Ok(&[("A", "1, 2"), ("Cookie", "b=c; d=e")]),
        );
        check(&[("Host", "a"), ("host", "b")], Err("host"));
        check(
            &[("Content-Type", "a/b"), ("content-type", "a/b")],
            Ok(&[("Content-Type", "a/b")]),
        );
    }
}
