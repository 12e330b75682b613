//! Types of content, by their names.

use encoding_rs::Encoding;

/// Parts of the names of types that are text.
const TEXTS: [&str; 8] = [
    "text",
    "json",
    "xml",
    "html",
    "yaml",
    "csv",
    "javascript",
    "x-www-form-urlencoded",
];

/// Whether a type of this name, in lower case, is text.
pub fn is_text(name: &str) -> bool {
    TEXTS.iter().any(|text| name.contains(text))
}

/// The encoding that a content type names; `None` if it names none that is known.
pub fn encoding(content_type: &[u8]) -> Option<&'static Encoding> {
    let parameters = content_type.split(|byte| *byte == b';').skip(1);
    let charset = parameters.map(<[u8]>::trim_ascii).find_map(|parameter| {
        let (name, value) = parameter.split_at_checked(b"charset=".len())?;
        name.eq_ignore_ascii_case(b"charset=").then_some(value)
    })?;
    let quoted = charset
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    Encoding::for_label(quoted.unwrap_or(charset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_go_by_their_names() {
        let check = |content_type: &str, expected: Option<&str>| {
            let found = encoding(content_type.as_bytes()).map(Encoding::name);
            assert_eq!(found, expected, "{content_type}");
        };
        check("application/json; charset=GB2312", Some("GBK"));
        check("text/plain;a=b; Charset=\"utf-8\"", Some("UTF-8"));
        check("text/plain; charset=none", None);
        check("charset=utf-8", None);
        check("", None);
    }
}
