//! The certificate that an input makes, as DER: its names are the input's, everything else is always the same.

/// The certificate that these bytes make: themselves, if they begin as one does; else one in which they write the names.
pub fn der(bytes: &[u8]) -> Vec<u8> {
    if bytes.first() == Some(&0x30) {
        return bytes.to_vec();
    }
    let mut rest = Bytes(bytes);
    let (mut subject, mut issuer): (Parts, Parts) = Default::default();
    let (mut names, mut lists) = (Vec::new(), 1);
    while !rest.0.is_empty() {
        match rest.next() % 8 {
            0 | 1 => subject.push(vec![rest.attribute()]),
            2 => issuer.push(vec![rest.attribute()]),
            3 => match subject.last_mut() {
                Some(part) => part.push(rest.attribute()),
                None => subject.push(vec![rest.attribute()]),
            },
            4 => {
                // The same in both, so that one difference behind it is all there is.
                let attribute = rest.attribute();
                subject.push(vec![attribute.clone()]);
                issuer.push(vec![attribute]);
            }
            5 if rest.next() == 0xff => lists = 2,
            _ => {
                let tag = TAGS_OF_NAMES[usize::from(rest.next()) % TAGS_OF_NAMES.len()];
                names.push(tlv(tag, &[rest.content()]));
            }
        }
    }
    build(&subject, &issuer, &names, lists)
}

/// A distinguished name that is being written: its parts, each of encoded attributes.
type Parts = Vec<Vec<Vec<u8>>>;

/// Bytes that are taken one after the other; zero when there are no more.
struct Bytes<'a>(&'a [u8]);

const TAGS_OF_NAMES: [u8; 12] = [
    0x86, 0x82, 0x86, 0x82, 0x81, 0x87, 0x88, 0x06, 0x02, 0xa2, 0xa6, 0x46,
];
const TAGS_OF_TEXT: [u8; 10] = [0x0c, 0x13, 0x16, 0x0c, 0x12, 0x14, 0x1e, 0x8c, 0x2c, 0x04];
/// CN, O, OU, emailAddress, serialNumber, and one that nobody knows.
pub(super) const TYPES: [&[u8]; 6] = [
    &[0x55, 4, 3],
    &[0x55, 4, 10],
    &[0x55, 4, 11],
    &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1],
    &[0x55, 4, 5],
    &[0x2a, 3, 4],
];

impl<'a> Bytes<'a> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn content(&mut self) -> &'a [u8] {
        let length = usize::from(self.next()) % 16;
        let (content, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        content
    }

    fn attribute(&mut self) -> Vec<u8> {
        let kind = TYPES[usize::from(self.next()) % TYPES.len()];
        let tag = TAGS_OF_TEXT[usize::from(self.next()) % TAGS_OF_TEXT.len()];
        tlv(0x30, &[&tlv(0x06, &[kind]), &tlv(tag, &[self.content()])])
    }
}

/// A value of DER.
pub(super) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = content.len();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short @ ..0x80) => out.push(short),
        Ok(length) => out.extend([0x81, length]),
        Err(_) => {
            let length = u16::try_from(length).expect("inputs are short");
            out.push(0x82);
            out.extend(length.to_be_bytes());
        }
    }
    out.extend(content);
    out
}

fn name(parts: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let part = |attributes: &Vec<Vec<u8>>| {
        let mut sorted: Vec<&[u8]> = attributes.iter().map(Vec::as_slice).collect();
        sorted.sort_unstable();
        sorted.dedup();
        tlv(0x31, &sorted)
    };
    let parts: Vec<Vec<u8>> = parts.iter().map(part).collect();
    tlv(0x30, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A certificate whose signature nobody looks at.
pub(super) fn build(
    subject: &[Vec<Vec<u8>>],
    issuer: &[Vec<Vec<u8>>],
    names: &[Vec<u8>],
    lists: usize,
) -> Vec<u8> {
    let algorithm = tlv(
        0x30,
        &[&tlv(0x06, &[&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]])],
    );
    let key = tlv(
        0x30,
        &[
            &tlv(
                0x30,
                &[
                    &tlv(0x06, &[&[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1]]),
                    &tlv(0x06, &[&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]]),
                ],
            ),
            &tlv(0x03, &[&[0, 4], &[7; 64]]),
        ],
    );
    let validity = tlv(
        0x30,
        &[
            &tlv(0x17, &[b"240101000000Z"]),
            &tlv(0x17, &[b"340101000000Z"]),
        ],
    );
    let list = tlv(0x30, &names.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let extension = tlv(
        0x30,
        &[&tlv(0x06, &[&[0x55, 0x1d, 0x11]]), &tlv(0x04, &[&list])],
    );
    let extensions = match names {
        [] => Vec::new(),
        _ => tlv(0xa3, &[&tlv(0x30, &[&extension.repeat(lists)])]),
    };
    let signed = tlv(
        0x30,
        &[
            &tlv(0xa0, &[&tlv(0x02, &[&[2]])]),
            &tlv(0x02, &[&[0x11]]),
            &algorithm,
            &name(issuer),
            &validity,
            &name(subject),
            &key,
            &extensions,
        ],
    );
    tlv(0x30, &[&signed, &algorithm, &tlv(0x03, &[&[0, 0x30, 0]])])
}
