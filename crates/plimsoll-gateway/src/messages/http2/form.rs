//! Heads in the form of HTTP/1.1 and of HTTP/2, one made from the other. Always written anew and never copied: what the other form has no
//! place for is left out, what it could take for something else is refused.

use crate::messages::fields::accepts_trailers;
use http::header::{CONTENT_LENGTH, HOST, TE};
use http::response::Parts as ResponseParts;
use http::uri::Scheme;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use plimsoll_http::{Fields, Framing, RequestHead, ResponseHead, encode, hop};

/// Writes a request that came by HTTP/2; says how its body is to be framed.
pub(crate) fn write_request(out: &mut Vec<u8>, head: &RequestHead, ends: bool) -> Framing {
    encode::request_line(out, head.method(), head.target());
    for (name, value) in head.fields().iter() {
        if !hop::is_hop_by_hop(name) {
            encode::field(out, name, value);
        }
    }
    if accepts_trailers(head.fields()) {
        out.extend_from_slice(b"TE: trailers\r\nConnection: TE\r\n");
    }
    let framing = match head.framing() {
        Framing::Length(bytes) => Framing::Length(bytes),
        _ if ends => Framing::None,
        _ => Framing::Chunked,
    };
    match framing {
        Framing::Length(bytes) => encode::content_length(out, bytes),
        Framing::Chunked => encode::transfer_chunked(out),
        Framing::None | Framing::UntilClose => {}
    }
    encode::end_head(out);
    framing
}

/// The head of a response for a client of HTTP/2; `None` if there is no such status.
pub(crate) fn response(head: &ResponseHead) -> Option<Response<()>> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_u16(head.status()).ok()?;
    *response.headers_mut() = fields(head.fields())?;
    Some(response)
}

/// The head of a request to an upstream of HTTP/2; `None` if HTTP/2 cannot say it.
pub(crate) fn request(head: &RequestHead, scheme: Scheme) -> Option<Request<()>> {
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(head.method().as_bytes()).ok()?;
    *request.uri_mut() = Uri::builder()
        .scheme(scheme)
        .authority(head.authority())
        .path_and_query(head.target())
        .build()
        .ok()?;
    let mut headers = fields(head.fields())?;
    headers.remove(HOST);
    if accepts_trailers(head.fields()) {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    *request.headers_mut() = headers;
    Some(request)
}

/// Fields or trailers without those of one hop, but for the length, which HTTP/2 checks.
pub(crate) fn fields(fields: &Fields) -> Option<HeaderMap> {
    let mut map = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields.iter() {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        if name == CONTENT_LENGTH || !hop::is_hop_by_hop(name.as_str()) {
            map.append(name, HeaderValue::from_bytes(value).ok()?);
        }
    }
    Some(map)
}

/// Writes the head of an upstream's response, or of an interim one; says how its body is to be framed. `ends` says that nothing follows it,
/// `bare` that nothing may.
pub(crate) fn write_response(
    out: &mut Vec<u8>,
    parts: &ResponseParts,
    ends: bool,
    bare: bool,
) -> Framing {
    encode::status_line(out, parts.status.as_u16(), None);
    for (name, value) in &parts.headers {
        if !hop::is_hop_by_hop(name.as_str()) {
            encode::field(out, name.as_str(), value.as_bytes());
        }
    }
    let stated = parts.headers.get(CONTENT_LENGTH);
    let framing = match stated.and_then(|length| length.to_str().ok()?.parse().ok()) {
        _ if bare => Framing::None,
        Some(bytes) => Framing::Length(bytes),
        None if ends => Framing::Length(0),
        None => Framing::Chunked,
    };
    match framing {
        Framing::Length(bytes) => encode::content_length(out, bytes),
        Framing::Chunked => encode::transfer_chunked(out),
        Framing::None | Framing::UntilClose => {
            // Of an answer to HEAD and of a 304 it is the length of what is not sent.
            if let Some(length) = stated.filter(|_| !parts.status.is_informational()) {
                encode::field(out, "Content-Length", length.as_bytes());
            }
        }
    }
    encode::end_head(out);
    framing
}

/// Ends a chunked body with trailers.
pub(crate) fn write_last_chunk(out: &mut Vec<u8>, trailers: Option<&HeaderMap>) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers.into_iter().flatten() {
        if !hop::is_hop_by_hop(name.as_str()) {
            encode::field(out, name.as_str(), value.as_bytes());
        }
    }
    out.extend_from_slice(b"\r\n");
}
