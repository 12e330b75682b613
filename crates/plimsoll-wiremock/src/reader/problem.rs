//! A problem of a stub mapping: one place in one JSON document.
//!
//! Which file the document came from is added by whoever read it.

use std::fmt;

/// Why a place in a stub mapping is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not JSON.
    Syntax,
    /// WireMock knows no such property.
    Unknown,
    /// WireMock has it; this version of Plimsoll does not.
    NotAvailable,
    /// The property is known and its value is wrong.
    Invalid,
}

/// One problem of one stub mapping document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StubProblem {
    /// JSON pointer (RFC 6901) to the place, empty for the whole document.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The problem, in words.
    pub message: String,
}

impl StubProblem {
    /// A value that is wrong.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            kind: ProblemKind::Invalid,
            message: message.into(),
        }
    }

    /// Something of WireMock's format that this version does not do; `what` starts the sentence.
    pub fn not_available(pointer: impl Into<String>, what: &str) -> Self {
        Self {
            pointer: pointer.into(),
            kind: ProblemKind::NotAvailable,
            message: format!("{what} is not available in this version"),
        }
    }

    /// A property that WireMock's format does not have.
    pub fn unknown(pointer: impl Into<String>, name: &str) -> Self {
        Self {
            pointer: pointer.into(),
            kind: ProblemKind::Unknown,
            message: format!("unknown property \"{name}\""),
        }
    }
}

impl fmt::Display for StubProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

/// A problem and the file that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The file, as the user would name it: its path below the root directory.
    pub file: String,
    /// The problem in it.
    pub problem: StubProblem,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.problem)
    }
}
