//! What keys have spent of their quotas, added up over all gateways.
//!
//! Each gateway counts for itself and hands on what it has counted since; what the others counted comes back. So a quota is exceeded by at
//! most what other gateways admit between two turns.

use super::talk::{Spending, Talk};
use crate::keys::store::Key;
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

    /// Hands on what was counted since, and takes over what others counted.
    pub(super) fn share(&mut self, talk: &mut Talk, keys: &KeyStore) -> RedisResult<()> {
        let mut spent = Vec::new();
        for hash in &self.touched {
            let look = |key: &Key| (key.spent(None).period(), key.forgotten_at());
            let Some(((renews, used), forgotten)) = keys.with(*hash, look) else {
                continue;
            };
            let known = match self.known.get(hash) {
                Some((end, known)) if *end == renews => *known,
                _ => 0,
            };
            spent.push(Spending {
                hash: *hash,
                used: used.saturating_sub(known),
                renews,
                forgotten,
            });
        }
        let sums = talk.add_spent(&spent)?;
        self.touched.clear();
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        for (spending, (sum, end)) in spent.into_iter().zip(sums) {
            let Spending {
                hash, used, renews, ..
            } = spending;
            let known = match self.known.get(&hash) {
                Some((end, known)) if *end == renews => *known,
                _ => 0,
            };
            let others = sum.saturating_sub(known).saturating_sub(used);
            let end = u32::try_from(end).unwrap_or(renews);
            keys.with(hash, |key| key.spent(None).add(renews, others, end));
            self.known.insert(hash, (end, sum));
        }
        Ok(())
    }
}
