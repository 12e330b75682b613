//! Failures from which nothing follows, each with the reason why.

/// A result whose failure may be ignored.
pub trait Ignored {
    /// Ignores a failure, because of this.
    fn ignored(self, because: &'static str);
}

impl<T, E> Ignored for Result<T, E> {
    #[inline]
    fn ignored(self, _because: &'static str) {
        drop(self);
    }
}
