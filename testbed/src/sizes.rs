//! Sizes of futures that nobody has made: bytes that a task, a connection or an exchange takes while it waits.

/// Bytes of the future that a function of one argument, or of a tuple, returns.
pub fn of_future<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
    size_of::<F>()
}
