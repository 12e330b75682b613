//! Why a message was refused, and how reading one can fail.

use std::io;

/// A message that is not valid or exceeds a limit. The connection it came on must not be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The request line is not `method SP target SP version`.
    #[error("malformed request line")]
    RequestLine,
    /// The status line is not `version SP status SP reason`.
    #[error("malformed status line")]
    StatusLine,
    /// The method is not a token.
    #[error("invalid method")]
    Method,
    /// The request target has a forbidden byte or a form that its method does not allow.
    #[error("invalid request target")]
    Target,
    /// A version other than HTTP/1.0 and HTTP/1.1.
    #[error("unsupported HTTP version")]
    Version,
    /// A line ended by LF without CR.
    #[error("line not ended by CR LF")]
    BareLineFeed,
    /// A CR that no LF follows.
    #[error("CR without LF")]
    BareCarriageReturn,
    /// A field name that is empty, not a token, or followed by white space.
    #[error("invalid field name")]
    FieldName,
    /// A control byte (NUL and the like) in a field value.
    #[error("invalid field value")]
    FieldValue,
    /// A folded line (obs-fold).
    #[error("folded header line")]
    Folded,
    /// `Host` missing, repeated, invalid, or at odds with an absolute target.
    #[error("missing, repeated or invalid Host")]
    Host,
    /// `Content-Length` that is not one plain decimal number.
    #[error("invalid Content-Length")]
    ContentLength,
    /// `Transfer-Encoding` other than a single `chunked`, or in HTTP/1.0.
    #[error("invalid Transfer-Encoding")]
    TransferEncoding,
    /// Both `Content-Length` and `Transfer-Encoding`.
    #[error("both Content-Length and Transfer-Encoding")]
    AmbiguousLength,
    /// `Expect` with anything but `100-continue`.
    #[error("unknown expectation")]
    Expectation,
    /// A chunk-size line that is not hexadecimal digits and valid extensions.
    #[error("invalid chunk size")]
    ChunkSize,
    /// Chunk data not followed by CR LF.
    #[error("chunk data not ended by CR LF")]
    ChunkEnd,
    /// A field that must not appear in a trailer section.
    #[error("field not allowed in trailers")]
    Trailer,
    /// The head or the trailers exceed their limit.
    #[error("header section too large")]
    HeadTooLarge,
    /// The request target exceeds its limit.
    #[error("request target too long")]
    TargetTooLong,
    /// The body exceeds its limit.
    #[error("body too large")]
    BodyTooLarge,
}

impl ProtocolError {
    /// The status with which a server answers before it closes.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::HeadTooLarge => 431,
            Self::TargetTooLong => 414,
            Self::BodyTooLarge => 413,
            Self::Expectation => 417,
            Self::Version => 505,
            _ => 400,
        }
    }
}

/// How reading a message from a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The peer sent something that is not acceptable.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The peer closed before the message was complete.
    #[error("connection closed inside a message")]
    Closed,
    /// The transport failed, most often a reset.
    #[error(transparent)]
    Io(#[from] io::Error),
}
