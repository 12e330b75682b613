//! Bodies of answers as they were before they were compressed, for who looks into them.

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// The most bytes of a body, compressed and not, that are looked into.
pub(crate) const INSPECTED_BYTES: usize = 10 * 1024 * 1024;

/// Puts the body into `into`, decoded as its `Content-Encoding` says.
///
/// # Errors
/// A coding that is not known, or data that is not in it.
pub(super) fn decode(coding: &[u8], body: &[u8], into: &mut Vec<u8>) -> Result<(), Undecodable> {
    into.clear();
    let read = |reader: &mut dyn Read, into: &mut Vec<u8>| {
        let limited = &mut reader.take(INSPECTED_BYTES as u64);
        limited
            .read_to_end(into)
            .map(|_| ())
            .map_err(|_| Undecodable)
    };
    let coding = coding.trim_ascii();
    if coding.eq_ignore_ascii_case(b"gzip") || coding.eq_ignore_ascii_case(b"x-gzip") {
        return read(&mut MultiGzDecoder::new(body), into);
    }
    if coding.eq_ignore_ascii_case(b"deflate") {
        // RFC 9110 means zlib; some servers send the bare stream.
        return read(&mut ZlibDecoder::new(body), into).or_else(|_| {
            into.clear();
            read(&mut DeflateDecoder::new(body), into)
        });
    }
    Err(Undecodable)
}

/// A body that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undecodable;

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write as _;

    #[test]
    fn what_was_compressed_is_restored() {
        let text = b"plimsoll ".repeat(100);
        let check = |coding: &str, body: &[u8]| {
            let mut decoded = b"before".to_vec();
            decode(coding.as_bytes(), body, &mut decoded).unwrap();
            assert_eq!(decoded, text);
        };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&text).unwrap();
        check(" GZIP", &gzip.finish().unwrap());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        check("deflate", &zlib.finish().unwrap());
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(&text).unwrap();
        check("deflate", &bare.finish().unwrap());
    }

    #[test]
    fn anything_else_is_undecodable() {
        let mut decoded = Vec::new();
        assert_eq!(decode(b"br", b"x", &mut decoded), Err(Undecodable));
        assert_eq!(decode(b"gzip", b"x", &mut decoded), Err(Undecodable));
    }
}
