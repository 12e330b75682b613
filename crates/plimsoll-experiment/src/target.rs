//! Where load goes.

use std::fmt;

/// A listener of a component, written `component` or `component/listener`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRef {
    /// The component's name.
    pub component: String,
    /// One of its listeners; `None` is `main`.
    pub listener: Option<String>,
}

impl fmt::Display for TargetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.component)?;
        self.listener
            .as_ref()
            .map_or(Ok(()), |listener| write!(f, "/{listener}"))
    }
}
