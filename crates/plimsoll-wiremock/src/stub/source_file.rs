//! The file that a stub mapping is written in.

use std::path::PathBuf;

/// A file below `mappings`, and whether it may be written anew for one of its mappings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFile {
    /// The mapping is all that it holds.
    Single(PathBuf),
    /// It holds a list of mappings, and is never written.
    List(PathBuf),
}
