//! Under which name an account of a key is counted in Redis, over all gateways: as Tyk calls it.

use crate::keys::KeyHash;

/// Prefix of every name of an account.
const PREFIX: &str = "quota-";
/// Hexadecimal digits of a key's hash.
const DIGITS: usize = 32;

/// An account of a key: that of one scope, or the one over all APIs that are in none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Account {
    pub(super) hash: KeyHash,
    pub(super) scope: Option<Box<str>>,
}

impl Account {
    /// `quota-<hash>`, and of a scope `quota-<scope>-<hash>`. Source: Tyk 5.15, `gateway/session_manager.go` (`RedisQuotaExceeded`).
    pub(super) fn name(&self) -> String {
        let hex = self.hash.to_hex();
        match &self.scope {
            Some(scope) => format!("{PREFIX}{scope}-{hex}"),
            None => format!("{PREFIX}{hex}"),
        }
    }

    /// The account of such a name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (scope, hex) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        let scope = match scope {
            "" => None,
            scope => Some(scope.strip_suffix('-')?.into()),
        };
        let hash = KeyHash::from_hex(hex)?;
        Some(Self { hash, scope })
    }
}

/// The set of the scopes that a key has accounts of in Redis: they go with the key.
pub(super) fn scopes_name(hash: KeyHash) -> String {
    format!("plimsoll-quotas-{}", hash.to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_one_account() {
        let hash = KeyHash::of(b"a key");
        for scope in [None, Some("api"), Some("with-dash"), Some("-"), Some("é")] {
            let scope = scope.map(Into::into);
            let account = Account { hash, scope };
            assert_eq!(Account::of_name(&account.name()), Some(account));
        }
        let hex = hash.to_hex();
        assert_eq!(
            Account {
                hash,
                scope: Some("api".into())
            }
            .name(),
            format!("quota-api-{hex}")
        );
        for other in ["", "quota-", "quota-é", &hex, &format!("quota-api{hex}")] {
            assert_eq!(Account::of_name(other), None, "{other}");
        }
    }
}
