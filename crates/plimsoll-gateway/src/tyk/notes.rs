//! Notes for the operator on Tyk's files: the effect of their fields, and settings that may not be meant as they are written.

use crate::keys::tyk_fields::account::Account;

/// Notes on all files.
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
