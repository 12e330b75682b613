//! Request and response heads, parsed: what was said, and what follows from it for the body and the connection.

use crate::codec::fields::Fields;
use std::ops::Range;

/// The version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
    /// HTTP/2, in the form of HTTP/1.1: see [`RequestHead::from_http2`].
    Http2,
}

/// How the end of a body is found (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// There is no body.
    #[default]
    None,
    /// Exactly this many bytes follow.
    Length(u64),
    /// Chunks follow, and perhaps trailers.
    Chunked,
    /// The body ends where the connection ends (responses only).
    UntilClose,
}

/// A request head.
#[derive(Debug, Default)]
pub struct RequestHead {
    pub(crate) fields: Fields,
    pub(crate) method: Range<usize>,
    pub(crate) target: Range<usize>,
    pub(crate) path: Range<usize>,
    pub(crate) authority: Range<usize>,
    pub(crate) version: Version,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
    pub(crate) expects_continue: bool,
}

impl Clone for RequestHead {
    fn clone(&self) -> Self {
        let mut head = Self::default();
        head.clone_from(self);
        head
    }

    /// Reuses the memory of what is overwritten.
    fn clone_from(&mut self, source: &Self) {
        self.fields.clone_from(&source.fields);
        self.method = source.method.clone();
        self.target = source.target.clone();
        self.path = source.path.clone();
        self.authority = source.authority.clone();
        self.version = source.version;
        self.framing = source.framing;
        self.keep_alive = source.keep_alive;
        self.expects_continue = source.expects_continue;
    }
}

impl RequestHead {
    /// The method, in the case in which it came.
    #[must_use]
    pub fn method(&self) -> &str {
        self.fields.ascii(self.method.clone())
    }

    /// The request target as received: origin-form, absolute-form, authority-form (CONNECT) or `*`.
    #[must_use]
    pub fn target(&self) -> &str {
        self.fields.ascii(self.target.clone())
    }

    /// The path of the target, without its query and, in absolute-form, without scheme and authority; `/` where that leaves nothing.
    /// Not decoded, not normalised.
    #[must_use]
    pub fn path(&self) -> &str {
        let path = self.fields.ascii(self.path.clone());
        if path.is_empty() { "/" } else { path }
    }

    /// The target's query: the text behind its first `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.fields
            .ascii(self.path.end..self.target.end)
            .strip_prefix('?')
    }

    /// The host and port that the client addressed: of an absolute target, else of `Host`; empty only for HTTP/1.0.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.fields.ascii(self.authority.clone())
    }

    /// All of it as it came, its empty line included; a head of HTTP/2 has the form of HTTP/1.1.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.fields.text()
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The header fields.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// How the body ends; never [`Framing::UntilClose`].
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the client wants the connection kept.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Whether the client waits for `100 Continue` before it sends its body.
    #[must_use]
    pub fn expects_continue(&self) -> bool {
        self.expects_continue
    }
}

/// A response head.
#[derive(Debug, Clone, Default)]
pub struct ResponseHead {
    /// Whether it answers a HEAD request; said before it is decoded.
    pub(crate) to_head_request: bool,
    pub(crate) fields: Fields,
    pub(crate) status: u16,
    pub(crate) reason: Range<usize>,
    pub(crate) version: Version,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
}

impl ResponseHead {
    /// The status code, 100 to 999.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The reason phrase, possibly empty.
    #[must_use]
    pub fn reason(&self) -> &[u8] {
        self.fields.bytes(self.reason.clone())
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The header fields.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// How the body ends.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the connection may carry another exchange after this one.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive && self.framing != Framing::UntilClose
    }
}
