//! Parameter entities that stand outside a document: their declarations and references are left out, since nothing outside is ever read.
//!
//! roxmltree takes no parameter entities at all. What takes their place has the same length, so that places in messages stay right.

use std::borrow::Cow;

/// The text without the external parameter entities of its document type; other parameter entities stay, and are refused by the parser.
pub(super) fn left_out(text: &str) -> Cow<'_, str> {
    let Some(subset) = internal_subset(text) else {
        return Cow::Borrowed(text);
    };
    let (mut names, mut unwanted) = (Vec::new(), Vec::new());
    let mut at = subset.start;
    while at < subset.end {
        let rest = &text[at..subset.end];
        let length = declaration_length(rest);
        if let Some(name) = external_parameter(&rest[..length]) {
            names.push(name);
            unwanted.push(at..at + length);
        } else if let Some(name) = reference(rest)
            && names.contains(&name)
        {
            unwanted.push(at..at + name.len() + 2);
        }
        at += length;
    }
    if unwanted.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for range in unwanted {
        out.push_str(&text[out.len()..range.start]);
        out.extend(std::iter::repeat_n(' ', range.len()));
    }
    out.push_str(&text[out.len()..]);
    Cow::Owned(out)
}

/// Where the declarations between the brackets of a document type stand.
fn internal_subset(text: &str) -> Option<std::ops::Range<usize>> {
    let start = memchr::memmem::find(text.as_bytes(), b"<!DOCTYPE")?;
    let open = start + text[start..].find(['[', '>'])?;
    if !text[open..].starts_with('[') {
        return None;
    }
    let mut at = open + 1;
    while !text[at..].starts_with(']') {
        let length = declaration_length(&text[at..]);
        if length == 0 {
            return None;
        }
        at += length;
    }
    Some(open + 1..at)
}

/// Bytes of the declaration, comment or instruction at the start of a text, or of its first character.
fn declaration_length(text: &str) -> usize {
    let through = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    if text.starts_with("<!--") {
        return through("-->");
    }
    if text.starts_with("<?") {
        return through("?>");
    }
    if !text.starts_with("<!") {
        return text.chars().next().map_or(0, char::len_utf8);
    }
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return at + 1,
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// The name of `<!ENTITY % name SYSTEM "…">`.
fn external_parameter(declaration: &str) -> Option<&str> {
    let mut words = declaration
        .strip_prefix("<!ENTITY")?
        .split_ascii_whitespace();
    let (percent, name, kind) = (words.next()?, words.next()?, words.next()?);
    let is_external = percent == "%" && matches!(kind, "SYSTEM" | "PUBLIC");
    is_external.then_some(name)
}

/// The name of `%name;`.
fn reference(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('%')?.split_once(';')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_parameter_entities_are_left_out() {
        let check = |text: &str, expected: &str| {
            let left = left_out(text);
            assert_eq!(left.len(), text.len(), "{text}");
            assert_eq!(
                left.split_whitespace().collect::<Vec<_>>().join(" "),
                expected
            );
        };
        check("<a>%b;</a>", "<a>%b;</a>");
        check(
            "<!DOCTYPE a [<!ENTITY % s SYSTEM 'http://x/é>.dtd'> %s; ]><a>%s;</a>",
            "<!DOCTYPE a [ ]><a>%s;</a>",
        );
        check(
            "<!DOCTYPE a [<!-- ] --><!ENTITY % s PUBLIC \"]\" 'u'>%s;<!ENTITY e 'x'>%t;]><a/>",
            "<!DOCTYPE a [<!-- ] --> <!ENTITY e 'x'>%t;]><a/>",
        );
        for text in [
            "<!DOCTYPE a SYSTEM 'u'><a/>",
            "<!DOCTYPE a [<!ENTITY",
            "<!DOCTYPE a [",
        ] {
            assert_eq!(left_out(text), text);
        }
    }
}
