//! Memory of requests: the journal, metrics of each stub, the times of other servers.

pub(crate) mod journal;
pub(crate) mod latency_log;
pub(crate) mod metrics;
