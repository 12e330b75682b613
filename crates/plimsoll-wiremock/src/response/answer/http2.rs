//! An answer in the form of HTTP/2: its head without what HTTP/1 says of connections, its body in shared pieces.

use super::{Answer, END_OF_HEAD, LETTERS, PIECE_BYTES};
use bytes::Bytes;
use http::header::{CONNECTION, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, Response, StatusCode, Version};

/// Fields that HTTP/2 has no place for (RFC 9113, section 8.2.2), besides names without a constant.
const OF_CONNECTIONS: [HeaderName; 3] = [CONNECTION, TRANSFER_ENCODING, UPGRADE];

impl Answer {
    /// Its head, made once and copied for each request.
    pub fn http2_head(&self) -> Response<()> {
        let fields = self.http2.get_or_init(|| Box::new(self.http2_fields()));
        let mut head = Response::new(());
        // The reason is not sent; a status that HTTP/2 has no number for is refused when its stub is read.
        *head.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *head.version_mut() = Version::HTTP_2;
        head.headers_mut().clone_from(fields);
        head
    }

    /// The next piece of what lies from one byte of the body to another; not empty unless that is.
    pub fn http2_piece(&self, from: usize, end: usize) -> Bytes {
        let start = self.fields_end + END_OF_HEAD;
        let stored = self.bytes.len() - start;
        let end = end.min(from + PIECE_BYTES);
        if from < stored {
            return self.bytes.slice(start + from..start + end.min(stored));
        }
        let letters = LETTERS.iter().copied().cycle();
        let skipped = (from - stored) % LETTERS.len();
        letters.skip(skipped).take(end - from).collect()
    }

    fn http2_fields(&self) -> HeaderMap {
        let mut fields = HeaderMap::new();
        let lines = self.bytes[..self.fields_end].split(|byte| *byte == b'\n');
        for line in lines.skip(1) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
            else {
                continue;
            };
            let of_connections = OF_CONNECTIONS.contains(&name)
                || matches!(name.as_str(), "keep-alive" | "proxy-connection");
            if !of_connections {
                fields.append(name, value);
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnswerBuilder;
    use super::*;

    #[test]
    fn fields_about_the_connection_are_left_out() {
        let answer = AnswerBuilder::new(418, Some("Teapot"))
            .field("Connection", "close")
            .field("Keep-Alive", "timeout=5")
            .field("X-Many", "1")
            .field("x-many", "2")
            .body(b"tea");
        let head = answer.http2_head();
        assert_eq!(head.status(), 418);
        let fields: Vec<_> = head
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(fields, ["x-many: 1", "x-many: 2", "content-length: 3"]);
    }

    #[test]
    fn pieces_are_the_body() {
        for answer in [
            AnswerBuilder::new(200, None).letters(2 * PIECE_BYTES + 7),
            AnswerBuilder::new(200, None).body(&[7; PIECE_BYTES + 1]),
            AnswerBuilder::new(200, None).body(b"short"),
        ] {
            let (mut whole, mut pieces) = (Vec::new(), Vec::new());
            while pieces.len() < answer.body_len() {
                let piece = answer.http2_piece(pieces.len(), answer.body_len());
                assert!(!piece.is_empty() && piece.len() <= PIECE_BYTES);
                pieces.extend_from_slice(&piece);
            }
            let mut next = Some(0);
            while let Some(from) = next {
                next = answer.append_piece(&mut whole, from);
            }
            assert!(whole == pieces);
        }
        let short = AnswerBuilder::new(200, None).body(b"short");
        assert_eq!(&*short.http2_piece(1, 3), b"ho");
    }
}
