//! A reference to a secret of AWS': where it is asked for, and what of it is wanted.

use plimsoll_http::Url;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A secret of AWS', and where it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name or ARN.
    pub secret: String,
    /// The region, which is signed for.
    pub region: String,
    /// Where Secrets Manager is called.
    pub endpoint: Url,
}

/// Wish of a place of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The secret.
    pub source: Source,
    /// The secret is a JSON object, of which this member is wanted.
    pub key: Option<String>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source.secret)?;
        self.key.iter().try_for_each(|key| write!(f, "#{key}"))
    }
}

impl Reference {
    /// Part of the secret's text that is meant. The reason why there is nothing does not show the text.
    pub(crate) fn pick(&self, text: &Arc<str>) -> Result<Arc<str>, String> {
        let Some(key) = &self.key else {
            return Ok(Arc::clone(text));
        };
        let Ok(Value::Object(members)) = serde_json::from_str(text) else {
            return Err(format!("it is not a JSON object, so it has no `{key}`"));
        };
        match members.get(key) {
            Some(Value::String(text)) => Ok(text.as_str().into()),
            Some(number @ Value::Number(_)) => Ok(number.to_string().into()),
            Some(_) => Err(format!("its `{key}` is not text")),
            None => Err(format!("it has no `{key}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source {
            secret: "prod/api".to_owned(),
            region: "eu-central-1".to_owned(),
            endpoint: Url::parse("https://secretsmanager.eu-central-1.amazonaws.com").unwrap(),
        }
    }

    #[test]
    fn a_member_of_an_object_is_picked() {
        let check = |key: Option<&str>, text: &str, expected: Result<&str, &str>| {
            let reference = Reference {
                source: source(),
                key: key.map(str::to_owned),
            };
            let picked = reference.pick(&text.into());
            let picked = picked.as_deref().map_err(String::as_str);
            assert_eq!(picked, expected);
        };
        check(None, "{\"a\":1}", Ok("{\"a\":1}"));
        check(Some("a"), "{\"a\":\"x\"}", Ok("x"));
        check(Some("a"), "{\"a\":5432}", Ok("5432"));
        check(Some("b"), "{\"a\":\"x\"}", Err("it has no `b`"));
        check(Some("a"), "{\"a\":[]}", Err("its `a` is not text"));
        check(
            Some("a"),
            "x",
            Err("it is not a JSON object, so it has no `a`"),
        );
    }
}
