//! Why an exchange was not answered: a bounded set of reasons within each outcome, so that what is counted by reason does not grow.
//!
//! An exchange without an answer has exactly one reason, and a reason belongs to one outcome: the counts of an outcome's reasons add up to it.

use crate::outcome_class::OutcomeClass;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Makes the enum and its table from one list.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $class:ident, $name:literal, $words:literal;)+) => {
        /// Why an exchange was not answered.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Reason {
            /// Every reason, in the order in which outputs list them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The outcome that it is a reason of.
            #[must_use]
            pub fn class(self) -> OutcomeClass {
                match self {
                    $(Self::$variant => OutcomeClass::$class,)+
                }
            }

            /// The name used in files; it is the only one of this name within its outcome.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The reason for people, after the words of its outcome and a colon.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$variant => $words,)+
                }
            }
        }
    };
}

reasons! {
    /// The exchange's deadline passed while every connection was busy, or while another made the one to be shared.
    TimeoutConnection = TimedOut, "timeout_connection", "no connection was free within the timeout";
    /// The exchange's deadline passed in the name lookup.
    TimeoutLookup = TimedOut, "timeout_lookup", "the name lookup took longer than the timeout";
    /// The deadline for connections passed in the name lookup.
    ConnectTimeoutLookup = TimedOut, "connect_timeout_lookup", "the name lookup took longer than the connect timeout";
    /// The exchange's deadline passed before TCP was connected.
    TimeoutTcp = TimedOut, "timeout_tcp", "TCP did not connect within the timeout";
    /// The deadline for connections passed before TCP was connected.
    ConnectTimeoutTcp = TimedOut, "connect_timeout_tcp", "TCP did not connect within the connect timeout";
    /// The host gave up connecting before any deadline of ours.
    SystemTcp = TimedOut, "system_tcp", "TCP did not connect within this host's own limit";
    /// The exchange's deadline passed in the TLS handshake.
    TimeoutTls = TimedOut, "timeout_tls", "the TLS handshake took longer than the timeout";
    /// The deadline for connections passed in the TLS handshake.
    ConnectTimeoutTls = TimedOut, "connect_timeout_tls", "the TLS handshake took longer than the connect timeout";
    /// A deadline passed while the request still went out: the target, or the way to it, did not take it.
    TimeoutRequest = TimedOut, "timeout_request", "the request was not taken within the timeout";
    /// The exchange's deadline passed before the first byte of the answer.
    TimeoutFirstByte = TimedOut, "timeout_first_byte", "no answer had begun within the timeout";
    /// The deadline for the first byte of the answer passed.
    FirstByteTimeout = TimedOut, "first_byte_timeout", "no answer had begun within the first-byte timeout";

    /// The deadline passed inside the answer's head.
    TimeoutHead = Unfinished, "timeout_head", "its head was not complete";
    /// The deadline passed inside the answer's body.
    TimeoutBody = Unfinished, "timeout_body", "its body was not complete";

    /// The name has no address, or could not be looked up.
    Lookup = Refused, "lookup", "the target's name could not be looked up";
    /// Nobody listens there, or somebody on the way says so (`ECONNREFUSED`).
    ConnectionRefused = Refused, "connection_refused", "the connection was refused";
    /// There is no way to the host or its network.
    Unreachable = Refused, "unreachable", "the target cannot be reached from here";
    /// This host forbids it, as a packet filter does.
    Forbidden = Refused, "forbidden", "this host forbids the connection";
    /// HTTP/2: the server refused the stream (`REFUSED_STREAM`).
    Stream = Refused, "stream", "the server refused the HTTP/2 stream";
    /// Connecting failed in another way.
    NotConnected = Refused, "other", "it could not be made";

    /// No local port, or no local address to connect from, is left.
    Ports = Exhausted, "ports", "no local port is left to connect from";
    /// No descriptor is left, of the process or of the host.
    Descriptors = Exhausted, "descriptors", "no file descriptor is left for a connection";
    /// The host has no memory left for a socket.
    Memory = Exhausted, "memory", "this host has no memory left for a connection";

    /// A new connection was closed before an answer began.
    ClosedUnanswered = Closed, "before_answer", "before an answer began";
    /// A kept connection was closed before an answer began: the target may have closed it while it was idle.
    ClosedKept = Closed, "kept_before_answer", "a kept connection, before an answer began";
    /// Closed inside the answer's head.
    ClosedHead = Closed, "head", "inside the answer's head";
    /// Closed inside the answer's body: it is truncated.
    ClosedBody = Closed, "body", "inside the answer's body, which is truncated";
    /// HTTP/2: the server goes away and left this stream out (`GOAWAY`).
    GoAway = Closed, "goaway", "the HTTP/2 stream was left out as the server went away";

    /// A new connection was reset before an answer began.
    ResetUnanswered = Reset, "before_answer", "reset before an answer began";
    /// A kept connection was reset before an answer began: the target may have forgotten it.
    ResetKept = Reset, "kept_before_answer", "a kept connection was reset before an answer began";
    /// Reset inside the answer's head.
    ResetHead = Reset, "head", "reset inside the answer's head";
    /// Reset inside the answer's body.
    ResetBody = Reset, "body", "reset inside the answer's body, which is truncated";
    /// HTTP/2: the server reset the stream.
    ResetStream = Reset, "stream", "the server reset the HTTP/2 stream";
    /// HTTP/2: the server ended the connection and says that something is wrong (`GOAWAY` with an error).
    GoAwayError = Reset, "goaway", "the server ended the HTTP/2 connection with an error";
    /// This host gave the connection up, because nothing came back from the other end, or a router said that there is no way to it.
    Lost = Reset, "lost", "the other end of the connection is gone: nothing acknowledges what is sent";

    /// The server's certificate comes from nobody that is trusted.
    UnknownIssuer = TlsFailed, "unknown_issuer", "the server's certificate comes from an unknown issuer";
    /// The server's certificate has expired.
    Expired = TlsFailed, "expired", "the server's certificate has expired";
    /// The server's certificate is not valid yet.
    NotYetValid = TlsFailed, "not_yet_valid", "the server's certificate is not valid yet";
    /// The server's certificate is for other names.
    NameMismatch = TlsFailed, "name_mismatch", "the server's certificate is for another name";
    /// The server's certificate has been revoked.
    Revoked = TlsFailed, "revoked", "the server's certificate has been revoked";
    /// The server's certificate does not hold for another reason.
    BadCertificate = TlsFailed, "certificate", "the server's certificate does not hold";
    /// No version, cipher suite or signature scheme in common, as we see it.
    Incompatible = TlsFailed, "incompatible", "no TLS version or cipher suite is common to both ends";
    /// No application protocol in common, or not the one that the load needs.
    NoProtocol = TlsFailed, "no_protocol", "the server did not agree to the application protocol (ALPN)";
    /// The server asks for a certificate of the client (alert 116).
    AlertCertificateRequired = TlsFailed, "alert_certificate_required", "the server requires a client certificate";
    /// The server does not know who issued the client's certificate (alert 48).
    AlertUnknownCa = TlsFailed, "alert_unknown_ca", "the server does not know the issuer of the client's certificate";
    /// The client's certificate has expired (alert 45).
    AlertCertificateExpired = TlsFailed, "alert_certificate_expired", "the server says that the client's certificate has expired";
    /// The client's certificate has been revoked (alert 44).
    AlertCertificateRevoked = TlsFailed, "alert_certificate_revoked", "the server says that the client's certificate has been revoked";
    /// The server takes the client's certificate for bad, unsupported or unknown (alerts 42, 43 and 46).
    AlertBadCertificate = TlsFailed, "alert_bad_certificate", "the server does not accept the client's certificate";
    /// The server accepts the certificate and forbids access (alert 49).
    AlertAccessDenied = TlsFailed, "alert_access_denied", "the server denies access to the client's certificate";
    /// The server found no acceptable set of parameters, and often: no client certificate (alert 40).
    AlertHandshakeFailure = TlsFailed, "alert_handshake_failure", "the server refused the TLS handshake (handshake_failure)";
    /// The server speaks none of the offered versions (alert 70).
    AlertProtocolVersion = TlsFailed, "alert_protocol_version", "the server speaks none of the TLS versions offered";
    /// The server does not serve the name of SNI (alert 112).
    AlertUnrecognisedName = TlsFailed, "alert_unrecognised_name", "the server does not serve this name (SNI)";
    /// The server ended TLS by another alert.
    AlertOther = TlsFailed, "alert_other", "the server ended TLS by an alert";
    /// The server broke the rules of TLS, or what it sent cannot be decrypted.
    TlsProtocol = TlsFailed, "protocol", "the server broke the rules of TLS";
    /// Bytes arrived that are not TLS.
    NotTls = TlsFailed, "not_tls", "what the server sent is not TLS";
    /// The connection was closed during the handshake.
    ClosedInHandshake = TlsFailed, "closed", "the connection was closed during the handshake";
    /// The connection was reset, or failed otherwise, during the handshake.
    ResetInHandshake = TlsFailed, "reset", "the connection was reset during the handshake";
    /// TLS failed in another way.
    TlsOther = TlsFailed, "other", "for another reason";

    /// The head is not one of HTTP/1.1.
    BadHead = Malformed, "head", "the answer's head is not valid HTTP";
    /// The head says in an invalid way, or twice, how long the body is.
    BadLength = Malformed, "length", "the answer states the length of its body wrongly";
    /// The chunks of the body are not as HTTP/1.1 has them.
    BadChunk = Malformed, "chunk", "the chunks of the answer's body are not valid";
    /// The head exceeds our limit.
    TooLarge = Malformed, "too_large", "the answer's head is larger than is read";
    /// Bytes came behind the end of the answer that its head announces, and nobody asked for them.
    Surplus = Malformed, "surplus", "more bytes came than the answer announces";
    /// HTTP/2: the server broke the protocol, as we see it.
    BadHttp2 = Malformed, "http2", "what the server sent is not valid HTTP/2";
    /// The request cannot be put into the form of HTTP/2: our fault.
    BadRequest = Malformed, "request", "the request has no form in HTTP/2";
}

impl Reason {
    /// The reason as a sentence, for people.
    #[must_use]
    pub fn sentence(self) -> String {
        format!("{}: {}", self.class().words(), self.words())
    }

    /// `outcome.reason`, which no two reasons share.
    #[must_use]
    pub fn path(self) -> String {
        format!("{}.{}", self.class().name(), self.name())
    }

    /// The reason of this [`Self::path`].
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (class, name) = path.split_once('.')?;
        let mut all = Self::ALL.iter().copied();
        all.find(|reason| reason.class().name() == class && reason.name() == name)
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.path())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::of_path(&path)
            .ok_or_else(|| serde::de::Error::custom(format_args!("`{path}` is not a reason")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_reason_is_read_as_it_was_written() {
        let counts: BTreeMap<Reason, u64> = Reason::ALL.iter().map(|reason| (*reason, 1)).collect();
        assert_eq!(counts.len(), Reason::ALL.len());
        let text = serde_json::to_string(&counts).unwrap();
        let read: BTreeMap<Reason, u64> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, counts);
        assert!(serde_json::from_str::<Reason>("\"reset.expired\"").is_err());
    }

    #[test]
    fn only_what_is_not_answered_has_reasons_and_all_of_that_has() {
        let with_reasons: BTreeSet<OutcomeClass> =
            Reason::ALL.iter().map(|reason| reason.class()).collect();
        let unanswered = |class: &OutcomeClass| class.is_failure() && !class.is_answered();
        let expected: BTreeSet<_> = OutcomeClass::ALL.into_iter().filter(unanswered).collect();
        assert_eq!(with_reasons, expected);
    }
}
