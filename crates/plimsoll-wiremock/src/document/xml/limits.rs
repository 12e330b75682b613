//! Limits of a text before it is parsed as XML: whether parsing it would cost more than its length allows. A parser compares each attribute
//! of an element with the others, copies the prefixes in scope to each element that declares one, and writes an entity out wherever it stands.

use std::collections::HashSet;

/// Elements, texts, attributes, comments and instructions of any document, and for how many bytes there may be one more.
const PARTS: usize = 40_000;
const BYTES_A_PART: usize = 8;
/// Signs that begin a tag or end an attribute's name, wherever they stand: the parser makes room for an element or an attribute for each, 72 bytes.
const SIGNS: usize = 60_000;
const BYTES_A_SIGN: usize = 7;
/// Comparisons of names of attributes, and of prefixes, in any document; and for each byte.
const COMPARISONS: usize = 4_000_000;
const COMPARISONS_A_BYTE: usize = 4;
/// Bytes that entities may stand for in any document, and for each byte.
const EXPANDED: usize = 1 << 20;
const EXPANDED_A_BYTE: usize = 4;
/// References within entities that the parser follows for one.
const NESTED: usize = 256;

/// How many parts a text of this length may have.
pub(super) fn most_parts(bytes: usize) -> usize {
    PARTS + bytes / BYTES_A_PART
}

/// Checks the cost of a document; the error says which limit it exceeds.
pub(super) fn check(text: &str) -> Result<(), String> {
    let length = text.len();
    let most = SIGNS + length / BYTES_A_SIGN;
    if memchr::memchr2_iter(b'<', b'=', text.as_bytes()).count() > most {
        return Err(format!("more than {most} of < and = in {length} bytes"));
    }
    let cost = Cost::of(text.as_bytes());
    let most = most_parts(length);
    if cost.parts > most {
        return Err(format!("more than {most} parts in {length} bytes"));
    }
    let most = COMPARISONS + COMPARISONS_A_BYTE * length;
    if cost.attribute_pairs > most {
        return Err("too many attributes in one element".to_owned());
    }
    let prefixes = cost.prefixes.len() + 1;
    if cost
        .declaring
        .saturating_mul(prefixes.saturating_mul(prefixes))
        > most
    {
        return Err(format!(
            "{prefixes} prefixes are too many to declare again and again"
        ));
    }
    if expanded(text) > EXPANDED + EXPANDED_A_BYTE * length {
        return Err("entities stand for too much".to_owned());
    }
    Ok(())
}

/// Sums over the tags of a text.
#[derive(Default)]
struct Cost<'t> {
    parts: usize,
    /// The sum over elements of the square of their attributes' number.
    attribute_pairs: usize,
    /// Declarations of namespaces, and what they declare.
    declaring: usize,
    prefixes: HashSet<&'t [u8]>,
}

impl<'t> Cost<'t> {
    fn of(text: &'t [u8]) -> Self {
        let mut cost = Self::default();
        let mut rest = text;
        while let Some(start) = memchr::memchr(b'<', rest) {
            rest = &rest[start + 1..];
            // What is before it is a text.
            cost.parts += 1 + usize::from(start > 0);
            let end: &[u8] = match rest {
                [b'!', b'-', b'-', ..] => b"-->",
                [b'!', b'[', ..] => b"]]>",
                [b'?', ..] => b"?>",
                _ => {
                    let length = cost.tag(rest);
                    rest = rest.get(length + 1..).unwrap_or_default();
                    continue;
                }
            };
            let end = memchr::memmem::find(rest, end).map_or(rest.len(), |at| at + end.len());
            rest = &rest[end..];
        }
        cost
    }

    /// A tag from behind its `<`; how long it is.
    fn tag(&mut self, tag: &'t [u8]) -> usize {
        if tag.first() == Some(&b'/') {
            self.parts -= 1;
        }
        let (mut attributes, mut from, mut end) = (0usize, 0, tag.len());
        while let Some(at) = memchr::memchr3(b'=', b'>', b'"', &tag[from..]).map(|at| from + at) {
            match tag[at] {
                b'>' => {
                    end = at;
                    break;
                }
                b'=' => {
                    attributes += 1;
                    self.declaration(&tag[from..at]);
                    from = at + 1 + value_length(&tag[at + 1..]);
                }
                _ => from = at + 1,
            }
        }
        self.parts += attributes;
        self.attribute_pairs += attributes.saturating_mul(attributes);
        end
    }

    /// Notes what an attribute declares, if its name, which the bytes end with, says so.
    fn declaration(&mut self, bytes: &'t [u8]) {
        let bytes = bytes.trim_ascii();
        let start = bytes.iter().rposition(u8::is_ascii_whitespace);
        let name = &bytes[start.map_or(0, |at| at + 1)..];
        if name.starts_with(b"xmlns") {
            self.declaring += 1;
            self.prefixes.insert(name);
        }
    }
}

/// The length of a quoted value, with what is before it.
fn value_length(bytes: &[u8]) -> usize {
    let Some(open) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return bytes.len();
    };
    match bytes[open] {
        quote @ (b'"' | b'\'') => {
            let end = memchr::memchr(quote, &bytes[open + 1..]);
            end.map_or(bytes.len(), |end| open + end + 2)
        }
        _ => open,
    }
}

/// Bytes and comparisons that writing out entities takes at the most.
fn expanded(text: &str) -> usize {
    let text = text.as_bytes();
    let mut entities = memchr::memmem::find_iter(text, b"<!ENTITY").peekable();
    if entities.peek().is_none() {
        return 0;
    }
    let (mut count, mut longest, mut nests) = (0, 0, false);
    while let Some(start) = entities.next() {
        // One ends where the next begins, or at the end of the declarations.
        let end = entities.peek().copied();
        let end = end.unwrap_or_else(|| {
            start + memchr::memmem::find(&text[start..], b"]>").unwrap_or(text.len() - start)
        });
        let own = &text[start..end];
        count += 1;
        longest = longest.max(own.len());
        nests |= memchr::memchr(b'&', own).is_some();
    }
    let references = memchr::memchr_iter(b'&', text).count();
    let each = longest.saturating_add(count);
    let depth = if nests { NESTED } else { 1 };
    references.saturating_mul(each).saturating_mul(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: &str) {
        let error = check(text).err().unwrap_or_default();
        assert_eq!(
            error.is_empty(),
            expected.is_empty(),
            "{error}: {}",
            &text[..text.len().min(100)]
        );
        assert!(error.contains(expected), "{error}");
    }

    fn many(count: usize, one: impl Fn(usize) -> String) -> String {
        (0..count).map(one).collect()
    }

    #[test]
    fn ordinary_documents_pass() {
        check_text("", "");
        check_text("<a b='1' c=\"2\">x<!-- <<<< --><![CDATA[<<<]]></a>", "");
        let rows = many(50_000, |n| {
            format!("<item id='{n}' kind='x'>value {n}</item>\n")
        });
        check_text(&format!("<rows>{rows}</rows>"), "");
        let spaces = many(5_000, |_| "<s:a xmlns:s='urn:s' xmlns='urn:d'/>".to_owned());
        check_text(&format!("<rows>{spaces}</rows>"), "");
        let entities =
            "<!DOCTYPE a [<!ENTITY co 'a company of some length'>]><a>&co; &co; &co;</a>";
        check_text(entities, "");
        check_text(
            &format!("<a {}/>", many(1_500, |n| format!("a{n}='1' "))),
            "",
        );
    }

    #[test]
    fn costly_documents_do_not() {
        check_text(&"<aaaa/>x".repeat(300_000), "parts");
        check_text(
            &format!("<a {}/>", many(10_000, |n| format!("a{n}='' "))),
            "attributes",
        );
        check_text(&"<".repeat(400_000), "of < and =");
        check_text(&format!("<a>{}</a>", "=".repeat(400_000)), "of < and =");
        let nested = many(3_000, |n| format!("<a xmlns:p{n}='u'>"));
        check_text(&nested, "prefixes");
        let copies = format!(
            "<!DOCTYPE a [<!ENTITY e '{}'>]><a>{}</a>",
            "x".repeat(50_000),
            "&e;".repeat(10_000)
        );
        check_text(&copies, "entities");
    }
}
