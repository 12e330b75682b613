//! Why something could not be measured.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What came back.
        source: std::io::Error,
    },
    /// A program under comparison did not behave as the comparison needs it.
    #[error("{0}")]
    Behaved(String),
    /// A program is not installed.
    #[error("not installed: `{0}`")]
    Missing(String),
    /// The arguments ask for what there is not.
    #[error("{0}")]
    Asked(String),
}

impl Trouble {
    /// Wraps an error of the system with what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
