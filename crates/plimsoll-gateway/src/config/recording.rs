//! Settings of what is recorded of the requests of one route.

/// Recording of the requests of one route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Nothing.
    pub(crate) off: bool,
    /// The whole request and response, as far as [`plimsoll_records::AnalyticsConfig::body`] goes.
    pub(crate) detailed: bool,
    /// Id and name as an API; the route's path without them.
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) organisation: String,
    /// Seconds after which its records expire; 0: never.
    pub(crate) expires_after: u64,
}
