//! The encoding half of the codec: heads and chunks appended to a buffer, no I/O.
//!
//! Names and values are checked where they enter the program; nothing is checked again here but what the type says.

use crate::codec::fields::Fields;

/// Starts a request: `method SP target SP HTTP/1.1`.
pub fn request_line(out: &mut Vec<u8>, method: &str, target: &str) {
    out.extend_from_slice(method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

/// Starts a response; without a reason the standard phrase is used.
pub fn status_line(out: &mut Vec<u8>, status: u16, reason: Option<&[u8]>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason.unwrap_or_else(|| reason_phrase(status).as_bytes()));
    out.extend_from_slice(b"\r\n");
}

/// Appends one field.
pub fn field(out: &mut Vec<u8>, name: &str, value: impl AsRef<[u8]>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_ref());
    out.extend_from_slice(b"\r\n");
}

/// Appends `Content-Length`.
pub fn content_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"Content-Length: ");
    decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

/// Appends `Transfer-Encoding: chunked`.
pub fn transfer_chunked(out: &mut Vec<u8>) {
    out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
}

/// Ends a head.
pub fn end_head(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n");
}

/// Appends one chunk; nothing for no data, since an empty chunk would end the body.
pub fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    chunk_size(out, data.len());
    out.extend_from_slice(data);
    out.extend_from_slice(CHUNK_END);
}

/// Starts a chunk of so many bytes, at least one; they follow, and then [`CHUNK_END`].
pub fn chunk_size(out: &mut Vec<u8>, bytes: usize) {
    hexadecimal(out, bytes);
    out.extend_from_slice(b"\r\n");
}

/// Ends a chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// Ends a chunked body, with trailers if there are any.
pub fn last_chunk(out: &mut Vec<u8>, trailers: Option<&Fields>) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers.into_iter().flat_map(Fields::iter) {
        field(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
}

/// The standard reason phrase of a status (IANA registry of HTTP status codes), empty for unknown ones.
#[must_use]
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}

fn decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = DIGITS[usize::try_from(value % 10).expect("invariant: below 10")];
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn hexadecimal(out: &mut Vec<u8>, value: usize) {
    let digits = (usize::BITS - value.leading_zeros()).div_ceil(4).max(1);
    out.extend(
        (0..digits)
            .rev()
            .map(|place| DIGITS[(value >> (4 * place)) & 0xf]),
    );
}

static DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_the_grammar_says() {
        let mut out = Vec::new();
        status_line(&mut out, 404, None);
        status_line(&mut out, 299, Some(b"Fine"));
        content_length(&mut out, 0);
        content_length(&mut out, 1_234_567_890);
        end_head(&mut out);
        chunk(&mut out, b"");
        chunk(&mut out, b"0123456789abcdef0");
        last_chunk(&mut out, None);
        let expected = "HTTP/1.1 404 Not Found\r\nHTTP/1.1 299 Fine\r\nContent-Length: 0\r\nContent-Length: 1234567890\r\n\r\n\
                        11\r\n0123456789abcdef0\r\n0\r\n\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
