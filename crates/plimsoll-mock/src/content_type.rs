//! Types of content, by their names.

/// What the names of types contain that are text.
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
pub(crate) fn is_text(name: &str) -> bool {
    TEXTS.iter().any(|text| name.contains(text))
}
