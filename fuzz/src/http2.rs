//! A request that comes by HTTP/2: what an upstream of HTTP/1.1 gets of it must be one request, for our decoder and for hyper, and mean the same.
//!
//! An input is a list of fields, pseudo-fields among them, then the pieces of a body, then trailers. It goes as frames through the crate `h2`,
//! as in the gateway, so that what that refuses is refused here.

mod sent;

pub use sent::input;

use crate::drive::drive;
use crate::hyper_reads_requests;
use crate::ours::decode_requests;
use crate::story::{End, FieldMap, Message, Story};
use h2::server::Connection;
use plimsoll_gateway::fuzzing::{ENDPOINT, forward_http2};
use plimsoll_http::Limits;
use sent::Sent;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A client that has said all of this and stays; what it is sent is not looked at.
struct Said<'a>(&'a [u8]);

impl AsyncRead for Said<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.0.is_empty() {
            return Poll::Pending;
        }
        let (now, later) = self.0.split_at(buffer.remaining().min(self.0.len()));
        buffer.put_slice(now);
        self.0 = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Said<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The bytes that an upstream gets; or why it gets nothing.
fn forwarded(sent: &Sent) -> Result<Vec<u8>, String> {
    let frames = sent.frames();
    let served = drive(async {
        let handshake = h2::server::handshake(Said(&frames)).await;
        let mut connection: Connection<Said<'_>, _> =
            handshake.map_err(|error| error.to_string())?;
        let (request, _respond) = match connection.accept().await {
            Some(Ok(accepted)) => accepted,
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("the connection is over".to_owned()),
        };
        let mut forward = pin!(forward_http2(request));
        // The body comes by the connection, which has to be asked for it.
        poll_fn(|context| {
            let over = connection.poll_closed(context);
            match forward.as_mut().poll(context) {
                Poll::Pending if over.is_ready() => Poll::Ready(Err("it is over".to_owned())),
                poll => poll,
            }
        })
        .await
    });
    served.unwrap_or_else(|| Err("it waits for more".to_owned()))
}

/// Sends a request, and reads what goes on.
///
/// # Panics
/// With a finding.
pub fn check(bytes: &[u8]) {
    let sent = Sent::of(bytes);
    let Ok(upstream) = forwarded(&sent) else {
        return;
    };
    if let Err(finding) = agree(&sent, &upstream) {
        panic!(
            "{finding}\nsent: {:?}\nupstream gets: {}",
            shown(&sent),
            upstream.escape_ascii()
        );
    }
}

fn shown(sent: &Sent) -> Vec<String> {
    let fields = sent.fields.iter().chain(&sent.trailers);
    fields
        .map(|(name, value)| format!("{}: {}", name.escape_ascii(), value.escape_ascii()))
        .collect()
}

/// Checks `upstream` as the bytes that `sent` becomes; the error says what is wrong.
fn agree(sent: &Sent, upstream: &[u8]) -> Result<(), String> {
    let wide = Limits {
        head_bytes: 1 << 20,
        fields: 1000,
        ..Limits::default()
    };
    // Where the request ends shows in what is read behind it.
    let bytes = [upstream, NEXT].concat();
    let ours = decode_requests(&bytes, wide);
    let one = alone(&ours).ok_or_else(|| format!("it is no single request: {ours:?}"))?;
    let is_within =
        |fields: &FieldMap| fields.values().map(Vec::len).sum::<usize>() <= ORACLE_FIELDS;
    if is_within(&one.fields) && is_within(&one.trailers) {
        let theirs = hyper_reads_requests(&bytes);
        if alone(&theirs) != Some(one) {
            return Err(format!("to hyper it is another, or more: {theirs:?}"));
        }
    }
    means_the_same(sent, one)
}

/// A request that stands behind the one that is looked at.
const NEXT: &[u8] = b"GET /next HTTP/1.1\r\nHost: next\r\n\r\n";
/// Fields, or trailers, beyond which hyper, as it is shipped, takes no request.
const ORACLE_FIELDS: usize = 90;

/// The one request before the next, if that is what a reader saw.
fn alone(story: &Story) -> Option<&Message> {
    let [one, next] = &story.messages[..] else {
        return None;
    };
    let next_is_whole = next.start.method == "GET"
        && next.start.path == "/next"
        && next.fields.get("host") == Some(&vec![b"next".to_vec()])
        && next.fields.len() == 1;
    let whole = one.complete && next.complete && story.end == End::Waiting;
    (whole && next_is_whole).then_some(one)
}

/// Holds the request that an upstream sees against the one that was sent.
fn means_the_same(sent: &Sent, seen: &Message) -> Result<(), String> {
    if sent.value(":method") != Some(seen.start.method.as_bytes()) {
        return Err("another method".to_owned());
    }
    let target = sent.value(":path").unwrap_or(b"/");
    // A fragment is cut off before the gateway sees it.
    let target = target
        .split(|byte| *byte == b'#')
        .next()
        .unwrap_or_default();
    let (path, query) = match target.iter().position(|byte| *byte == b'?') {
        Some(at) => (&target[..at], Some(&target[at + 1..])),
        None => (target, None),
    };
    // RFC 9110 section 4.2.3: an empty path is the root's.
    let path = if path.is_empty() { b"/" } else { path };
    if decoded(path) != decoded(seen.start.path.as_bytes()) {
        return Err("another path".to_owned());
    }
    if query != seen.start.query.as_deref().map(str::as_bytes) {
        return Err("another query".to_owned());
    }
    if sent.whole_body() != seen.body {
        return Err("another body".to_owned());
    }
    made_by_the_gateway(sent, seen)?;
    passed_on(&sent.fields, &seen.fields)?;
    let trailers = &seen.trailers;
    let known = |(name, values): (&String, &Vec<Vec<u8>>)| {
        values.iter().all(|value| {
            let same = |(own, sent): &(Vec<u8>, Vec<u8>)| {
                own.eq_ignore_ascii_case(name.as_bytes()) && sent.trim_ascii() == value
            };
            sent.trailers.iter().any(same)
        })
    };
    match trailers.iter().all(known) {
        true => Ok(()),
        false => Err("a trailer that nobody sent".to_owned()),
    }
}

/// Bytes with percent-encodings resolved.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| text[at] == b'%');
        let octet = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(octet.unwrap_or(text[at]));
        at += if octet.is_some() { 3 } else { 1 };
    }
    out
}

/// The fields that only the gateway writes: each once, and true.
fn made_by_the_gateway(sent: &Sent, seen: &Message) -> Result<(), String> {
    let host = sent.value(":authority").or(sent.value("host"));
    let length = seen.body.len().to_string();
    let chunked = seen.fields.contains_key("transfer-encoding");
    let stated = seen.fields.get("content-length");
    let is = |name: &str, expected: Option<&[u8]>| {
        let values = seen.fields.get(name).map_or(&[][..], Vec::as_slice);
        match (values, expected) {
            ([], None) => Ok(()),
            ([one], Some(expected)) if one == expected => Ok(()),
            _ => Err(format!("`{name}` is {values:?}, and not {expected:?}")),
        }
    };
    is("host", Some(ENDPOINT.as_bytes()))?;
    is("x-forwarded-for", Some(b"192.0.2.7"))?;
    is("x-forwarded-proto", Some(b"http"))?;
    // Blanks around a value are no part of it (RFC 9110, section 5.5).
    let host = host.map(<[u8]>::trim_ascii);
    is("x-forwarded-host", host.filter(|host| !host.is_empty()))?;
    is("transfer-encoding", chunked.then_some(&b"chunked"[..]))?;
    is("content-length", stated.map(|_| length.as_bytes()))?;
    if chunked && stated.is_some() {
        return Err("two lengths".to_owned());
    }
    let options = [seen.fields.get("connection"), seen.fields.get("te")];
    let accepts_trailers = [vec![b"TE".to_vec()], vec![b"trailers".to_vec()]];
    if options != [None; 2] && options != accepts_trailers.each_ref().map(Some) {
        return Err(format!("`connection` and `te` are {options:?}"));
    }
    ended_here(sent, seen)
}

/// Checks that fields which end here have ended: an upstream sees such a name only where the gateway writes it itself, or, of the
/// last three, as the client said it, `Via` with the gateway behind it.
fn ended_here(sent: &Sent, seen: &Message) -> Result<(), String> {
    const WRITTEN: [&str; 11] = [
        "host",
        "te",
        "connection",
        "content-length",
        "transfer-encoding",
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-forwarded-host",
        "expect",
        "trailer",
        "via",
    ];
    let mut names = seen.fields.keys();
    if let Some(name) = names.find(|name| ends_here(name) && !WRITTEN.contains(&name.as_str())) {
        return Err(format!("`{name}` has not ended here"));
    }
    let told = |name: &str| -> Vec<Vec<u8>> {
        let named = sent.fields.iter().filter(|(own, _)| own == name.as_bytes());
        named
            .map(|(_, value)| value.trim_ascii().to_vec())
            .collect()
    };
    for name in ["expect", "trailer"] {
        let passed = seen.fields.get(name);
        if passed.is_some_and(|passed| *passed != told(name)) {
            return Err(format!("`{name}` is {passed:?}"));
        }
    }
    let via = seen.fields.get("via").map(|via| via.split_last());
    match via {
        Some(Some((own, before))) if own.ends_with(OWN_VIA) && before == told("via") => Ok(()),
        _ => Err(format!("`via` is {via:?}")),
    }
}

/// How the gateway's own entry of `Via` ends.
const OWN_VIA: &[u8] = b" plimsoll-fuzz";

/// Names that only the gateway writes, or that end here, by the documentation: framing and connection, forwarding, and who a client is. A
/// mark that is neither letter nor digit makes no other name.
fn ends_here(name: &str) -> bool {
    const EXACT: [&str; 14] = [
        "host",
        "te",
        "upgrade",
        "connection",
        "keep-alive",
        "content-length",
        "proxy-connection",
        "transfer-encoding",
        "proxy-authenticate",
        "proxy-authorization",
        "http2-settings",
        "trailer",
        "expect",
        "via",
    ];
    let fold = |mark: char| {
        if mark.is_ascii_alphanumeric() {
            mark
        } else {
            '-'
        }
    };
    let folded: String = name.chars().map(fold).collect();
    let is_forwarding =
        ["forwarded", "x-real-ip"].contains(&&*folded) || folded.starts_with("x-forwarded-");
    EXACT.contains(&&*folded) || is_forwarding || is_identity(&folded)
}

fn is_identity(name: &str) -> bool {
    const BEGINNINGS: [&str; 15] = [
        "cf-client-cert",
        "client-cert",
        "ssl-client",
        "wl-proxy-client",
        "x-amzn-mtls-",
        "x-arr-clientcert",
        "x-client-cert",
        "x-client-dn",
        "x-client-verify",
        "x-forwarded-client-cert",
        "x-forwarded-ssl-client",
        "x-forwarded-tls-client",
        "x-shard",
        "x-ssl-",
        "x-tls-client",
    ];
    BEGINNINGS.iter().any(|own| name.starts_with(own))
}

/// Every other field passes, as it was, and none comes of nothing.
fn passed_on(sent: &[(Vec<u8>, Vec<u8>)], seen: &FieldMap) -> Result<(), String> {
    let mut expected = FieldMap::new();
    let mut crumbs: Vec<&[u8]> = Vec::new();
    for (name, value) in sent {
        let name = String::from_utf8_lossy(name).into_owned();
        if name.starts_with(':') || ends_here(&name) {
            continue;
        }
        match name == "cookie" {
            true => crumbs.push(value.trim_ascii()),
            false => expected
                .entry(name)
                .or_default()
                .push(value.trim_ascii().to_vec()),
        }
    }
    let mut passed = seen.clone();
    passed.retain(|name, _| !ends_here(name));
    let cookie = passed.remove("cookie").unwrap_or_default();
    // Crumbs are put together; what stands between them is all that changes.
    let bare = |text: Vec<u8>| -> Vec<u8> {
        let kept = text
            .into_iter()
            .filter(|byte| !matches!(byte, b' ' | b'\t' | b';'));
        kept.collect()
    };
    if cookie.len() > 1 || bare(cookie.concat()) != bare(crumbs.concat()) {
        return Err(format!("another cookie: {cookie:?}"));
    }
    match passed == expected {
        true => Ok(()),
        false => Err(format!("other fields: {passed:?}, and not {expected:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [(&str, &str); 4] = [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "a.example"),
        (":path", "/a%62c?q=1"),
    ];

    fn with(more: &[(&str, &str)], body: Option<&[&str]>, trailers: &[(&str, &str)]) -> Sent {
        Sent::of(&input(&[&HEAD[..], more].concat(), body, trailers))
    }

    #[test]
    fn what_is_forwarded_means_the_same() {
        let taken = [
            with(&[], None, &[]),
            with(
                &[("x", "y"), ("cookie", "a=1"), ("cookie", "b=2")],
                None,
                &[],
            ),
            with(
                &[("te", "trailers")],
                Some(&["a", "bc"]),
                &[("grpc-status", "0")],
            ),
            with(&[("content-length", "3")], Some(&["a", "bc"]), &[]),
            with(
                &[("x-shard", "eu"), ("via", "1.1 a"), ("forwarded", "for=b")],
                None,
                &[],
            ),
            with(
                &[("x_real_ip", "b"), ("x_own", "c"), ("keep_alive", "d")],
                None,
                &[],
            ),
            with(
                &[("expect", "100-continue"), ("trailer", "t")],
                Some(&["a"]),
                &[("t", "u")],
            ),
        ];
        for sent in taken {
            let upstream = forwarded(&sent).unwrap_or_else(|e| panic!("{e}: {:?}", shown(&sent)));
            assert_eq!(
                agree(&sent, &upstream),
                Ok(()),
                "{}",
                upstream.escape_ascii()
            );
        }
        let refused = [
            with(&[("x", "y\r\nz: 1")], None, &[]),
            with(&[("connection", "x")], None, &[]),
            with(&[("transfer-encoding", "chunked")], Some(&["a"]), &[]),
            with(&[("content-length", "4")], Some(&["a"]), &[]),
            with(&[("host", "b.example")], None, &[]),
        ];
        for sent in refused {
            assert!(forwarded(&sent).is_err(), "{:?}", shown(&sent));
        }
    }

    /// The oracle is worth nothing if it agrees with everything: each of these is what a gateway with that defect would write.
    #[test]
    fn what_means_something_else_is_a_finding() {
        let fields = [("x", "y"), ("cookie", "a=1"), ("x-shard", "eu")];
        let sent = with(&fields, Some(&["abc"]), &[("t", "u")]);
        let sound = String::from_utf8(forwarded(&sent).unwrap()).unwrap();
        let finds = |text: &str, defect: &str| {
            assert_ne!(text, sound, "{defect} changes nothing");
            assert!(
                agree(&sent, text.as_bytes()).is_err(),
                "{defect} went unnoticed"
            );
        };
        let replaced = [
            ("a method", "POST ", "PUT "),
            ("a path", "/abc", "/abd"),
            ("a query", "?q=1", ""),
            ("a field that is lost", "x: y\r\n", ""),
            ("a value that is split", "x: y", "x: y\r\nz: 1"),
            ("two lengths", "\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n"),
            ("an identity", "x: y", "x: y\r\nx-shard: eu"),
            ("an identity by another name", "x: y", "x: y\r\nX_Shard: eu"),
            ("an address", "x: y", "x: y\r\nX-Real-IP: 203.0.113.9"),
            ("an address by another name", "x: y", "x: y\r\nX_Real_Ip: b"),
            ("a way", "x: y", "x: y\r\nForwarded: for=203.0.113.9"),
            ("a port of it", "x: y", "x: y\r\nX-Forwarded-Port: 1"),
            (
                "a scheme by another name",
                "x: y",
                "x: y\r\nX_Forwarded_Proto: https",
            ),
            ("a password", "x: y", "x: y\r\nProxy-Authorization: b"),
            (
                "a field of one hop",
                "x: y",
                "x: y\r\nKeep-Alive: timeout=5",
            ),
            ("trailers that nobody takes", "x: y", "x: y\r\nTE: trailers"),
            ("a wait", "x: y", "x: y\r\nExpect: 100-continue"),
            ("a list of trailers", "x: y", "x: y\r\nTrailer: t"),
            ("another hop", "x: y", "x: y\r\nVia: 1.1 b"),
            ("a host", "upstream.example:80", "other.example"),
            ("a body", "abc\r\n0", "abd\r\n0"),
            ("a body that is cut", "0\r\nt: u\r\n\r\n", ""),
            ("a trailer", "t: u", "t: v"),
            ("a cookie", "a=1", "a=2"),
            ("a bare line feed", "x: y\r\n", "x: y\n"),
        ];
        for (defect, from, to) in replaced {
            finds(&sound.replacen(from, to, 1), defect);
        }
        let smuggled = format!("{sound}GET /admin HTTP/1.1\r\nHost: a\r\n\r\n");
        finds(&smuggled, "a request behind it");
        finds(&format!("{sound}GET"), "the beginning of another");
    }
}
