//! How much a document may hold for its length: what is made of a value takes more than its text.

/// Parts of a document that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Everything that is no key.
    Values,
    /// Mappings and lists.
    Collections,
    /// Mappings in lists, such as steps and routes, and those in a mapping of the document's own, such as arms.
    Records,
    /// Entries of the document's own mapping, such as keys and policies.
    Entries,
}

impl Counted {
    /// As messages call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Collections => "mappings and lists",
            Self::Records => "entries such as steps, routes, arms or paths",
            Self::Entries => "entries",
        }
    }
}

/// So many in any document, and one more for so many bytes of its text.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// In any.
    pub any: usize,
    /// For how many bytes there may be one more.
    pub bytes_each: usize,
}

/// Values of any JSON: a tree of lists within each other takes 16 times its text, and some formats read it twice.
pub(super) const JSON_VALUES: Allowance = Allowance {
    any: 64_000,
    bytes_each: 6,
};
/// Values of any YAML, whose parser takes some thousand instructions for each.
pub(super) const YAML_VALUES: Allowance = Allowance {
    any: 16_000,
    bytes_each: 18,
};

impl Allowance {
    /// How many a text of this length may have.
    #[must_use]
    pub fn of(self, bytes: usize) -> usize {
        self.any + bytes / self.bytes_each
    }

    /// Message for one more than is allowed.
    pub(super) fn exceeded(self, name: &str, bytes: usize) -> String {
        let most = self.of(bytes);
        format!(
            "more than {most} {name} in {bytes} bytes: leave out what is not needed, or write several files"
        )
    }
}
