//! Use of a key's quota, as Redis is told it.

use super::ends::{end_with_key, keep_scopes};
use crate::keys::allowance::Untold;
use crate::keys::redis::account::{Account, scopes_name};
use redis::Pipeline;

/// Use of a key's quota here since it was told last.
#[derive(Debug)]
pub(in crate::keys::redis) struct Spending {
    pub(in crate::keys::redis) account: Account,
    pub(in crate::keys::redis) untold: Untold,
    /// When the key is forgotten, if it is.
    pub(in crate::keys::redis) forgotten: Option<u32>,
}

impl Spending {
    /// Whether the quota is never renewed.
    pub(super) fn is_last(&self) -> bool {
        self.untold.renews == u32::MAX
    }

    /// The commands for Redis: it answers with the sum first, and third with when that ends.
    pub(super) fn said(&self) -> Pipeline {
        let key = self.account.name();
        let mut request = redis::pipe();
        request.cmd("INCRBY").arg(&key).arg(self.untold.requests);
        match self.is_last() {
            true => end_with_key(&mut request, &key, self.forgotten),
            // Only the first of a period says when it ends.
            false => {
                let end = request.cmd("EXPIREAT").arg(&key).arg(self.untold.renews);
                end.arg("NX");
            }
        }
        request.cmd("EXPIRETIME").arg(&key);
        self.name_scope(&mut request);
        request
    }

    /// Adds its scope to those of its key, which are kept for as long as one of them.
    fn name_scope(&self, request: &mut Pipeline) {
        let Some(scope) = &self.account.scope else {
            return;
        };
        let hash = self.account.hash;
        request.cmd("SADD").arg(scopes_name(hash)).arg(&**scope);
        let end = match self.is_last() {
            false => self.untold.renews,
            true => self.forgotten.unwrap_or(u32::MAX),
        };
        keep_scopes(request, hash, end);
    }
}
