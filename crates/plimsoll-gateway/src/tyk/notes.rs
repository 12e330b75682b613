//! What the operator is told of Tyk's files: how many of a file's fields count, which ones are ignored, and
//! what may not be meant as it is written.

use std::fmt;

/// What one file says, by what becomes of it. A file of which something is refused is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(super) name: String,
    /// Fields that mean here what they mean to Tyk.
    pub(super) supported: usize,
    /// Fields that are ignored, by their paths.
    pub(super) ignored: Vec<String>,
}

/// What is told of all files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    pub(super) accounts: Vec<Account>,
    /// A line for each thing that may not be meant as it is written: an API that is closed, a rule that holds for no request.
    pub(super) doubts: Vec<String>,
}

impl Notes {
    /// A line for each file, and one for each doubt.
    pub(crate) fn all(&self) -> Vec<String> {
        self.lines(|_| true)
    }

    /// Of files, only those of which something is ignored.
    pub(crate) fn doubtful(&self) -> Vec<String> {
        self.lines(|account| !account.ignored.is_empty())
    }

    fn lines(&self, counts: impl Fn(&&Account) -> bool) -> Vec<String> {
        let accounts = self.accounts.iter().filter(counts);
        let accounts = accounts.map(ToString::to_string);
        accounts.chain(self.doubts.iter().cloned()).collect()
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            supported,
            ignored,
        } = self;
        write!(f, "{name}: fields: {supported} supported, ")?;
        match &ignored[..] {
            [] => f.write_str("0 ignored, 0 refused"),
            ignored => {
                let names = ignored.join(", ");
                write!(f, "{} ignored ({names}), 0 refused", ignored.len())
            }
        }
    }
}
