//! How an exchange ended, as its record and its span say it.

/// Cause of an exchange's end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// A whole answer was handed over.
    #[default]
    Answered,
    /// The client went away, or broke off its body.
    ClientGone,
    /// The client did not take its answer in time.
    ClientSlow,
    /// The upstream broke off inside its answer.
    UpstreamBroke,
    /// The upstream took too long inside its answer.
    UpstreamSlow,
    /// It was under way when the time for draining was over.
    Drained,
    /// The client's certificate was revoked.
    Revoked,
    /// No authority stands for it any more.
    Distrusted,
    /// It expired.
    Expired,
    /// A defect of the gateway.
    Defect,
}

impl Ending {
    /// Its name outside.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::ClientGone => "client_gone",
            Self::ClientSlow => "client_slow",
            Self::UpstreamBroke => "upstream_broke",
            Self::UpstreamSlow => "upstream_slow",
            Self::Drained => "drained",
            Self::Revoked => "revoked",
            Self::Distrusted => "distrusted",
            Self::Expired => "expired",
            Self::Defect => "defect",
        }
    }
}
