//! When Redis forgets the accounts of a key, and the set of their scopes.

use crate::keys::KeyHash;
use crate::keys::redis::account::scopes_name;
use redis::Pipeline;

/// Has an account end when its key does.
pub(super) fn end_with_key(request: &mut Pipeline, account: &str, forgotten: Option<u32>) {
    match forgotten {
        Some(at) => request.cmd("EXPIREAT").arg(account).arg(at),
        None => request.cmd("PERSIST").arg(account),
    };
}

/// Keeps the set of a key's scopes until `end` at least.
pub(super) fn keep_scopes(request: &mut Pipeline, hash: KeyHash, end: u32) {
    for when in ["NX", "GT"] {
        let kept = request.cmd("EXPIREAT").arg(scopes_name(hash));
        kept.arg(end).arg(when);
    }
}
