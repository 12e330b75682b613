//! A request as an input says it, and as the frames of a connection (RFC 9113, RFC 7541).

/// Ends a section of an input: fields, body, trailers.
const SECTION: u8 = 0xfd;
/// Ends a field, or a piece of a body.
const ITEM: u8 = 0xfe;
/// Stands between a name and its value.
const VALUE: u8 = 0xff;

/// A request as it was sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// `None`: nothing follows the head.
    pub(super) body: Option<Vec<Vec<u8>>>,
    pub(super) trailers: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Sent {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut sections = bytes.split(|byte| *byte == SECTION);
        let fields = items(sections.next()).filter_map(field).collect();
        let body = sections.next();
        Self {
            fields,
            body: body.map(|section| items(Some(section)).map(<[u8]>::to_vec).collect()),
            trailers: items(sections.next()).filter_map(field).collect(),
        }
    }

    /// The one value of a field, pseudo or not.
    pub(super) fn value(&self, name: &str) -> Option<&[u8]> {
        let mut named = self.fields.iter().filter(|(own, _)| own == name.as_bytes());
        named.next().map(|(_, value)| &value[..])
    }

    pub(super) fn whole_body(&self) -> Vec<u8> {
        self.body.iter().flatten().flatten().copied().collect()
    }

    /// Everything that the client sends on its connection.
    pub(super) fn frames(&self) -> Vec<u8> {
        let mut out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        frame(&mut out, 4, 0, 0, &[]);
        let ends = self.body.is_none();
        frame(&mut out, 1, 4 | u8::from(ends), 1, &block(&self.fields));
        let Some(pieces) = &self.body else {
            return out;
        };
        for piece in pieces {
            frame(&mut out, 0, 0, 1, piece);
        }
        match self.trailers.is_empty() {
            true => frame(&mut out, 0, 1, 1, &[]),
            false => frame(&mut out, 1, 4 | 1, 1, &block(&self.trailers)),
        }
        out
    }
}

fn items(section: Option<&[u8]>) -> impl Iterator<Item = &[u8]> {
    let section = section.unwrap_or_default();
    section
        .split(|byte| *byte == ITEM)
        .filter(|item| !item.is_empty())
}

fn field(item: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut parts = item.splitn(2, |byte| *byte == VALUE);
    let name = parts.next()?.to_vec();
    Some((name, parts.next().unwrap_or_default().to_vec()))
}

/// RFC 9113 §4.1.
fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("inputs are short");
    out.extend(&length.to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
}

/// A block of literals that are not indexed (RFC 7541 §6.2.2), so that any bytes can be said.
fn block(fields: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        for text in [name, value] {
            string(&mut out, text);
        }
    }
    out
}

/// RFC 7541 §5.2, without Huffman coding.
fn string(out: &mut Vec<u8>, text: &[u8]) {
    match u8::try_from(text.len()) {
        Ok(short @ ..127) => out.push(short),
        _ => {
            out.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                out.push(u8::try_from(rest % 128).expect("below 128") | 128);
                rest /= 128;
            }
            out.push(u8::try_from(rest).expect("below 128"));
        }
    }
    out.extend(text);
}

/// An input that sends this.
pub fn input(fields: &[(&str, &str)], body: Option<&[&str]>, trailers: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    let all = |out: &mut Vec<u8>, fields: &[(&str, &str)]| {
        for (name, value) in fields {
            out.extend_from_slice(name.as_bytes());
            out.push(VALUE);
            out.extend_from_slice(value.as_bytes());
            out.push(ITEM);
        }
    };
    all(&mut out, fields);
    if let Some(pieces) = body {
        out.push(SECTION);
        for piece in pieces {
            out.extend_from_slice(piece.as_bytes());
            out.push(ITEM);
        }
        out.push(SECTION);
        all(&mut out, trailers);
    }
    out
}
