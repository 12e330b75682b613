//! What keys have spent of their quotas, added up over all gateways: of each account for itself.
//!
//! Each gateway counts for itself and hands on what it has counted since; what the others counted comes back. Who has not spent of an account
//! is told when little is left of it, and reads what was spent when it reads all keys. So a quota is exceeded by at most what other gateways
//! admit between two turns.

use super::account::Account;
use super::talk::{Spending, Sum, Talk};
use crate::keys::key::Key;
use crate::keys::{KeyHash, KeyStore};
use redis::RedisResult;
use std::collections::HashSet;

/// Requests left of a quota, from which on all gateways are told what was spent of it. Above, one that begins with it hears of it in time.
const NEAR_END: u32 = 1000;

/// Of which keys and accounts there may be something to say, or to ask.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    /// Keys that were used here.
    touched: HashSet<KeyHash>,
    /// Accounts of which others have spent.
    elsewhere: HashSet<Account>,
    /// Accounts of which the others are to hear.
    near_end: HashSet<Account>,
}

impl Quotas {
    /// These keys were used.
    pub(super) fn note(&mut self, touched: impl Iterator<Item = KeyHash>) {
        self.touched.extend(touched);
    }

    /// Hears of which accounts others have spent.
    pub(super) fn hear(&mut self, talk: &mut Talk) -> RedisResult<()> {
        self.elsewhere.extend(talk.spent_elsewhere()?);
        Ok(())
    }

    /// Takes over what was spent of those.
    pub(super) fn learn(&mut self, talk: &mut Talk, keys: &KeyStore) -> RedisResult<()> {
        let accounts = self.elsewhere.iter().cloned().collect();
        for sum in talk.sums(accounts)? {
            take_over(&sum, keys);
        }
        self.elsewhere.clear();
        Ok(())
    }

    /// Hands on what was counted since, and takes over what others counted. What Redis does not take is handed on the next time.
    pub(super) fn share(&mut self, talk: &mut Talk, keys: &KeyStore) -> RedisResult<()> {
        let mut spent = Vec::new();
        self.touched.retain(|hash| {
            let before = spent.len();
            keys.with(*hash, |key| spent.extend(untold(key)));
            spent.len() > before
        });
        let added = talk.add_spent(&spent, |spending, sum, end| {
            let Account { hash, scope } = &spending.account;
            let look = |key: &Key| {
                let end = end.unwrap_or(spending.untold.renews);
                key.account(scope.as_deref())?
                    .told(spending.untold, sum, end);
                let quotas = key.quotas(scope.as_deref()).into_iter();
                quotas.max_by_key(|quota| quota.max)
            };
            let quota = keys.with(*hash, look).flatten();
            if quota.is_some_and(|quota| quota.max.saturating_sub(sum) <= NEAR_END) {
                self.near_end.insert(spending.account.clone());
            }
        });
        talk.announce(&self.near_end)?;
        self.near_end.clear();
        added
    }
}

/// Takes over what all gateways have spent of an account, if there is such a one here.
pub(super) fn take_over(sum: &Sum, keys: &KeyStore) {
    let Account { hash, scope } = &sum.account;
    keys.with(*hash, |key| {
        let quotas = key.quotas(scope.as_deref()).into_iter();
        let end = match quotas.max_by_key(|quota| quota.max) {
            // Redis lets go of it with its key.
            Some(quota) if quota.renewal == 0 => Some(u32::MAX),
            _ => sum.end,
        };
        if let (Some(spent), Some(end)) = (key.account(scope.as_deref()), end) {
            spent.learn(sum.used, end);
        }
    });
}

/// What a key has spent that Redis has not heard of.
fn untold(key: &Key) -> Vec<Spending> {
    let accounts = key.accounts().into_iter();
    let spending = accounts.filter_map(|(scope, spent)| {
        Some(Spending {
            untold: spent.untold()?,
            account: Account {
                hash: key.hash,
                scope,
            },
            forgotten: key.forgotten_at(),
        })
    });
    spending.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Limits;
    use crate::keys::key::Quotas as Becomes;
    use crate::redis_server::RedisConf;
    use plimsoll_testbed::redis::Redis;

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_quota_that_was_reset_here_and_not_used_since_takes_nothing_from_the_others() {
        let redis = Redis::start(&[]).unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
        let mut talk = Talk::new(&conf, "one".to_owned());
        talk.connect().unwrap();
        let (keys, mut quotas) = (KeyStore::new(Limits::default()), Quotas::default());
        let (hash, now) = (KeyHash::of(b"a key"), 1_700_000_000);
        let session = r#"{"quota_max": 9, "quota_renewal_rate": 60, "access_rights": {"a": {}}}"#;
        keys.adopt(hash, session, Becomes::Reset, now);
        let quota = format!("quota-{}", hash.to_hex());
        redis.ask(&["SET", &quota, "5"]).unwrap();
        let mut spent_after = |used: u32| {
            if used > 0 {
                keys.with(hash, |key| key.spent(None).set_quota(u32::MAX - 1, used));
            }
            quotas.note([hash].into_iter());
            quotas.share(&mut talk, &keys).unwrap();
            redis.ask(&["GET", &quota]).unwrap()
        };
        assert_eq!(spent_after(0), "5");
        assert_eq!(spent_after(2), "7");
        let period = keys.with(hash, |key| key.spent(None).period());
        assert_eq!(period, Some((u32::MAX - 1, 7)));
    }
}
