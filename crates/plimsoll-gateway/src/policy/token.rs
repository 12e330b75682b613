//! Tokens that somebody else has signed: the request must carry one, and is charged to the session of whoever it names.
//!
//! ```text
//! token --signature, times--> identity, policies --> the session of that identity --> rate, quota, access
//!                                                      ^ made when it is first seen, from the policies
//! ```
//!
//! One signature a request, and one look at the [`KeyStore`](crate::keys::KeyStore), which bounds how many sessions there are. Source: Tyk
//! 5.15, `gateway/mw_jwt.go` (`processCentralisedJWT`). Where it differs: a session has the policies that the token in hand stands for, and
//! none that another token left behind; its name opens nothing by itself.

use super::key::strip_bearer;
use super::session::{Identified, SessionPolicy, Unwanted};
use crate::answering::answer::Answer;
use crate::clients::jwt::claims::{Claims, Nameless, Skews, Untimely};
use crate::clients::jwt::key::VerifyingKey;
use crate::clients::jwt::{self, Fault};
use crate::keys::KeyHash;
use crate::keys::grant::Policies;
use crate::keys::key::{Key, NewKey, Quotas, VIRTUAL};
use crate::keys::name::{self, Form};
use crate::keys::session::{self, Session};
use crate::keys::terms::Terms;
use plimsoll_base::document::Document;
use plimsoll_http::Fields;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How often a session is looked at that others change meanwhile.
const TRIES: usize = 8;

/// Demands of one API on tokens.
#[derive(Debug, Clone)]
pub(crate) struct TokenPolicy {
    pub(crate) session: SessionPolicy,
    pub(crate) rules: Arc<TokenRules>,
}

/// Claims that are read in a token, and the rules they are held against.
#[derive(Debug)]
pub(crate) struct TokenRules {
    pub(crate) key: VerifyingKey,
    pub(crate) skews: Skews,
    /// The claim that names whom the token is of; empty: `sub`.
    pub(crate) identity: String,
    /// The claim that names a policy; empty: none does.
    pub(crate) policy: String,
    /// Policies of tokens that name none. The first must be there.
    pub(crate) defaults: Vec<String>,
    /// Names of sessions.
    pub(crate) form: Form,
    /// Whether they are listed by what they are called, and not by a hash of it.
    pub(crate) listed: bool,
}

/// Why a request may not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The field is absent, empty or repeated.
    Missing,
    Token(Fault),
    Untimely(Untimely),
    Nameless(Nameless),
    /// It stands for no policy.
    NoPolicy,
    /// It stands for one that there is not, or not in this organisation.
    UnknownPolicy,
    /// There are as many sessions as there may be, or this one changes all the time.
    Busy,
    Session(Unwanted),
}

/// Who shows a token, and what it says.
#[derive(Debug)]
struct Bearer {
    name: String,
    identity: String,
    policies: Vec<String>,
    /// Seconds since 1970; 0: it does not say.
    expires: u32,
}

/// A session that was looked at.
enum SeenSession {
    /// It was charged.
    Fits(Result<Option<crate::keys::allowance::Left>, Unwanted>),
    /// It expires before the token.
    Early(u32),
    /// The policy that the token stands for first is there no more.
    Leaderless,
    /// It has other policies than the token stands for.
    Other(Arc<Terms>, Box<Map<String, Value>>),
}

impl TokenPolicy {
    /// Identifies a request and counts it. `now` is in nanoseconds since the gateway started.
    pub(crate) fn admit(&self, fields: &Fields, now: u64) -> Result<Identified, Refused> {
        let value = self.session.carried(fields).ok_or(Refused::Missing)?;
        self.pass(value, now)
    }

    /// Status and message for whoever shows this value of the field.
    fn pass(&self, value: &[u8], now: u64) -> Result<Identified, Refused> {
        let moment = self.session.moment(now);
        let bearer = self.bearer(value, moment.unix)?;
        let hash = KeyHash::of(bearer.name.as_bytes());
        let keys = &self.session.keys;
        for _ in 0..TRIES {
            let look = |key: &Key| self.look(key, &bearer, moment);
            match keys.with(hash, look).flatten() {
                Some(SeenSession::Fits(judged)) => {
                    let left = judged.map_err(Refused::Session)?;
                    return Ok(self.session.identified(hash, left));
                }
                Some(SeenSession::Leaderless) => return Err(Refused::UnknownPolicy),
                Some(SeenSession::Early(expires)) => {
                    keys.put_off(hash, expires.max(bearer.expires));
                }
                Some(SeenSession::Other(terms, session)) => {
                    let session = self.changed(*session, &bearer)?;
                    let is_same =
                        |key: Option<&Key>| key.is_some_and(|key| Arc::ptr_eq(key.terms(), &terms));
                    let key = self.key(hash, &bearer, session, moment.unix);
                    // Where somebody was faster, it is looked at again.
                    let put = keys.put_if(key, Quotas::Keep, is_same);
                    put.map_err(|_| Refused::Busy)?;
                }
                None => {
                    let session = self.first(&bearer, moment.unix)?;
                    let is_none =
                        |key: Option<&Key>| key.is_none_or(|key| key.has_left(moment.unix));
                    let key = self.key(hash, &bearer, session, moment.unix);
                    // Others may have let it in before.
                    let put = keys.put_if(key, Quotas::Keep, is_none);
                    put.map_err(|_| Refused::Busy)?;
                }
            }
        }
        Err(Refused::Busy)
    }

    /// Who that is.
    fn bearer(&self, value: &[u8], now: u32) -> Result<Bearer, Refused> {
        if value.is_empty() {
            return Err(Refused::Missing);
        }
        let claims = jwt::verify(strip_bearer(value), &self.rules.key).map_err(Refused::Token)?;
        claims
            .check(now, self.rules.skews)
            .map_err(Refused::Untimely)?;
        let identity = claims.identity(&self.rules.identity);
        let identity = identity.map_err(Refused::Nameless)?.to_owned();
        let organisation = &*self.session.organisation;
        let id = format!("{:032x}", u128::from_be_bytes(md5(identity.as_bytes())));
        // Tyk tells no name twice.
        let id = id.strip_prefix(organisation).unwrap_or(&id);
        Ok(Bearer {
            name: name::name(organisation, id, self.rules.form),
            policies: self.policies(&claims)?,
            expires: claims.expires(),
            identity,
        })
    }

    /// The policies that a token stands for.
    fn policies(&self, claims: &Claims) -> Result<Vec<String>, Refused> {
        let named = match &*self.rules.policy {
            "" => None,
            claim => claims.text(claim),
        };
        match named {
            Some(policy) => Ok(vec![policy.to_owned()]),
            None if self.rules.defaults.is_empty() => Err(Refused::NoPolicy),
            None => Ok(self.rules.defaults.clone()),
        }
    }

    /// `None`: it is there no more.
    fn look(
        &self,
        key: &Key,
        bearer: &Bearer,
        now: crate::keys::allowance::Moment,
    ) -> Option<SeenSession> {
        if key.has_left(now.unix) {
            return None;
        }
        if key.policies() != bearer.policies {
            let session = Box::new(key.shared());
            return Some(SeenSession::Other(Arc::clone(key.terms()), session));
        }
        if key.expires < bearer.expires {
            return Some(SeenSession::Early(key.expires));
        }
        if !key.effective().has_first {
            return Some(SeenSession::Leaderless);
        }
        Some(SeenSession::Fits(self.session.judge(key, now)))
    }

    /// The session of somebody who was never seen.
    fn first(&self, bearer: &Bearer, now: u32) -> Result<Session, Refused> {
        let policies = self.session.keys.policies();
        let lives = self.base(bearer, &policies)?;
        let expires = match lives {
            0 => 0,
            lives => now.saturating_add(lives),
        };
        // What the first policy says holds where the others, or its own parts, say nothing.
        let first = bearer.policies.first().and_then(|name| policies.get(name));
        let figures = first.map(|policy| policy.grant.figures).unwrap_or_default();
        let session = json!({
            "rate": figures.rate,
            "per": figures.per,
            "quota_max": figures.quota_max,
            "quota_renewal_rate": figures.quota_renewal,
            "throttle_interval": figures.unapplied.throttle_interval,
            "throttle_retry_limit": figures.unapplied.throttle_retries,
            "max_query_depth": figures.unapplied.query_depth,
            "org_id": self.session.organisation,
            "apply_policies": bearer.policies,
            "alias": bearer.identity,
            "meta_data": { VIRTUAL: bearer.name },
        });
        self.read(&session, expires, bearer)
    }

    /// The session of somebody whose token stands for other policies now; its other fields stay.
    fn changed(
        &self,
        mut session: Map<String, Value>,
        bearer: &Bearer,
    ) -> Result<Session, Refused> {
        let none = |name: &str| {
            session
                .get(name)
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty)
        };
        let old = session.get("apply_policy_id").and_then(Value::as_str);
        if none("apply_policies") && old.unwrap_or_default().is_empty() {
            // Somebody took its policies away.
            return Err(Refused::NoPolicy);
        }
        self.base(bearer, &self.session.keys.policies())?;
        session.remove("apply_policy_id");
        session.insert("apply_policies".to_owned(), json!(bearer.policies));
        let expires = session.get("expires").and_then(Value::as_u64).unwrap_or(0);
        let expires = u32::try_from(expires).unwrap_or(u32::MAX);
        self.read(&Value::Object(session), expires, bearer)
    }

    /// For how many seconds sessions live by the policy that a token stands for first; 0: for ever. It must be there, and be this
    /// organisation's.
    fn base(&self, bearer: &Bearer, policies: &Policies) -> Result<u32, Refused> {
        let first = bearer.policies.first().and_then(|name| policies.get(name));
        let ours = first.filter(|policy| *policy.organisation == *self.session.organisation);
        ours.map(|policy| policy.key_expires_in)
            .ok_or(Refused::UnknownPolicy)
    }

    fn read(&self, session: &Value, expires: u32, bearer: &Bearer) -> Result<Session, Refused> {
        let document = Document::parse_json("session", &session.to_string());
        let session = document.and_then(session::read);
        let mut session = session.map_err(|_| Refused::UnknownPolicy)?;
        session.expires = expires.max(bearer.expires);
        // It does not leave, whatever lifetimes say: the next token would make it anew, and what it has spent is not forgotten in Tyk either.
        session.leaves = None;
        Ok(session)
    }

    fn key(&self, hash: KeyHash, bearer: &Bearer, session: Session, now: u32) -> NewKey {
        NewKey {
            hash,
            plain: self.rules.listed.then(|| bearer.name.clone()),
            session,
            now,
        }
    }

    /// Message for the client: Tyk's words, as there are tokens in Tyk's files alone.
    pub(crate) fn answer(&self, refused: Refused) -> Answer {
        let denied = |why: &str| format!("Key not authorized: {why}");
        match refused {
            Refused::Missing => Answer::new(400, "Authorization field missing"),
            Refused::Token(Fault::Invalid) => Answer::new(403, "Key not authorized"),
            Refused::Token(Fault::Algorithm) => {
                Answer::new(403, denied("Unexpected signing method"))
            }
            Refused::Untimely(why) => Answer::new(401, denied(&why.to_string()))
                .with_field("WWW-Authenticate", "Bearer".to_owned()),
            Refused::Nameless(why) => Answer::new(403, why.to_string()),
            Refused::NoPolicy => Answer::new(403, "key not authorized: no matching policy found"),
            Refused::UnknownPolicy => Answer::new(403, "key not authorized: no matching policy"),
            Refused::Busy => Answer::new(503, "there is no room for another session"),
            Refused::Session(unwanted) => self.session.answer(unwanted),
        }
    }
}

/// Names are made of it, and nothing is kept secret by it.
fn md5(text: &[u8]) -> [u8; 16] {
    use ::md5::Digest as _;
    ::md5::Md5::digest(text).into()
}

impl Refused {
    /// Whether a limit is met, and nothing is wrong with the token.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Session(unwanted) if unwanted.is_limit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::jwt::key::Method;
    use crate::keys::allowance::Exceeded;
    use crate::keys::grant::{Figures, Grant, PolicyGrant};
    use crate::keys::{KeyStore, Limits};
    use crate::policy::session::Counts;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::hmac;

    /// When the gateway starts, in seconds since 1970.
    const START: u64 = 1_700_000_000;

    /// Tokens of one request per hour for the API `a`, of at most so many people.
    fn policy(keys: usize) -> TokenPolicy {
        let store = KeyStore::new(Limits { keys });
        let granted = |key_expires_in| PolicyGrant {
            grant: Grant {
                figures: Figures {
                    rate: 1.0,
                    per: 3600.0,
                    ..Figures::default()
                },
                access: vec![("a".to_owned(), Default::default())],
                ..Grant::default()
            },
            organisation: "default".to_owned(),
            key_expires_in,
            ..PolicyGrant::default()
        };
        let policies = [("short", granted(10)), ("long", granted(0))];
        store.set_policies(policies.map(|(name, p)| (name.to_owned(), p)).into());
        TokenPolicy {
            session: SessionPolicy {
                header: "Authorization".to_owned(),
                api: "a".into(),
                organisation: "default".into(),
                shortest: 3,
                keys: Arc::new(store),
                counts: Counts {
                    rate: true,
                    quota: true,
                },
                started: START * 1_000_000_000,
            },
            rules: Arc::new(TokenRules {
                key: VerifyingKey::new(Method::Hmac, b"secret").unwrap(),
                skews: Skews {
                    expires: 60,
                    ..Skews::default()
                },
                identity: String::new(),
                policy: "pol".to_owned(),
                defaults: vec!["long".to_owned()],
                form: Form::Plain,
                listed: true,
            }),
        }
    }

    /// Outcome of a token with these claims, so many seconds after the start.
    fn told(policy: &TokenPolicy, claims: Value, after: u64) -> &'static str {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let message = format!(
            "{}.{}",
            part(r#"{"alg":"HS256"}"#),
            part(&claims.to_string())
        );
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes()));
        let token = format!("Bearer {message}.{signature}");
        match policy.pass(token.as_bytes(), after * 1_000_000_000) {
            Ok(_) => "passes",
            Err(Refused::Session(Unwanted::Exceeded(Exceeded::Rate { .. }))) => "rate",
            Err(Refused::Session(Unwanted::Exceeded(Exceeded::Quota { .. }))) => "quota",
            Err(Refused::Session(Unwanted::Expired)) => "session expired",
            Err(Refused::Untimely(Untimely::Expired)) => "token expired",
            Err(Refused::UnknownPolicy) => "unknown policy",
            Err(Refused::Busy) => "busy",
            Err(refused) => unreachable!("{refused:?}"),
        }
    }

    #[test]
    fn a_session_lives_as_long_as_its_policy_or_its_longest_token() {
        let policy = policy(9);
        let short = || json!({ "sub": "ada", "pol": "short" });
        assert_eq!(told(&policy, short(), 0), "passes");
        assert_eq!(told(&policy, short(), 9), "rate");
        assert_eq!(told(&policy, short(), 10), "session expired");
        let until = |seconds: u64| json!({ "sub": "ada", "pol": "short", "exp": START + seconds });
        assert_eq!(told(&policy, until(20), 11), "rate");
        assert_eq!(told(&policy, short(), 19), "rate");
        assert_eq!(told(&policy, until(15), 19), "rate");
        assert_eq!(told(&policy, until(20), 20), "session expired");
        assert_eq!(told(&policy, until(20), 80), "token expired");
        assert_eq!(told(&policy, until(5_000), 4_000), "passes");
        let other = json!({ "sub": "ada", "pol": "long" });
        assert_eq!(told(&policy, other.clone(), 4_001), "rate");
        assert_eq!(told(&policy, other, 5_000), "session expired");
    }

    #[test]
    fn what_the_first_policy_says_holds_where_its_parts_say_nothing() {
        let policy = policy(9);
        let mut policies = (*policy.session.keys.policies()).clone();
        let parts = |rate, quota| crate::keys::grant::Parts {
            rate,
            quota,
            access: true,
            complexity: false,
        };
        for (name, parts) in [
            ("access", parts(false, false)),
            ("rate", parts(true, false)),
            ("quota", parts(false, true)),
        ] {
            let mut granted = policies["long"].clone();
            granted.parts = parts;
            policies.insert(name.to_owned(), granted);
        }
        policy.session.keys.set_policies(policies);
        for name in ["access", "rate", "quota"] {
            let of = |name: &str| json!({ "sub": name, "pol": name });
            assert_eq!(told(&policy, of(name), 0), "passes", "{name}");
            assert_eq!(told(&policy, of(name), 1), "rate", "{name}");
        }
    }

    #[test]
    fn who_has_spent_a_quota_is_not_forgotten_before_it_is_renewed() {
        let policy = policy(1);
        let mut policies = (*policy.session.keys.policies()).clone();
        let mut granted = policies["short"].clone();
        granted.grant.figures = Figures {
            quota_max: 1,
            quota_renewal: 1_000_000,
            ..Figures::default()
        };
        policies.insert("short".to_owned(), granted);
        policy.session.keys.set_policies(policies);
        let until = |seconds: u64| json!({ "sub": "ada", "pol": "short", "exp": START + seconds });
        assert_eq!(told(&policy, until(5), 0), "passes");
        // Long after it has expired, and where somebody else wants its room.
        let days = |days: u64| days * 86_400;
        for after in [1, days(3), days(11)] {
            let unix = u32::try_from(START + after).unwrap();
            (0..10_000).for_each(|_| policy.session.keys.sweep(unix));
            assert_eq!(
                told(&policy, json!({ "sub": "grace", "pol": "short" }), after),
                "busy"
            );
            assert_eq!(told(&policy, until(after + 5), after), "quota");
        }
        assert_eq!(told(&policy, until(days(12) + 5), days(12)), "passes");
    }

    #[test]
    fn a_known_session_opens_nothing_when_its_first_policy_is_gone() {
        let mut policy = policy(9);
        let rules = Arc::get_mut(&mut policy.rules).unwrap();
        rules.defaults = vec!["short".to_owned(), "long".to_owned()];
        let ada = || json!({ "sub": "ada" });
        assert_eq!(told(&policy, ada(), 0), "passes");
        let mut policies = (*policy.session.keys.policies()).clone();
        policies.remove("short");
        policy.session.keys.set_policies(policies);
        assert_eq!(told(&policy, ada(), 1), "unknown policy");
    }

    #[test]
    fn there_are_as_many_sessions_as_keys_and_none_for_nothing() {
        let policy = policy(1);
        let of = |name: &str, policy: &str| json!({ "sub": name, "pol": policy });
        assert_eq!(told(&policy, of("ada", "none"), 0), "unknown policy");
        assert_eq!(policy.session.keys.len(), 0);
        assert_eq!(told(&policy, of("ada", "long"), 0), "passes");
        assert_eq!(told(&policy, of("grace", "long"), 0), "busy");
        assert_eq!(told(&policy, of("ada", "none"), 0), "unknown policy");
        assert_eq!(told(&policy, of("ada", "long"), 0), "rate");
        let name = "default8c8d357b5e872bbacd45197626bd5759";
        assert_eq!(policy.session.keys.list(0), [name]);
    }
}
