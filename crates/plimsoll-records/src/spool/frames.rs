//! Content of a spool's file: a few bytes that begin it, then a frame for each record.

use crate::entry::Entry;

/// The first bytes of each file.
pub(super) const MAGIC: &[u8] = b"plimsoll records 1\n";
/// Bytes of a frame before its record.
pub(super) const HEAD: usize = 8;
/// The frames of records, up to the first that does not fit into so many bytes; and how many those are.
pub(super) fn framed<'a>(entries: impl Iterator<Item = Entry<'a>>, room: u64) -> (Vec<u8>, u64) {
    let (mut bytes, mut records) = (Vec::new(), 0);
    for entry in entries {
        let before = bytes.len();
        write_frame(&mut bytes, &entry);
        if bytes.len() as u64 > room {
            bytes.truncate(before);
            break;
        }
        records += 1;
    }
    (bytes, records)
}

fn write_frame(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    rmp_serde::encode::write_named(out, entry)
        .expect("invariant: a record is MessagePack, and memory takes it");
    let frame = &out[start + HEAD..];
    let length = u32::try_from(frame.len()).expect("invariant: a record is small");
    let sum = crc32fast::hash(frame);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEAD].copy_from_slice(&sum.to_le_bytes());
}

/// The frames between two places, up to the first that is not whole.
pub(super) fn frames(content: &[u8], start: usize, end: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = content.get(start..end).unwrap_or_default();
    std::iter::from_fn(move || {
        let (head, after) = rest.split_first_chunk::<HEAD>()?;
        let [a, b, c, d, sum @ ..] = *head;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
        let frame = after.get(..length)?;
        if crc32fast::hash(frame) != u32::from_le_bytes(sum) {
            return None;
        }
        rest = &after[length..];
        Some(frame)
    })
}

/// Whether a file is no spool of this version: not even the beginning of one.
pub(super) fn is_foreign(content: &[u8]) -> bool {
    let head = content.len().min(MAGIC.len());
    content[..head] != MAGIC[..head]
}

/// Bytes of a file up to the end of its last whole frame.
pub(super) fn good_bytes(content: &[u8]) -> usize {
    if !content.starts_with(MAGIC) {
        return 0;
    }
    let whole = frames(content, MAGIC.len(), content.len());
    MAGIC.len() + whole.map(|frame| HEAD + frame.len()).sum::<usize>()
}
