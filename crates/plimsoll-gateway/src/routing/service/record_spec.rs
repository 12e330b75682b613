//! Specification of the records of requests, by the configuration of these.

use plimsoll_records::AnalyticsConfig;

/// Content of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordSpec {
    /// More than our own lines.
    pub(crate) wide: bool,
    /// Bytes of each body, in detail.
    pub(crate) body: usize,
    /// Requests that no API answers leave records, too.
    pub(crate) unrouted: bool,
    /// Addresses whose requests leave none.
    pub(crate) ignored: Vec<String>,
}

impl RecordSpec {
    /// Of records as they are configured.
    pub(crate) fn of(config: &AnalyticsConfig) -> Self {
        Self {
            wide: config.is_wide(),
            body: config.body,
            unrouted: config.unrouted,
            ignored: config.ignored.clone(),
        }
    }
}
