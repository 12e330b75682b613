//! Protocol Buffers' encoding (<https://protobuf.dev/programming-guides/encoding/>), as far as OTLP's requests need it: written straight from
//! what is borrowed, in one pass. Why not `prost`, which reads and writes such messages elsewhere: `docs/decisions/0011-otlp.md`.

/// Wire types: what the three lowest bits of a field's tag say about its value.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;

/// A message that is written to the end of a buffer. A field is written whatever its value: also one that is the default.
pub(crate) struct Message<'a>(pub(crate) &'a mut Vec<u8>);

impl Message<'_> {
    /// A whole number or an enumeration (`uint64`, `uint32`, `enum`; `int64` as far as it is not negative).
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        varint(self.0, value);
    }

    /// A `fixed64`.
    pub(crate) fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend(value.to_le_bytes());
    }

    /// A `string` or `bytes`.
    pub(crate) fn bytes(&mut self, field: u32, value: impl AsRef<[u8]>) {
        self.joined(field, &[value.as_ref()]);
    }

    /// A `string` or `bytes` of several pieces.
    pub(crate) fn joined(&mut self, field: u32, pieces: &[&[u8]]) {
        self.tag(field, LENGTH_DELIMITED);
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        varint(self.0, length as u64);
        for piece in pieces {
            self.0.extend_from_slice(piece);
        }
    }

    /// A message, of what `write` writes.
    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Message<'_>)) {
        self.tag(field, LENGTH_DELIMITED);
        // Attributes, which most are, have a length of one byte; what others hold is moved.
        let at = self.0.len();
        self.0.push(0);
        write(&mut Message(self.0));
        let length = self.0.len() - at - 1;
        match u8::try_from(length) {
            Ok(short @ ..0x80) => self.0[at] = short,
            _ => {
                let mut long = Vec::new();
                varint(&mut long, length as u64);
                self.0.splice(at..=at, long);
            }
        }
    }

    fn tag(&mut self, field: u32, wire_type: u32) {
        varint(self.0, u64::from(field << 3 | wire_type));
    }
}

/// Writes seven bits a byte, the lowest first; all but the last have the highest bit set.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [bits, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(bits);
        }
        out.push(bits | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost::Message as _;

    /// As the derive of `prost` reads it.
    #[derive(PartialEq, prost::Message)]
    struct Tree {
        #[prost(uint64, tag = "1")]
        number: u64,
        #[prost(fixed64, tag = "2")]
        fixed: u64,
        #[prost(string, tag = "15")]
        text: String,
        #[prost(message, repeated, tag = "16")]
        branches: Vec<Tree>,
    }

    fn write(tree: &Tree, message: &mut Message<'_>) {
        message.number(1, tree.number);
        message.fixed(2, tree.fixed);
        let (head, tail) = tree.text.as_bytes().split_at(tree.text.len() / 2);
        message.joined(15, &[head, tail]);
        for branch in &tree.branches {
            message.message(16, |message| write(branch, message));
        }
    }

    fn trees() -> impl Strategy<Value = Tree> {
        let leaf = (any::<u64>(), 0..64_u32, any::<u64>(), "\\PC{0,300}");
        let leaf = leaf.prop_map(|(number, shift, fixed, text)| Tree {
            number: number >> shift,
            fixed,
            text,
            branches: Vec::new(),
        });
        leaf.prop_recursive(4, 64, 8, |inner| {
            (any::<u64>(), proptest::collection::vec(inner, 0..8)).prop_map(|(number, branches)| {
                Tree {
                    number,
                    branches,
                    ..Tree::default()
                }
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(tree in trees()) {
            let mut bytes = b"before".to_vec();
            write(&tree, &mut Message(&mut bytes));
            let read = Tree::decode(&bytes[6..]);
            prop_assert_eq!(read.as_ref(), Ok(&tree));
        }
    }

    #[test]
    fn a_length_has_as_many_bytes_as_it_needs() {
        for (length, expected) in [
            (0, "7a 00"),
            (127, "7a 7f"),
            (128, "7a 80 01"),
            (16_384, "7a 80 80 01"),
        ] {
            let mut bytes = Vec::new();
            let long = |message: &mut Message<'_>| message.0.resize(message.0.len() + length, b'x');
            Message(&mut bytes).message(15, long);
            let head = &bytes[..bytes.len() - length];
            let head: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(head.join(" "), expected);
            assert!(bytes.ends_with(&vec![b'x'; length]));
        }
    }
}
