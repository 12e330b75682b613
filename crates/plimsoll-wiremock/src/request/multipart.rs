//! The parts of a `multipart/*` body (RFC 2046 §5.1). They own what they hold: a request that kept borrows of itself could not be lent.

use crate::request::content::{Content, Room};
use crate::request::content_type;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One part.
#[derive(Debug)]
pub struct MultipartPart {
    /// Names and values of its header fields.
    pub fields: Vec<(String, Vec<u8>)>,
    pub body: Content<'static>,
}

/// Most parts of a body that are looked at.
const MOST_PARTS: usize = 1000;
/// Most header fields of a part that are looked at.
const MOST_FIELDS: usize = 200;

/// The parts of `body`, which has this content type; none if it is not multipart.
pub fn parts(content_type: &[u8], body: &[u8]) -> Vec<MultipartPart> {
    let Some(boundary) = boundary(content_type) else {
        return Vec::new();
    };
    let delimiter = format!("--{boundary}");
    let mut starts = memchr::memmem::find_iter(body, delimiter.as_bytes()).peekable();
    let mut parts = Vec::new();
    let room = Room::for_bytes(body.len());
    while let Some(start) = starts.next() {
        let Some(end) = starts.peek().copied() else {
            break;
        };
        let piece = &body[start + delimiter.len()..end];
        // The line end before a delimiter belongs to the delimiter.
        let piece = piece.strip_suffix(b"\r\n").unwrap_or(piece);
        let piece = piece.strip_prefix(b"\r\n").unwrap_or(piece);
        parts.push(part(piece, &room));
        if parts.len() == MOST_PARTS {
            break;
        }
    }
    parts
}

impl MultipartPart {
    /// The name that its `Content-Disposition` gives it.
    pub fn name(&self) -> Option<String> {
        let disposition = String::from_utf8_lossy(self.values("Content-Disposition").next()?);
        let (_, name) = disposition.split_once("name=\"")?;
        Some(name.split('"').next()?.to_owned())
    }

    /// Whether its content type, as WireMock judges it, is not one of text; without a type it is binary.
    pub fn is_binary(&self) -> bool {
        let content_type = self.values("Content-Type").next().unwrap_or_default();
        !content_type::is_text(&String::from_utf8_lossy(content_type).to_ascii_lowercase())
    }

    /// The names of its header fields in lower case, in alphabetical order, each with its first value.
    pub fn first_values(&self) -> BTreeMap<String, &[u8]> {
        let mut first = BTreeMap::new();
        for (name, value) in &self.fields {
            first.entry(name.to_ascii_lowercase()).or_insert(&**value);
        }
        first
    }

    /// The values of one header field.
    pub fn values<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b [u8]> + 'b {
        self.fields
            .iter()
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

fn part(piece: &[u8], room: &Rc<Room>) -> MultipartPart {
    let (head, body) = match memchr::memmem::find(piece, b"\r\n\r\n") {
        Some(end) => (&piece[..end], &piece[end + 4..]),
        None if piece.starts_with(b"\r\n") => (&piece[..0], &piece[2..]),
        None => (piece, &piece[..0]),
    };
    let fields = head.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        let name = std::str::from_utf8(&line[..colon]).ok()?;
        Some((name.to_owned(), line[colon + 1..].trim_ascii().to_vec()))
    });
    MultipartPart {
        fields: fields.take(MOST_FIELDS).collect(),
        body: Content::of(body.to_vec()).within(room),
    }
}

/// The `boundary` parameter of a multipart content type.
fn boundary(content_type: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content_type);
    let (kind, parameters) = text.split_once(';')?;
    if !kind.trim().to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    let mut parameters = parameters.split(';').filter_map(|one| one.split_once('='));
    let (_, value) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))?;
    Some(value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_with_their_fields() {
        let body = b"pre\r\n--x\r\nContent-Disposition: form-data; name=\"a\"\r\nA: 1\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--\r\n";
        let parts = parts(b"multipart/form-data; boundary=\"x\"", body);
        let bodies: Vec<&[u8]> = parts.iter().map(|part| part.body.bytes()).collect();
        assert_eq!(bodies, [b"one", b"two"]);
        assert_eq!(parts[0].values("a").next(), Some(b"1".as_slice()));
        assert_eq!(parts[1].fields, []);
    }

    #[test]
    fn other_bodies_have_none() {
        assert!(parts(b"text/plain; boundary=x", b"--x\r\n\r\na\r\n--x--").is_empty());
        assert!(parts(b"multipart/form-data", b"--x\r\n\r\na\r\n--x--").is_empty());
        assert!(parts(b"multipart/form-data; boundary=x", b"").is_empty());
    }
}
