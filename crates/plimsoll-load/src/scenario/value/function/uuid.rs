//! `uuid()`: a random UUID, version 4 of RFC 9562, from the run's seed.

use super::{Arguments, Function};
use crate::scenario::memory::Memory;

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(super) fn compile(arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(0, 0, "uuid()")?;
    Ok(Function::Uuid)
}

pub(super) fn render(memory: &mut Memory, out: &mut Vec<u8>) {
    let draw = memory.data();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&draw.bits().to_be_bytes());
    bytes[8..].copy_from_slice(&draw.bits().to_be_bytes());
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.push(HEX[usize::from(byte >> 4)]);
        out.push(HEX[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::iteration::Iteration;
    use crate::scenario::memory::Sizes;

    #[test]
    fn uuids_follow_from_the_seed_and_differ() {
        let two = |number| {
            let mut memory = Memory::new(1, Sizes::default());
            let iteration = Iteration {
                number,
                ..Iteration::default()
            };
            memory.begin(iteration, &[]).unwrap();
            let mut out = Vec::new();
            render(&mut memory, &mut out);
            out.push(b' ');
            render(&mut memory, &mut out);
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!(two(0), @"970ed1d9-205b-4de1-bf01-0eff9521cf65 52baa34d-de9f-4e27-aa09-66c4a9d3b043");
        assert_ne!(two(0), two(1));
    }
}
