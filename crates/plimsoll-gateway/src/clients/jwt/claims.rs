//! Claims of a token, once its signature is known to be right. Source: golang-jwt v4, `map_claims.go`, and Tyk 5.15, `gateway/mw_jwt.go`.

use serde_json::{Map, Value};

/// Seconds beyond which Go's own clock does not count: 2⁶³.
const BEYOND_COUNTING: f64 = 9_223_372_036_854_775_808.0;

/// The claims of a token.
#[derive(Debug)]
pub(crate) struct Claims(Map<String, Value>);

/// Seconds by which clocks may differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Skews {
    pub(crate) expires: u32,
    pub(crate) issued: u32,
    pub(crate) not_before: u32,
}

/// Why a token does not count now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untimely {
    #[error("token has expired")]
    Expired,
    #[error("token used before issued")]
    NotIssued,
    #[error("token is not valid yet")]
    TooEarly,
}

/// Why a token names nobody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nameless {
    #[error("no suitable claims for user ID were found")]
    None,
    #[error("found an empty user ID in sub claim")]
    EmptySubject,
    #[error("found an empty user ID in predefined base claim, claim: {0}")]
    EmptyClaim(String),
}

impl Claims {
    pub(super) fn new(claims: Map<String, Value>) -> Self {
        Self(claims)
    }

    /// Whether the token counts at `now`, in seconds since 1970. A time that is not there is none; one that is no number never comes.
    ///
    /// # Errors
    /// The last of what is wrong, as in Tyk.
    pub(crate) fn check(&self, now: u32, skews: Skews) -> Result<(), Untimely> {
        let now = f64::from(now);
        let holds = |name: &str, holds: &dyn Fn(f64) -> bool| match self.0.get(name) {
            None => true,
            // Zero is none, too.
            Some(Value::Number(time)) => time.as_f64().is_some_and(|time| {
                time == 0.0 || (time.abs() < BEYOND_COUNTING && holds(time.floor()))
            }),
            Some(_) => false,
        };
        let expires = f64::from(skews.expires);
        let (issued, not_before) = (f64::from(skews.issued), f64::from(skews.not_before));
        if !holds("nbf", &|time| now + not_before >= time) {
            return Err(Untimely::TooEarly);
        }
        if !holds("iat", &|time| now + issued >= time) {
            return Err(Untimely::NotIssued);
        }
        if !holds("exp", &|time| now - expires < time) {
            return Err(Untimely::Expired);
        }
        Ok(())
    }

    /// When the token expires, in seconds since 1970; 0: it does not say.
    pub(crate) fn expires(&self) -> u32 {
        let time = self.0.get("exp").and_then(Value::as_f64).unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates: before 1970 is 1970, after 2106 is 2106"
        )]
        let time = time as u32;
        time
    }

    /// Whom the token is of: by this claim, or where that is not there by `sub`.
    ///
    /// # Errors
    /// When neither names anybody.
    pub(crate) fn identity(&self, claim: &str) -> Result<&str, Nameless> {
        if !claim.is_empty() {
            if let Some(identity) = self.text(claim) {
                return Ok(identity);
            }
            let found = [self.0.get(claim), self.nested(claim)];
            if found.contains(&Some(&Value::String(String::new()))) {
                return Err(Nameless::EmptyClaim(claim.to_owned()));
            }
        }
        match self.0.get("sub").and_then(Value::as_str) {
            Some("") => Err(Nameless::EmptySubject),
            Some(subject) => Ok(subject),
            None => Err(Nameless::None),
        }
    }

    /// Text of a claim, if it has one: the claim of this name, or where there are dots the one at the end of this way.
    pub(crate) fn text(&self, claim: &str) -> Option<&str> {
        let says =
            |value: Option<&'_ Value>| value.and_then(Value::as_str).is_some_and(|t| !t.is_empty());
        let literal = self.0.get(claim);
        let found = match says(literal) {
            true => literal,
            false => self.nested(claim).filter(|value| says(Some(value))),
        };
        found.and_then(Value::as_str)
    }

    fn nested(&self, claim: &str) -> Option<&Value> {
        let (first, rest) = claim.split_once('.')?;
        let mut value = self.0.get(first)?;
        for name in rest.split('.') {
            value = value.as_object()?.get(name)?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claims(value: Value) -> Claims {
        match value {
            Value::Object(claims) => Claims::new(claims),
            _ => unreachable!("a test writes an object"),
        }
    }

    const NOW: u32 = 1_000;

    #[test]
    fn times_are_held_to_with_what_clocks_may_differ() {
        let check = |value: Value, skew: u32, expected: Result<(), Untimely>| {
            let skews = Skews {
                expires: skew,
                issued: skew,
                not_before: skew,
            };
            let actual = claims(value.clone()).check(NOW, skews);
            assert_eq!(actual, expected, "{value} {skew}");
        };
        let (expired, unissued, early) = (
            Err(Untimely::Expired),
            Err(Untimely::NotIssued),
            Err(Untimely::TooEarly),
        );
        check(json!({}), 0, Ok(()));
        check(
            json!({ "exp": 1_001, "iat": 1_000, "nbf": 1_000 }),
            0,
            Ok(()),
        );
        check(json!({ "exp": 1_000 }), 0, expired);
        check(json!({ "exp": 1_000.9 }), 0, expired);
        check(json!({ "exp": 991 }), 10, Ok(()));
        check(json!({ "exp": 990 }), 10, expired);
        check(json!({ "exp": 0, "iat": 0, "nbf": 0 }), 0, Ok(()));
        check(json!({ "exp": -1 }), 0, expired);
        check(json!({ "iat": 1_001 }), 0, unissued);
        check(json!({ "iat": 1_010 }), 10, Ok(()));
        check(json!({ "iat": 1_011 }), 10, unissued);
        check(json!({ "nbf": 1_001 }), 0, early);
        check(json!({ "nbf": 1_010 }), 10, Ok(()));
        check(json!({ "nbf": 1_011 }), 10, early);
        check(json!({ "exp": 1, "iat": 2_000, "nbf": 2_000 }), 0, early);
        check(json!({ "exp": 1, "iat": 2_000 }), 0, unissued);
        for wrong in [
            json!("2000"),
            json!(null),
            json!(true),
            json!([1]),
            json!(1e300),
        ] {
            check(json!({ "exp": wrong }), 0, expired);
        }
        check(json!({ "nbf": "1" }), 0, early);
        check(json!({ "iat": "1" }), 0, unissued);
    }

    #[test]
    fn a_token_is_of_whom_the_claim_names_or_its_subject() {
        let check = |claim: &str, value: Value, expected: &str| {
            let claims = claims(value.clone());
            let actual = claims.identity(claim);
            let actual = actual.map_or_else(|nameless| nameless.to_string(), str::to_owned);
            assert_eq!(actual, expected, "{claim} {value}");
        };
        check("", json!({ "sub": "a" }), "a");
        check("user", json!({ "sub": "a", "user": "b" }), "b");
        check("user", json!({ "sub": "a" }), "a");
        check("user", json!({ "sub": "a", "user": 7 }), "a");
        check("u.id", json!({ "sub": "a", "u": { "id": "b" } }), "b");
        check("u.id", json!({ "u": { "id": "b" }, "u.id": "c" }), "c");
        check("u.id", json!({ "sub": "a", "u": "id" }), "a");
        let empty = "found an empty user ID in predefined base claim, claim: ";
        check(
            "user",
            json!({ "sub": "a", "user": "" }),
            &format!("{empty}user"),
        );
        check(
            "u.id",
            json!({ "sub": "a", "u": { "id": "" } }),
            &format!("{empty}u.id"),
        );
        check(
            "",
            json!({ "sub": "" }),
            "found an empty user ID in sub claim",
        );
        let none = "no suitable claims for user ID were found";
        check("", json!({}), none);
        check("", json!({ "sub": 7 }), none);
    }

    #[test]
    fn an_expiry_is_a_number_of_seconds_that_can_be_kept() {
        for (value, expected) in [
            (json!({}), 0),
            (json!({ "exp": 1_700_000_000.9 }), 1_700_000_000),
            (json!({ "exp": 1e12 }), u32::MAX),
            (json!({ "exp": -5 }), 0),
            (json!({ "exp": "5" }), 0),
        ] {
            assert_eq!(claims(value.clone()).expires(), expected, "{value}");
        }
    }
}
