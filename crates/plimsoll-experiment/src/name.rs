//! Names of components, arms, listeners and secrets: they appear in references, in file names and in metric paths.

/// Words with a meaning of their own where a component's name could stand.
const RESERVED: [&str; 6] = ["self", "secret", "env", "file", "generator", "lab"];

/// Whether `text` is a letter followed by at most 62 letters, digits, `-` and `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Why `text` cannot name a `kind`; `None` when it can.
pub(super) fn refuse_name(kind: &str, text: &str) -> Option<String> {
    if !is_name(text) {
        return Some(format!(
            "`{text}` cannot name {kind}: write a letter, then at most 62 letters, digits, `-` and `_`"
        ));
    }
    RESERVED
        .contains(&text)
        .then(|| format!("`{text}` is a reserved name: choose another name for {kind}"))
}
