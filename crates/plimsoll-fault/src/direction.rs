//! The two directions of a connection.

use std::fmt;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the server.
    Upstream,
    /// From the server to the client.
    Downstream,
}

impl Direction {
    /// Both, in the order in which the API lists them.
    pub const BOTH: [Self; 2] = [Self::Upstream, Self::Downstream];

    /// The direction of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is_named = |direction: &Self| direction.name().eq_ignore_ascii_case(name);
        Self::BOTH.into_iter().find(is_named)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
