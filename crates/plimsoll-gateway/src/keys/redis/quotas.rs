//! What keys have spent of their quotas, added up over all gateways.
//!
//! Each gateway counts for itself and hands on what it has counted since; what the others counted comes back. So a quota is exceeded by at
//! most what other gateways admit between two turns.

use super::talk::{Spending, Talk};
use crate::keys::key::Key;
use crate::keys::{KeyHash, KeyStore};
use redis::RedisResult;
use std::collections::{HashMap, HashSet};

/// Keys whose counts are remembered; beyond it all are forgotten, and counted anew from what Redis says.
const REMEMBERED: usize = 1_000_000;

/// Which keys were used, and how far their counts are known to Redis.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    touched: HashSet<KeyHash>,
    /// End of the period, and the count that both sides know.
    known: HashMap<KeyHash, (u32, u32)>,
}

impl Quotas {
    /// These keys were used.
    pub(super) fn note(&mut self, touched: impl Iterator<Item = KeyHash>) {
        self.touched.extend(touched);
    }

    /// Hands on what was counted since, and takes over what others counted. What Redis does not take is handed on the next time.
    pub(super) fn share(&mut self, talk: &mut Talk, keys: &KeyStore) -> RedisResult<()> {
        let mut spent = Vec::new();
        self.touched.retain(|hash| {
            let look = |key: &Key| (key.spent(None).period(), key.forgotten_at());
            let Some(((renews, used), forgotten)) = keys.with(*hash, look) else {
                return false;
            };
            // Of one that was reset since, nothing is spent.
            if renews == 0 {
                return false;
            }
            let known = known_of(&self.known, *hash, renews);
            spent.push(Spending {
                hash: *hash,
                used: used.saturating_sub(known),
                renews,
                forgotten,
            });
            true
        });
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        talk.add_spent(&spent, |spending, sum, end| {
            let Spending {
                hash, used, renews, ..
            } = *spending;
            self.touched.remove(&hash);
            let known = known_of(&self.known, hash, renews);
            let others = sum.saturating_sub(known).saturating_sub(used);
            let end = end.unwrap_or(renews);
            keys.with(hash, |key| key.spent(None).add(renews, others, end));
            self.known.insert(hash, (end, sum));
        })
    }
}

/// How much of a quota's period both sides know.
fn known_of(known: &HashMap<KeyHash, (u32, u32)>, hash: KeyHash, renews: u32) -> u32 {
    match known.get(&hash) {
        Some((end, known)) if *end == renews => *known,
        _ => 0,
    }
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
