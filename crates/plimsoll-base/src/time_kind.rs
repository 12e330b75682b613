//! The times that are recorded of an exchange or an iteration, each with its start point.

use serde::{Deserialize, Serialize};

/// Which interval a recorded time measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeKind {
    /// From the intended start to the last byte of the answer, or to when it was given up.
    ResponseTime,
    /// From the first byte sent to the last byte received.
    ServiceTime,
    /// From the intended start of the iteration to the end of its last step.
    IterationTime,
    /// From when the arrival was due and released to when a connection was free for it: the target's doing.
    ConnectionWait,
    /// From the intended start to when the generator released the arrival: the generator's own lateness.
    PacingLag,
    /// From the intended start of an arrival that was never started to when its load ended: its caller would have waited longer.
    UnstartedTime,
    /// From the start of a connection attempt to its establishment, name lookup and TLS handshake included.
    ConnectTime,
    /// The name lookup of a connection that had one.
    DnsTime,
    /// The TCP handshake of a connection.
    TcpTime,
    /// The TLS handshake of a connection.
    TlsTime,
    /// Of an answered exchange, from the first byte sent to the first byte received.
    FirstByteTime,
    /// Of an answered exchange, from the first byte received to the last: with the one before, its service time.
    BodyTime,
}

impl TimeKind {
    /// Every kind, in the order in which outputs list them.
    pub const ALL: [Self; 12] = [
        Self::ResponseTime,
        Self::ServiceTime,
        Self::IterationTime,
        Self::ConnectionWait,
        Self::PacingLag,
        Self::UnstartedTime,
        Self::ConnectTime,
        Self::DnsTime,
        Self::TcpTime,
        Self::TlsTime,
        Self::FirstByteTime,
        Self::BodyTime,
    ];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ResponseTime => "response_time",
            Self::ServiceTime => "service_time",
            Self::IterationTime => "iteration_time",
            Self::ConnectionWait => "connection_wait",
            Self::PacingLag => "pacing_lag",
            Self::UnstartedTime => "unstarted_time",
            Self::ConnectTime => "connect_time",
            Self::DnsTime => "dns_time",
            Self::TcpTime => "tcp_time",
            Self::TlsTime => "tls_time",
            Self::FirstByteTime => "first_byte_time",
            Self::BodyTime => "body_time",
        }
    }
}
