//! The head of a request that came by HTTP/2, in the form of HTTP/1.1: written anew and never copied, so that nothing in it can be taken for
//! something else.

use crate::codec::error::ProtocolError;
use crate::codec::head::{Framing, RequestHead};
use crate::codec::limits::Limits;
use crate::http2::Parts as HeadParts;
use http::Method;
use http::header::HOST;
use http::request::Parts;
use http::uri::{Authority, PathAndQuery, Scheme};

/// The head of a request that came by HTTP/2; `ends` says that nothing follows it.
///
/// # Errors
/// [`ProtocolError`], by the rules for one of HTTP/1.1 with the same content.
pub fn request_head(
    parts: &Parts,
    ends: bool,
    limits: Limits,
) -> Result<RequestHead, ProtocolError> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let host = match host {
        Some(host) => Some(host.to_str().map_err(|_| ProtocolError::Host)?),
        None => None,
    };
    let authority = parts.uri.authority().map(Authority::as_str);
    let agree = match (authority, host) {
        (Some(authority), Some(host)) => authority.eq_ignore_ascii_case(host),
        _ => true,
    };
    if more.is_some() || !agree {
        return Err(ProtocolError::Host);
    }
    let authority = authority.or(host).unwrap_or("");
    let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let scheme = parts.uri.scheme();
    if scheme.is_some_and(|scheme| *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS) {
        return Err(ProtocolError::Target);
    }
    let target = HeadParts {
        method: parts.method.as_str(),
        target: match parts.method {
            Method::CONNECT => authority,
            _ => path,
        },
        authority,
    };
    let fields = parts.headers.iter().filter(|(name, _)| *name != HOST);
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let head = RequestHead::from_http2(&target, fields, limits)?;
    match head.framing() {
        Framing::Length(1..) if ends => Err(ProtocolError::ContentLength),
        // The end of a stream is the end of its body; nothing else may claim to be.
        Framing::Chunked => Err(ProtocolError::TransferEncoding),
        _ => Ok(head),
    }
}
