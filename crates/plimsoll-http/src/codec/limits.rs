//! The finite limits of a message, with their defaults.

/// How much of a message is accepted. Whatever is larger is refused with the status in the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a head, from its first byte to its empty line: 431.
    pub head_bytes: usize,
    /// Header fields of a head: 431.
    pub fields: usize,
    /// Bytes of a request target: 414.
    pub target_bytes: usize,
    /// Bytes of a body after decoding: 413.
    pub body_bytes: u64,
    /// Bytes of a trailer section: 431.
    pub trailer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 32 * 1024,
            fields: 100,
            target_bytes: 8 * 1024,
            body_bytes: 10 * 1024 * 1024,
            trailer_bytes: 8 * 1024,
        }
    }
}
