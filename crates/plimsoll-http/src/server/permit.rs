//! The number of connections that a server has open, over all of its shards, and its limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Connections open now. Changed once when a connection begins and once when it ends, never per request.
#[derive(Debug, Default)]
pub struct OpenConnections(AtomicU32);

/// One connection's slot, free again when it is dropped.
#[derive(Debug)]
pub struct ConnectionSlot(Arc<OpenConnections>);

impl OpenConnections {
    /// A slot for one more connection, unless `most` are open already.
    #[must_use]
    pub fn enter(self: &Arc<Self>, most: u32) -> Option<ConnectionSlot> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let slot = ConnectionSlot(Arc::clone(self));
        (before < most).then_some(slot)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_given_out_up_to_the_limit_and_taken_back() {
        let open = Arc::new(OpenConnections::default());
        let slots: Vec<_> = (0..3).map(|_| open.enter(2)).collect();
        assert_eq!(slots.iter().flatten().count(), 2);
        drop(slots);
        assert!(open.enter(1).is_some());
        assert!(open.enter(0).is_none());
    }
}
