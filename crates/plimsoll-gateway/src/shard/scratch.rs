//! Memory for what an exchange writes of its request: the shard's, lent for as long as the exchange lasts.

use crate::routing::outgoing::Outgoing;
use plimsoll_base::spare::{self, Spare};
use plimsoll_records::Words;
use plimsoll_records::tracing::Context;
use std::ops::{Deref, DerefMut};

/// How many a shard keeps: some 8 MiB, if each were as large as may be.
const SPARE_SCRATCHES: usize = 1024;
/// One of more than these has had a large head, and is freed.
const KEPT_BYTES: usize = 8 * 1024;

thread_local! {
    static SPARE: Spare<Box<Scratch>> = const { Spare::new(SPARE_SCRATCHES) };
}

/// Memory for the parts of a request that an exchange goes on with, beside the head itself.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) outgoing: Outgoing,
    pub(crate) method: String,
    pub(crate) path: String,
    /// The span of the request under way, until it is taken down.
    pub(crate) span: Option<Context>,
    pub(crate) words: Words,
}

impl Scratch {
    fn is_worth_keeping(&self) -> bool {
        let strings = self.method.capacity() + self.path.capacity();
        strings + self.outgoing.capacity() + self.words.capacity() <= KEPT_BYTES
    }
}

/// The scratch of the exchange under way; none between exchanges. What the exchange before has left in it is to be written over.
#[derive(Debug)]
pub(crate) struct LentScratch(Option<Box<Scratch>>);

impl LentScratch {
    /// Between exchanges.
    pub(crate) const NONE: Self = Self(None);

    /// For an exchange that begins.
    pub(crate) fn take() -> Self {
        Self(Some(spare::take(&SPARE).unwrap_or_default()))
    }
}

impl Deref for LentScratch {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        self.0.as_deref().expect("an exchange is under way")
    }
}

impl DerefMut for LentScratch {
    fn deref_mut(&mut self) -> &mut Scratch {
        self.0.as_deref_mut().expect("an exchange is under way")
    }
}

impl Drop for LentScratch {
    fn drop(&mut self) {
        if let Some(scratch) = self.0.take()
            && scratch.is_worth_keeping()
        {
            spare::give(&SPARE, scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_from_one_exchange_to_the_next_unless_it_is_large() {
        let mut first = LentScratch::take();
        first.path.push_str("/first");
        first = LentScratch::NONE;
        assert!(first.0.is_none());
        let mut second = LentScratch::take();
        assert_eq!(second.path, "/first");
        let beside = LentScratch::take();
        assert_eq!(beside.path, "");
        second
            .words
            .put(plimsoll_records::RecordWord::Path, &"/".repeat(KEPT_BYTES));
        drop((beside, second));
        assert_eq!(LentScratch::take().path, "");
    }
}
