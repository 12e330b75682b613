//! How names of a path are held against names of a document.

/// How names of a path are held against names of a document.
#[derive(Debug, Clone)]
pub enum Naming {
    /// As they are written, prefix and all: WireMock's way where a stub gives no namespaces.
    Written,
    /// By local name alone: its way in templates.
    Local,
    /// By namespace and local name; a prefix stands for a namespace.
    Expanded(Vec<(String, String)>),
}
