//! How long a key is there at all, whether it has expired or not.
//!
//! Counted from the moment at which the key is made or changed; afterwards it is as unknown as one that never was. Source: Tyk 5.15,
//! `user/session.go` (`Lifetime`, `calculatePostExpiryLifetime`) and `gateway/api.go` (`ApplyLifetime`). Where it differs: Tyk counts
//! anew with every request that is charged to a quota.

use std::collections::HashMap;

/// Lifetimes of all keys, and of each API's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lifetimes {
    /// `force_global_session_lifetime` with `global_session_lifetime`, in seconds.
    pub(crate) forced: Option<i64>,
    /// `session_lifetime_respects_key_expiration` of `tyk.conf`.
    pub(crate) respects_expiry: bool,
    pub(crate) apis: HashMap<String, ApiLifetime>,
}

/// Lifetime by a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ApiLifetime {
    /// `session_lifetime`, in seconds; 0 and below: it says nothing.
    pub(crate) seconds: i64,
    pub(crate) respects_expiry: bool,
}

/// Lifetime by a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyLifetime {
    /// `session_lifetime`, in seconds; 0 and below: it says nothing.
    pub(crate) seconds: i64,
    /// Seconds since 1970; 0 and below: never.
    pub(crate) expires: i64,
    pub(crate) after_expiry: AfterExpiry,
}

/// Fate of a key that has expired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AfterExpiry {
    /// As the lifetimes say.
    #[default]
    Unsaid,
    Delete,
    /// For so many seconds; -1: for ever. Not 0.
    Retain(i64),
}

impl AfterExpiry {
    /// As `post_expiry_action` and `post_expiry_grace_period` say it.
    pub(crate) fn parse(action: &str, grace: i64) -> Option<Self> {
        match (action, grace) {
            ("" | "retain", 0) | ("", _) => Some(Self::Unsaid),
            ("delete", _) => Some(Self::Delete),
            ("retain", grace) if grace >= -1 => Some(Self::Retain(grace)),
            _ => None,
        }
    }
}

impl Lifetimes {
    /// When a key that opens these APIs (`None`: all) leaves, in seconds since 1970; `None`: never.
    pub(crate) fn leaves(
        &self,
        key: KeyLifetime,
        opens: Option<&[String]>,
        now: u32,
    ) -> Option<u32> {
        let apis: Vec<&ApiLifetime> = match opens {
            Some(opens) => opens.iter().filter_map(|api| self.apis.get(api)).collect(),
            None => self.apis.values().collect(),
        };
        let each = apis.into_iter().map(|api| self.seconds(key, *api, now));
        let mut longest = 0;
        for seconds in each {
            if seconds == -1 {
                return None;
            }
            longest = seconds.max(longest);
        }
        let at = i64::from(now).saturating_add(longest);
        (longest > 0).then(|| u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// -1: for ever; 0: nobody says.
    fn seconds(&self, key: KeyLifetime, api: ApiLifetime, now: u32) -> i64 {
        if let Some(forced) = self.forced {
            return forced;
        }
        let left = key.expires - i64::from(now);
        let grace = match key.after_expiry {
            AfterExpiry::Unsaid => {
                let says = |seconds: i64| (seconds > 0).then_some(seconds);
                let lifetime = says(key.seconds).or(says(api.seconds)).unwrap_or(0);
                let respects = self.respects_expiry || api.respects_expiry;
                return match lifetime {
                    0 => 0,
                    lifetime if !respects => lifetime,
                    _ if key.expires <= 0 => key.expires,
                    lifetime => lifetime.max(left),
                };
            }
            _ if key.expires <= 0 => return 0,
            AfterExpiry::Retain(-1) => return -1,
            AfterExpiry::Delete => 0,
            AfterExpiry::Retain(grace) => grace,
        };
        left.saturating_add(grace).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u32 = 1_000;

    fn check(lifetimes: &Lifetimes, key: KeyLifetime, opens: &[&str], expected: Option<u32>) {
        let opens: Vec<String> = opens.iter().map(|&api| api.to_owned()).collect();
        let actual = lifetimes.leaves(key, Some(&opens), NOW);
        assert_eq!(actual, expected, "{key:?} {opens:?}");
    }

    fn api(seconds: i64, respects_expiry: bool) -> ApiLifetime {
        ApiLifetime {
            seconds,
            respects_expiry,
        }
    }

    fn lifetimes() -> Lifetimes {
        let apis = [
            ("none", api(0, false)),
            ("short", api(5, false)),
            ("long", api(50, false)),
            ("respectful", api(5, true)),
        ];
        Lifetimes {
            apis: apis.map(|(name, api)| (name.to_owned(), api)).into(),
            ..Lifetimes::default()
        }
    }

    #[test]
    fn the_longest_of_what_a_key_opens_counts() {
        let plain = KeyLifetime::default();
        check(&lifetimes(), plain, &["none"], None);
        check(&lifetimes(), plain, &["short"], Some(1_005));
        check(&lifetimes(), plain, &["short", "long", "none"], Some(1_050));
        check(&lifetimes(), plain, &["elsewhere"], None);
        assert_eq!(lifetimes().leaves(plain, None, NOW), Some(1_050));
        let own = KeyLifetime {
            seconds: 7,
            ..plain
        };
        check(&lifetimes(), own, &["short", "long"], Some(1_007));
        check(&lifetimes(), own, &["none"], Some(1_007));
        check(&lifetimes(), own, &["elsewhere"], None);
    }

    #[test]
    fn a_forced_lifetime_is_everybodys() {
        let forced = |seconds| Lifetimes {
            forced: Some(seconds),
            ..lifetimes()
        };
        let own = KeyLifetime {
            seconds: 7,
            ..KeyLifetime::default()
        };
        check(&forced(100), own, &["short"], Some(1_100));
        check(&forced(-1), own, &["short"], None);
        check(&forced(0), own, &["short"], None);
        check(&forced(100), own, &["elsewhere"], None);
    }

    #[test]
    fn expiry_may_have_a_say() {
        let expiring = |expires, after_expiry| KeyLifetime {
            expires,
            after_expiry,
            ..KeyLifetime::default()
        };
        let unsaid = |expires| expiring(expires, AfterExpiry::Unsaid);
        check(&lifetimes(), unsaid(1_020), &["respectful"], Some(1_020));
        check(&lifetimes(), unsaid(1_002), &["respectful"], Some(1_005));
        check(&lifetimes(), unsaid(-1), &["respectful"], None);
        check(&lifetimes(), unsaid(1_020), &["short"], Some(1_005));
        let delete = |expires| expiring(expires, AfterExpiry::Delete);
        check(&lifetimes(), delete(1_020), &["short"], Some(1_020));
        check(&lifetimes(), delete(900), &["short"], Some(1_001));
        check(&lifetimes(), delete(0), &["short"], None);
        let retain = |grace| expiring(1_020, AfterExpiry::Retain(grace));
        check(&lifetimes(), retain(30), &["short"], Some(1_050));
        check(&lifetimes(), retain(-1), &["short", "long"], None);
        for (action, grace, expected) in [
            ("", 9, Some(AfterExpiry::Unsaid)),
            ("retain", 0, Some(AfterExpiry::Unsaid)),
            ("retain", 9, Some(AfterExpiry::Retain(9))),
            ("delete", 9, Some(AfterExpiry::Delete)),
            ("retain", -2, None),
            ("keep", 0, None),
        ] {
            assert_eq!(
                AfterExpiry::parse(action, grace),
                expected,
                "{action} {grace}"
            );
        }
    }
}
