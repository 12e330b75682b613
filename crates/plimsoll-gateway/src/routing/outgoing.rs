//! The head of a forwarded request, made from the client's: never a copy of its bytes, always written anew.

pub(crate) mod upgrade;
pub(crate) mod withheld;

use crate::config::Underscores;
use crate::messages::edits::FieldEdits;
use crate::messages::fields::{Kind, accepts_trailers, kind};
use crate::routing::service::Route;
use plimsoll_http::{ConnectionOptions, Framing, RequestHead, Version, encode};
use withheld::Withheld;

/// A forwarded head, complete but for the endpoint's `Host`, so that another endpoint can be tried with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    /// Where `Host` is put in; `None` if the client's is in place already.
    host_at: Option<usize>,
    /// The protocols that it offers to switch to, as a list; mostly empty.
    offered: String,
}

/// Facts about the client's end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// The peer's address, as text.
    pub(crate) peer: &'a str,
    /// Whether its word about earlier hops is believed.
    pub(crate) trusted: bool,
    /// Whether the connection is secured.
    pub(crate) secured: bool,
    /// Fields about its certificate, ready to be sent.
    pub(crate) certificate: &'a [u8],
    /// This gateway's name in `Via`.
    pub(crate) pseudonym: &'a str,
    /// Value of `traceparent`, if that is not the one that the client has sent.
    pub(crate) traceparent: Option<&'a str>,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// As it is forwarded, but for what the route puts before it.
    pub(crate) path: &'a str,
    pub(crate) route: &'a Route,
    /// Whether the upstream gets the client's `Host`.
    pub(crate) preserve_host: bool,
    /// Edits of a rule to the request's fields.
    pub(crate) edits: Option<&'a FieldEdits>,
    pub(crate) underscores: Underscores,
}

impl<'a> Target<'a> {
    fn withheld(&self) -> Withheld<'a> {
        Withheld {
            edits: self.edits,
            key_field: self.route.key_field.as_ref(),
            underscores: self.underscores,
        }
    }
}

impl Outgoing {
    /// How many bytes its allocations hold.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity() + self.offered.capacity()
    }

    /// Makes the head of `head` on its way to `target`.
    pub(crate) fn write(
        &mut self,
        head: &RequestHead,
        target: Target<'_>,
        options: &ConnectionOptions<'_>,
        origin: Origin<'_>,
    ) {
        let route = target.route;
        let out = &mut self.bytes;
        out.clear();
        out.extend_from_slice(head.method().as_bytes());
        out.push(b' ');
        match &route.root {
            Some(root) if target.path == "/" => out.extend_from_slice(root.as_bytes()),
            _ => {
                out.extend_from_slice(route.prepend.as_bytes());
                out.extend_from_slice(target.path.as_bytes());
            }
        }
        if let Some(query) = head.query() {
            out.push(b'?');
            out.extend_from_slice(query.as_bytes());
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        if target.preserve_host && !head.authority().is_empty() {
            encode::field(out, "Host", head.authority());
            self.host_at = None;
        } else {
            self.host_at = Some(out.len());
        }
        write_passing(out, head, target, options, origin);
        if let Some(traceparent) = origin.traceparent {
            encode::field(out, "traceparent", traceparent);
        }
        write_forwarded(out, head, origin);
        out.extend_from_slice(origin.certificate);
        out.extend_from_slice(match head.version() {
            Version::Http10 => b"Via: 1.0 ".as_slice(),
            Version::Http11 => b"Via: 1.1 ".as_slice(),
            Version::Http2 => b"Via: 2.0 ".as_slice(),
        });
        out.extend_from_slice(origin.pseudonym.as_bytes());
        out.extend_from_slice(b"\r\n");
        upgrade::offer(&mut self.offered, head, target.route, options);
        if !self.offered.is_empty() {
            upgrade::write(out, &self.offered);
        } else if head.version() == Version::Http11 && accepts_trailers(head.fields()) {
            out.extend_from_slice(b"TE: trailers\r\nConnection: TE\r\n");
        }
        match head.framing() {
            Framing::None | Framing::UntilClose => {}
            Framing::Length(bytes) => encode::content_length(out, bytes),
            Framing::Chunked => encode::transfer_chunked(out),
        }
        encode::end_head(out);
    }

    /// The protocols that the head offers to switch to, as a list; empty: none.
    pub(crate) fn offered(&self) -> &str {
        &self.offered
    }

    /// Appends the head to `out`, for the endpoint `authority`.
    pub(crate) fn send(&self, out: &mut Vec<u8>, authority: &str) {
        let (before, after) = self.bytes.split_at(self.host_at.unwrap_or(0));
        out.extend_from_slice(before);
        if self.host_at.is_some() {
            encode::field(out, "Host", authority);
        }
        out.extend_from_slice(after);
    }
}

impl Outgoing {
    /// Appends the head to `out`, as that of a copy of what went to the shard `owner`; it announces no trailers, as none are copied.
    pub(crate) fn send_copy(&self, out: &mut Vec<u8>, authority: &str, owner: &str) {
        let mut head = Vec::with_capacity(self.bytes.len() + 64);
        self.send(&mut head, authority);
        let ends = |pair: &[u8]| pair == b"\r\n";
        let line = head.windows(2).position(ends).map_or(0, |at| at + 2);
        out.extend_from_slice(&head[..line]);
        encode::field(out, "X-Shard-Mirror", owner);
        let announces = |line: &[u8]| {
            let name = line.get(..b"trailer:".len());
            name.is_some_and(|name| name.eq_ignore_ascii_case(b"trailer:"))
        };
        let fields = head[line..].split_inclusive(|byte| *byte == b'\n');
        for field in fields.filter(|field| !announces(field)) {
            out.extend_from_slice(field);
        }
    }
}

/// Writes the client's fields that pass.
fn write_passing(
    out: &mut Vec<u8>,
    head: &RequestHead,
    target: Target<'_>,
    options: &ConnectionOptions<'_>,
    origin: Origin<'_>,
) {
    let withheld = target.withheld();
    for (name, value) in head.fields().iter() {
        if withheld.holds(name) {
            continue;
        }
        if origin.traceparent.is_some() && name.eq_ignore_ascii_case("traceparent") {
            continue;
        }
        let key_field = target
            .route
            .key_field
            .as_ref()
            .filter(|field| field.name.eq_ignore_ascii_case(name));
        let passes = match (kind(name), key_field) {
            (Kind::HopByHop | Kind::Host | Kind::ForwardedFor | Kind::Identity, _) => false,
            (_, Some(_)) => true,
            (Kind::Forwarded, None) => origin.trusted,
            (Kind::Trailer, None) => head.framing() == Framing::Chunked,
            (Kind::Expect, None) => head.expects_continue() && head.version() == Version::Http11,
            (Kind::Protected, None) => true,
            (Kind::EndToEnd, None) => !options.name(name),
        };
        if passes {
            encode::field(out, name, value);
        }
    }
    if let Some(edits) = target.edits {
        edits.write(out);
    }
}

/// Writes `X-Forwarded-For`, `-Proto` and `-Host`: appended to or left alone behind a trusted peer, else made anew.
fn write_forwarded(out: &mut Vec<u8>, head: &RequestHead, origin: Origin<'_>) {
    let fields = head.fields();
    out.extend_from_slice(b"X-Forwarded-For: ");
    if origin.trusted {
        for hop in plimsoll_http::fields::list(fields, "x-forwarded-for") {
            out.extend_from_slice(hop);
            out.extend_from_slice(b", ");
        }
    }
    out.extend_from_slice(origin.peer.as_bytes());
    out.extend_from_slice(b"\r\n");
    let kept = |name| origin.trusted && fields.get(name).is_some();
    if !kept("x-forwarded-proto") {
        out.extend_from_slice(match origin.secured {
            true => b"X-Forwarded-Proto: https\r\n".as_slice(),
            false => b"X-Forwarded-Proto: http\r\n".as_slice(),
        });
    }
    if !kept("x-forwarded-host") && !head.authority().is_empty() {
        encode::field(out, "X-Forwarded-Host", head.authority());
    }
}
