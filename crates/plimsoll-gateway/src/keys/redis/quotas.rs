//! Use of quotas, added up over all gateways: of each account for itself.
//!
//! Each gateway counts for itself and hands on what it has counted since; what the others counted comes back. Who has not spent of an account
//! is told when little is left of it (of any of the quotas that are counted there), and reads what was spent when it reads all keys. So a quota is exceeded by at most what other gateways
//! admit between two turns.

use super::account::Account;
use super::session::{RedisSession, Spending, Sum};
use crate::keys::allowance::Quota;
use crate::keys::key::Key;
use crate::keys::unmet::Used;
use crate::keys::{KeyHash, KeyStore};
use redis::RedisResult;
use std::collections::HashSet;

/// Requests left of a quota, from which on all gateways are told what was spent of it. Above, one that begins with it hears of it in time.
const NEAR_END: u32 = 1000;
/// The near end as a part of the quota, if that is less: a small quota is none of which everything is told. One request at least.
const NEAR_END_PART: u32 = 10;

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
    pub(super) fn hear(&mut self, session: &mut RedisSession) -> RedisResult<()> {
        session.spent_elsewhere(|account| _ = self.elsewhere.insert(account))
    }

    /// Takes over what was spent of those.
    pub(super) fn learn(&mut self, session: &mut RedisSession, keys: &KeyStore) -> RedisResult<()> {
        let accounts = self.elsewhere.iter().cloned().collect();
        for sum in session.sums(accounts)? {
            take_over(&sum, keys);
        }
        self.elsewhere.clear();
        Ok(())
    }

    /// Hands on what was counted since, and takes over what others counted. What Redis does not take is handed on the next time.
    pub(super) fn share(&mut self, session: &mut RedisSession, keys: &KeyStore) -> RedisResult<()> {
        let mut spent = Vec::new();
        self.touched.retain(|hash| {
            let before = spent.len();
            keys.with(*hash, |key| spent.extend(untold(key)));
            spent.len() > before
        });
        let added = session.add_spent(&spent, |spending, sum, end| {
            let Account { hash, scope } = &spending.account;
            let before = sum.saturating_sub(spending.untold.requests);
            let look = |key: &Key| {
                let end = end.unwrap_or(spending.untold.renews);
                if let Some(spent) = key.account(scope.as_deref()) {
                    spent.told(spending.untold, sum, end);
                }
                let quotas = key.quotas(scope.as_deref());
                quotas.iter().any(|quota| nears_end(*quota, before, sum))
            };
            if keys.with(*hash, look) == Some(true) {
                self.near_end.insert(spending.account.clone());
            }
        });
        session.announce(&self.near_end)?;
        self.near_end.clear();
        added
    }
}

/// Whether little is left of a quota of which all gateways have used `sum`, and `before` when it was said last. One that was used up then
/// is known to be.
fn nears_end(quota: Quota, before: u32, sum: u32) -> bool {
    let little = (quota.max / NEAR_END_PART).clamp(1, NEAR_END);
    before < quota.max && quota.max.saturating_sub(sum) <= little
}

/// Takes over what all gateways have spent of an account, at once or when its key is here.
pub(super) fn take_over(sum: &Sum, keys: &KeyStore) {
    let used = Used {
        scope: sum.account.scope.clone(),
        requests: sum.used,
        end: sum.end,
    };
    keys.learn(sum.account.hash, used);
}

/// Use of a key that Redis has not heard of.
fn untold(key: &Key) -> Vec<Spending> {
    let accounts = key.accounts().into_iter();
    let spending = accounts.filter_map(|(scope, spent)| {
        Some(Spending {
            untold: spent.untold()?,
            account: Account {
                hash: key.hash,
                scope,
            },
            // Who shows tokens comes back with another when the session is forgotten.
            forgotten: key.forgotten_at().filter(|_| !key.is_virtual()),
        })
    });
    spending.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Limits;
    use crate::keys::allowance::Spent;
    use crate::keys::key::Quotas as Becomes;
    use plimsoll_redis::RedisConf;
    use plimsoll_testbed::peers::redis::Redis;

    #[test]
    fn little_is_left_of_a_quota_until_it_is_known_to_be_used_up() {
        let check = |max, before, sum, expected| {
            let quota = Quota { max, renewal: 60 };
            let actual = nears_end(quota, before, sum);
            assert_eq!(actual, expected, "{before} and {sum} of {max}");
        };
        for (max, most_untold) in [
            (1, 0),
            (3, 1),
            (30, 26),
            (1000, 899),
            (u32::MAX, u32::MAX - 1001),
        ] {
            check(max, 0, most_untold, max == 1);
            check(max, most_untold, most_untold + 1, true);
            check(max, 0, max, true);
            check(max, max - 1, max.saturating_add(5), true);
            check(max, max, max.saturating_add(1), false);
        }
    }

    #[test]
    fn of_several_quotas_in_one_account_redis_knows_which_has_begun_its_period() {
        let now = 1_700_000_000;
        let hash = KeyHash::of(b"a key");
        let limit = |max: u32, renewal: u32| {
            format!(r#""quota_max": {max}, "quota_renewal_rate": {renewal}"#)
        };
        let check = |[one, whole]: [String; 2], expires: u32, end: Option<u32>, expected: u32| {
            let keys = KeyStore::new(Limits::default());
            let rights =
                format!(r#"{{"a": {{"limit": {{{one}}}}}, "b": {{"allowance_scope": "a"}}}}"#);
            let session =
                format!(r#"{{{whole}, "expires": {expires}, "access_rights": {rights}}}"#);
            keys.adopt(hash, &session, Becomes::Reset, now);
            let account = Account {
                hash,
                scope: Some("a".into()),
            };
            take_over(
                &Sum {
                    account,
                    used: 2,
                    end,
                },
                &keys,
            );
            let period = keys.with(hash, |key| key.account(Some("a")).map(Spent::period));
            assert_eq!(period.flatten(), Some((expected, 2)), "{session}");
        };
        let day = 24 * 60 * 60;
        for (last, renewed) in [(9, 3), (3, 9)] {
            let both = || [limit(last, 0), limit(renewed, 60)];
            check(both(), 0, None, u32::MAX);
            check(both(), now + 1, Some(now + 1 + day), u32::MAX);
            check(both(), now + 1, Some(now + 60), now + 60);
            let renewing = [limit(last, 60), limit(renewed, 60)];
            check(renewing, now + 1, Some(now + 60), now + 60);
            let lasting = [limit(last, 0), limit(renewed, 0)];
            check(lasting, now + 1, Some(now + 1 + day), u32::MAX);
        }
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_quota_that_was_reset_here_and_not_used_since_takes_nothing_from_the_others() {
        let redis = Redis::start(&[]).unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
        let mut session = RedisSession::new(&conf, "one".to_owned());
        session.connect().unwrap();
        let (keys, mut quotas) = (KeyStore::new(Limits::default()), Quotas::default());
        let (hash, now) = (KeyHash::of(b"a key"), 1_700_000_000);
        let text = r#"{"quota_max": 9, "quota_renewal_rate": 60, "access_rights": {"a": {}}}"#;
        keys.adopt(hash, text, Becomes::Reset, now);
        let quota = format!("quota-{}", hash.to_hex());
        redis.ask(&["SET", &quota, "5"]).unwrap();
        let mut spent_after = |used: u32| {
            if used > 0 {
                keys.with(hash, |key| key.spent(None).set_quota(u32::MAX - 1, used));
            }
            quotas.note([hash].into_iter());
            quotas.share(&mut session, &keys).unwrap();
            redis.ask(&["GET", &quota]).unwrap()
        };
        assert_eq!(spent_after(0), "5");
        assert_eq!(spent_after(2), "7");
        let period = keys.with(hash, |key| key.spent(None).period());
        assert_eq!(period, Some((u32::MAX - 1, 7)));
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn what_others_say_is_heard_once_also_where_redis_breaks_amid_it() {
        let redis = Redis::start(&[]).unwrap();
        let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
        let mut session = RedisSession::new(&conf, "one".to_owned());
        session.connect().unwrap();
        let account = |number: usize| Account {
            hash: KeyHash::of(&number.to_be_bytes()),
            scope: None,
        };
        // More than are read at once.
        for number in 0..501 {
            let name = account(number).name();
            redis
                .ask(&["XADD", "plimsoll-quotas-spent", "*", "g", "two", "q", &name])
                .unwrap();
        }
        let mut heard = Vec::new();
        let broken = session.spent_elsewhere(|account| {
            if heard.is_empty() {
                redis.ask(&["CLIENT", "KILL", "TYPE", "normal"]).unwrap();
            }
            heard.push(account);
        });
        assert!(broken.is_err());
        session.disconnect();
        session.connect().unwrap();
        session
            .spent_elsewhere(|account| heard.push(account))
            .unwrap();
        assert!(
            heard
                .iter()
                .eq((0..501).map(account).collect::<Vec<_>>().iter())
        );
    }
}
