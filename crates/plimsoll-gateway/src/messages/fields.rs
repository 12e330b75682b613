//! Which header fields cross the gateway: hop-by-hop rules (RFC 9110 §7.6.1), forwarding fields, `Via`.
//!
//! Everything that a field of one hop could do to the next is decided here; heads are put together in [`crate::exchange`].

use plimsoll_http::{Fields, hop};

/// Treatment of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Belongs to one connection: never forwarded. Framing fields are among them, because framing is made anew.
    HopByHop,
    Host,
    /// `X-Forwarded-For`: replaced, or appended to for a trusted peer. So are twins of what is [`Kind::Forwarded`], see [`are_twins`].
    ForwardedFor,
    /// Other words about where a request came from: believed only from a trusted peer.
    Forwarded,
    /// Says who a client is by its certificate, or where its data is: only the gateway says that, whoever the peer is.
    Identity,
    /// Means something only in a message with a body in chunks.
    Trailer,
    /// Continue or not: only HTTP/1.1 knows it.
    Expect,
    /// Passes, and no `Connection` line may remove it.
    Protected,
    /// Passes unless a `Connection` line names it.
    EndToEnd,
}

/// Kind of the field `name`; in any case of letters.
pub(crate) fn kind(name: &str) -> Kind {
    // The beginning has a fixed size and is looked at without an early end, so that all of it is looked at and its case changed at once: this is
    // asked of every field of every message.
    let mut beginning = [b'-'; BEGINNING_BYTES];
    let length = name.len().min(BEGINNING_BYTES);
    let (first, rest) = name.as_bytes().split_at(length);
    beginning[..length].copy_from_slice(first);
    let is_odd = |byte: &u8| is_separator(*byte) & (*byte != b'-');
    if beginning.iter().fold(false, |odd, byte| odd | is_odd(byte)) || rest.iter().any(is_odd) {
        // Nobody sends a twin of these that means well, trusted or not, and the gateway writes the field itself.
        return match kind(&name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")) {
            Kind::ForwardedFor | Kind::Forwarded => Kind::ForwardedFor,
            kind @ (Kind::Identity | Kind::HopByHop) => kind,
            _ => Kind::EndToEnd,
        };
    }
    beginning.make_ascii_lowercase();
    match &beginning[..length] {
        b"host" => Kind::Host,
        b"x-forwarded-for" => Kind::ForwardedFor,
        b"forwarded" | b"x-real-ip" => Kind::Forwarded,
        b"trailer" => Kind::Trailer,
        b"expect" => Kind::Expect,
        b"via" | b"date" | b"cookie" | b"set-cookie" | b"content-type" | b"content-range"
        | b"authorization" | b"content-encoding" | b"www-authenticate" => Kind::Protected,
        _ if hop::is_hop_by_hop(name) => Kind::HopByHop,
        beginning => by_beginning(beginning),
    }
}

/// Bytes at the beginning of a name that decide its kind: every known name, and every known beginning of one, is shorter.
const BEGINNING_BYTES: usize = 32;

/// Kind of a field that has none by its whole name; in lower case.
fn by_beginning(name: &[u8]) -> Kind {
    let is_any = |name: &[u8], words: &[&str]| {
        let mut words = words.iter();
        words.any(|word| name.starts_with(word.as_bytes()))
    };
    match name.strip_prefix(b"x-forwarded-") {
        Some(rest) if is_any(rest, &["client-cert", "tls-client", "ssl-client"]) => Kind::Identity,
        Some(_) => Kind::Forwarded,
        None if is_any(name, &IDENTITIES) => Kind::Identity,
        None => Kind::EndToEnd,
    }
}

/// Beginnings of fields that say who a client is by its certificate, in any of the words that proxies use, or where its data is.
const IDENTITIES: [&str; 12] = [
    "cf-client-cert",
    "client-cert",
    "wl-proxy-client",
    "x-amzn-mtls-",
    "x-arr-clientcert",
    "x-client-cert",
    "x-client-dn",
    "x-client-verify",
    "x-shard",
    "x-ssl-",
    "x-tls-client",
    "ssl-client",
];

/// Whether servers that make variables of fields (CGI, WSGI, PHP) may take one for the other: `X-Role`, `X_Role` and `x.role`.
pub(crate) fn are_twins(one: &str, other: &str) -> bool {
    let alike = |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b) || is_separator(a) && is_separator(b);
    one.len() == other.len() && one.bytes().zip(other.bytes()).all(alike)
}

/// Whether this octet of a name becomes `_` in a variable.
fn is_separator(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric()
}

/// Whether the gateway writes the field itself, or takes it away: nobody else can set it on the way, and nothing can be told to it there.
pub(crate) fn is_made_here(name: &str) -> bool {
    match kind(name) {
        Kind::EndToEnd | Kind::Protected => name.eq_ignore_ascii_case("via"),
        Kind::HopByHop
        | Kind::Host
        | Kind::ForwardedFor
        | Kind::Forwarded
        | Kind::Identity
        | Kind::Trailer
        | Kind::Expect => true,
    }
}

/// Whether the sender of a request accepts trailers (`TE: trailers`).
pub(crate) fn accepts_trailers(fields: &Fields) -> bool {
    plimsoll_http::fields::list(fields, "te").any(|coding| coding.eq_ignore_ascii_case(b"trailers"))
}

/// Whether the gateway called `pseudonym` has forwarded this request before.
pub(crate) fn has_passed(fields: &Fields, pseudonym: &str) -> bool {
    plimsoll_http::fields::list(fields, "via").any(|entry| {
        let mut words = entry
            .split(|b| b.is_ascii_whitespace())
            .filter(|w| !w.is_empty());
        words
            .nth(1)
            .is_some_and(|by| by.eq_ignore_ascii_case(pseudonym.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_kinds_in_any_case() {
        for (name, expected) in [
            ("HOST", Kind::Host),
            ("Transfer-Encoding", Kind::HopByHop),
            ("content-length", Kind::HopByHop),
            ("Keep-Alive", Kind::HopByHop),
            ("TE", Kind::HopByHop),
            ("Upgrade", Kind::HopByHop),
            ("X-Forwarded-For", Kind::ForwardedFor),
            ("x-forwarded-proto", Kind::Forwarded),
            ("X-Forwarded-", Kind::Forwarded),
            ("X-Forwarded", Kind::EndToEnd),
            ("X-Forwarded-Client-Cert", Kind::Identity),
            ("x_forwarded_client-cert", Kind::Identity),
            ("Client-Cert", Kind::Identity),
            ("client_cert_chain", Kind::Identity),
            ("X-Shard", Kind::Identity),
            ("X-Shard-Map-Version", Kind::Identity),
            ("X-SSL-Client-S-DN", Kind::Identity),
            ("SSL_CLIENT_CERT", Kind::Identity),
            ("X-Forwarded-Tls-Client-Cert", Kind::Identity),
            ("X-Forwarded-Tls-Client-Cert-Info", Kind::Identity),
            ("x-forwarded-SSL-client-cert", Kind::Identity),
            ("X-Forwarded-Tls-Version", Kind::Forwarded),
            ("X-Forwarded-Ssl", Kind::Forwarded),
            ("X-Amzn-Mtls-Clientcert", Kind::Identity),
            ("x-amzn-mtls-clientcert-subject", Kind::Identity),
            ("X_Amzn_Mtls_Clientcert_Leaf", Kind::Identity),
            ("X-Amzn-Trace-Id", Kind::EndToEnd),
            ("X-ARR-ClientCert", Kind::Identity),
            ("X-ARR-SSL", Kind::EndToEnd),
            ("Cf-Client-Cert-Sha256", Kind::Identity),
            ("CF-Ray", Kind::EndToEnd),
            ("WL-Proxy-Client-Cert", Kind::Identity),
            ("X-Client", Kind::EndToEnd),
            ("Cookie2", Kind::EndToEnd),
            ("Forwarded", Kind::Forwarded),
            ("X-Real-IP", Kind::Forwarded),
            ("X_Forwarded_For", Kind::ForwardedFor),
            ("x_real-ip", Kind::ForwardedFor),
            ("X.Forwarded-Proto", Kind::ForwardedFor),
            ("X-Forwarded-Of-Which-Nobody-Has-Heard", Kind::Forwarded),
            ("x-forwarded-of-which-nobody-has.heard", Kind::ForwardedFor),
            ("X-Ssl-Of-Which-Nobody-Has-Ever-Heard", Kind::Identity),
            ("proxy-authorization", Kind::HopByHop),
            ("proxy-authorization-of-somebody-else", Kind::EndToEnd),
            ("-", Kind::EndToEnd),
            ("te-", Kind::EndToEnd),
            ("Transfer_Encoding", Kind::HopByHop),
            ("content.length", Kind::HopByHop),
            ("X+Shard", Kind::Identity),
            ("X_Own", Kind::EndToEnd),
            ("Authorization", Kind::Protected),
            ("Trailer", Kind::Trailer),
            ("Expect", Kind::Expect),
            ("Accept", Kind::EndToEnd),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
