//! AWS Secrets Manager: the call of `GetSecretValue`, and what its answers mean.
//!
//! Source: AWS Secrets Manager API Reference, `GetSecretValue` and "Common Errors"; the protocol is JSON 1.1 over a POST.

use crate::bounds::{ANSWER, PATIENCE};
use crate::credentials;
use crate::reference::Source;
use crate::sigv4::{Field, Signer, sign};
use plimsoll_http::{Answer, Call, call};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Characters of a message of AWS' that are passed on.
const MESSAGE: usize = 300;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It has been refused: asking again at once changes nothing.
    Refused(String),
    /// The API cannot be reached, or does not manage.
    Away(String),
    /// There is a value, and it cannot be used.
    Unusable(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(why) | Self::Away(why) | Self::Unusable(why)) = self;
        f.write_str(why)
    }
}

/// Asks for the current version of a secret; `now` is the time of day since 1970.
pub(crate) async fn get(
    source: &Source,
    credentials: &credentials::Source,
    authorities: Option<&str>,
    now: Duration,
) -> Result<Arc<str>, Failure> {
    let known = credentials.now().await.map_err(Failure::Away)?;
    let body = json!({ "SecretId": source.secret }).to_string();
    let signer = Signer {
        access_key: &known.access_key,
        secret_key: &known.secret_key,
        session_token: known.session_token.as_deref(),
        region: &source.region,
        service: "secretsmanager",
    };
    let url = &source.endpoint;
    let mut fields: Vec<Field> = vec![
        ("Content-Type", "application/x-amz-json-1.1".to_owned()),
        ("X-Amz-Target", "secretsmanager.GetSecretValue".to_owned()),
    ];
    let mut signed = fields.clone();
    signed.push(("Host", url.authority.clone()));
    fields.extend(sign(signer, &signed, body.as_bytes(), now));
    let request = Call {
        method: "POST",
        url,
        fields: &fields,
        body: body.as_bytes(),
        authorities,
        patience: PATIENCE,
        limits: ANSWER,
    };
    let answer = call(&request)
        .await
        .map_err(|why| Failure::Away(format!("{} is not in reach: {why}", url.origin())))?;
    read(source, &answer)
}

fn read(source: &Source, answer: &Answer) -> Result<Arc<str>, Failure> {
    let whole = answer.body.as_deref().ok_or_else(|| {
        let origin = source.endpoint.origin();
        Failure::Away(format!("{origin} breaks off its answer"))
    })?;
    let told: Value = serde_json::from_slice(whole).unwrap_or_default();
    if answer.status != 200 {
        return Err(refusal(source, answer.status, &told));
    }
    match told.get("SecretString").and_then(Value::as_str) {
        Some(text) => Ok(text.into()),
        None if told.get("SecretBinary").is_some() => Err(Failure::Unusable(
            "it is binary: only secrets of text can be used".to_owned(),
        )),
        None => Err(Failure::Away(format!(
            "{} answers without a `SecretString`: is it Secrets Manager?",
            source.endpoint.origin()
        ))),
    }
}

/// Meaning of an error of the API. Its own words are passed on only where they cannot repeat what was sent: those about signatures do.
fn refusal(source: &Source, status: u16, told: &Value) -> Failure {
    let kind = told["__type"].as_str().unwrap_or_default();
    let kind = kind.rsplit('#').next().unwrap_or_default();
    let message = told["message"].as_str().or(told["Message"].as_str());
    let message: String = (message.unwrap_or_default().chars())
        .filter(|c| !c.is_control())
        .take(MESSAGE)
        .collect();
    let said = match message.as_str() {
        "" => String::new(),
        message => format!(" (it says: {message})"),
    };
    let region = &source.region;
    match (kind, status) {
        ("ResourceNotFoundException", _) => Failure::Refused(format!(
            "ResourceNotFoundException: there is no such secret in {region}: check its name and the region{said}"
        )),
        ("AccessDeniedException", _) => Failure::Refused(format!(
            "AccessDeniedException: these credentials may not read it: allow them `secretsmanager:GetSecretValue`{said}"
        )),
        ("DecryptionFailure", _) => Failure::Refused(format!(
            "DecryptionFailure: its key cannot be used: allow these credentials `kms:Decrypt`{said}"
        )),
        ("InvalidRequestException" | "InvalidParameterException", _) => {
            Failure::Refused(format!("{kind}{said}"))
        }
        (
            "UnrecognizedClientException"
            | "InvalidSignatureException"
            | "InvalidClientTokenId"
            | "ExpiredTokenException"
            | "ExpiredToken"
            | "IncompleteSignature"
            | "IncompleteSignatureException"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException"
            | "SignatureDoesNotMatch",
            _,
        ) => Failure::Refused(format!(
            "{kind}: the credentials are not accepted: check them, and this host's clock"
        )),
        ("ThrottlingException" | "Throttling" | "RequestLimitExceeded", _) | (_, 429 | 500..) => {
            Failure::Away(match kind {
                "" => format!("{} answers {status}", source.endpoint.origin()),
                kind => format!("{} answers {status}: {kind}", source.endpoint.origin()),
            })
        }
        ("", 403) => Failure::Refused(
            "403: the credentials are not accepted: check them, and this host's clock".to_owned(),
        ),
        ("", status) => Failure::Refused(format!(
            "{} answers {status}: is it Secrets Manager?",
            source.endpoint.origin()
        )),
        (kind, _) => {
            let known = kind.chars().all(|c| c.is_ascii_alphanumeric());
            let kind = if known {
                kind
            } else {
                "an error without a name"
            };
            Failure::Refused(format!("{status}: {kind}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_http::Url;

    fn source() -> Source {
        Source {
            secret: "prod/api".to_owned(),
            region: "eu-central-1".to_owned(),
            endpoint: Url::parse("https://secretsmanager.eu-central-1.amazonaws.com").unwrap(),
        }
    }

    fn told(status: u16, body: &str) -> Result<Arc<str>, Failure> {
        let body = Some(body.as_bytes().to_vec());
        read(&source(), &Answer { status, body })
    }

    #[test]
    fn a_value_is_the_secrets_text() {
        let value =
            r#"{"ARN":"arn","Name":"prod/api","SecretString":"x","VersionStages":["AWSCURRENT"]}"#;
        assert_eq!(told(200, value).unwrap().as_ref(), "x");
        let binary = told(200, r#"{"SecretBinary":"eA=="}"#).unwrap_err();
        assert_eq!(
            binary.to_string(),
            "it is binary: only secrets of text can be used"
        );
        assert!(matches!(told(200, "<html>"), Err(Failure::Away(_))));
    }

    #[test]
    fn errors_say_plainly_what_is_wrong() {
        let check = |status: u16, kind: &str, final_one: bool, expected: &str| {
            let body = json!({ "__type": kind, "Message": "words of \u{7}AWS" }).to_string();
            let failure = told(status, &body).unwrap_err();
            assert_eq!(matches!(failure, Failure::Refused(_)), final_one, "{kind}");
            assert_eq!(failure.to_string(), expected);
        };
        check(
            400,
            "com.amazonaws.secretsmanager#ResourceNotFoundException",
            true,
            "ResourceNotFoundException: there is no such secret in eu-central-1: check its name and the region (it says: words of AWS)",
        );
        check(
            400,
            "AccessDeniedException",
            true,
            "AccessDeniedException: these credentials may not read it: allow them `secretsmanager:GetSecretValue` (it says: words of AWS)",
        );
        check(
            403,
            "InvalidSignatureException",
            true,
            "InvalidSignatureException: the credentials are not accepted: check them, and this host's clock",
        );
        check(
            400,
            "ThrottlingException",
            false,
            "https://secretsmanager.eu-central-1.amazonaws.com answers 400: ThrottlingException",
        );
        check(
            500,
            "InternalServiceError",
            false,
            "https://secretsmanager.eu-central-1.amazonaws.com answers 500: InternalServiceError",
        );
        check(400, "a \"b\"", true, "400: an error without a name");
        assert_eq!(
            told(403, "").unwrap_err().to_string(),
            "403: the credentials are not accepted: check them, and this host's clock"
        );
    }
}
