//! What the operator is told of Tyk's files: what becomes of their fields, and what may not be meant as it is written.

use crate::tyk_fields::account::Account;

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
        self.lines(|account| account.ignored.count() > 0)
    }

    fn lines(&self, counts: impl Fn(&&Account) -> bool) -> Vec<String> {
        let accounts = self.accounts.iter().filter(counts);
        let accounts = accounts.map(ToString::to_string);
        accounts.chain(self.doubts.iter().cloned()).collect()
    }
}
