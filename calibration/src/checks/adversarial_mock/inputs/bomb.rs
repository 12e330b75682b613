//! A body that gzip makes ten million bytes of, written by hand.

/// Ten million bytes of zeros as stored by gzip's own end of the scale: hand-made, a run of matches of 258 bytes each.
pub(super) fn bomb() -> Vec<u8> {
    let mut bits = Bits::default();
    // A last block with fixed codes: one literal, then copies of it.
    bits.push(0b011, 3);
    bits.code(0x30 + u32::from(b'0'), 8);
    for _ in 0..9_999_999 / 258 {
        // Length 258 is code 285, distance 1 code 0.
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
    }
    bits.code(0, 7);
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let length = 1 + 9_999_999_usize / 258 * 258;
    let text = vec![b'0'; length];
    let mut tail = crc32(&text).to_le_bytes().to_vec();
    tail.extend(u32::try_from(length).unwrap_or_default().to_le_bytes());
    [&head[..], &bits.bytes, &tail].concat()
}

/// The checksum of gzip (RFC 1952 §8).
fn crc32(bytes: &[u8]) -> u32 {
    let of = |sum: u32| {
        (0..8).fold(sum, |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1))
        })
    };
    !bytes.iter().fold(!0, |sum, byte| {
        (sum >> 8) ^ of((sum ^ u32::from(*byte)) & 255)
    })
}

/// Bits as deflate writes them (RFC 1951 §3.1.1).
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: usize,
}

impl Bits {
    fn push(&mut self, value: u32, count: usize) {
        for place in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = u8::from(value >> place & 1 == 1);
            if let Some(last) = self.bytes.last_mut() {
                *last |= bit << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// A Huffman code: its highest bit first.
    fn code(&mut self, code: u32, count: usize) {
        for place in (0..count).rev() {
            self.push(code >> place & 1, 1);
        }
    }
}
