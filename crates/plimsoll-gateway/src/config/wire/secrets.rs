//! A secret as it is written: the text itself, or where it is kept; and how those of AWS are kept fresh.

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use plimsoll_base::document::{DurationText, Text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::fmt;

/// A secret.
pub(crate) enum SecretText {
    /// The text itself.
    Plain(String),
    /// It is kept elsewhere.
    Elsewhere(ElsewhereBlock),
}

impl<E: DeserializeError> Deserr<E> for SecretText {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        at: ValuePointerRef<'_>,
    ) -> Result<Self, E> {
        match value {
            map @ Value::Map(_) => {
                ElsewhereBlock::deserialize_from_value(map, at).map(Self::Elsewhere)
            }
            other => Text::deserialize_from_value(other, at).map(|Text(text)| Self::Plain(text)),
        }
    }
}

impl JsonSchema for SecretText {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let elsewhere = generator.subschema_for::<ElsewhereBlock>();
        json_schema!({
            "description": "The text itself, or where it is kept: `{ file: … }`, `{ env: … }` or `{ aws: { secret: … } }`.",
            "anyOf": [{ "type": ["string", "integer"] }, elsewhere]
        })
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("***"),
            Self::Elsewhere(block) => block.fmt(f),
        }
    }
}

/// Where a secret is kept. Exactly one of `file`, `env` and `aws`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ElsewhereBlock {
    /// A file, looked for where the configuration is and read anew at each reload. A line end at its end is no part of the secret.
    #[deserr(default)]
    pub(crate) file: Option<String>,
    /// A variable of the gateway's environment.
    #[deserr(default)]
    pub(crate) env: Option<String>,
    /// AWS Secrets Manager. It is asked before a value expires, never while a request waits.
    #[deserr(default)]
    pub(crate) aws: Option<AwsBlock>,
}

/// A secret of AWS Secrets Manager, in its current version.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(crate) struct AwsBlock {
    /// Its name or ARN; an ARN names its region, too.
    pub(crate) secret: String,
    /// The secret is a JSON object, and this member of it is meant.
    #[deserr(default)]
    pub(crate) key: Option<String>,
}

/// How secrets of AWS are kept fresh.
#[derive(Debug, Default, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SecretsBlock {
    /// The region of secrets that are not named by an ARN (default: `AWS_REGION` or `AWS_DEFAULT_REGION` of the environment).
    #[deserr(default)]
    pub(crate) region: Option<String>,
    /// Where the API is (default: `AWS_ENDPOINT_URL_SECRETS_MANAGER` of the environment, else AWS' own of the region). In clear on
    /// loopback alone, unless `clear` says otherwise.
    #[deserr(default)]
    pub(crate) endpoint: Option<String>,
    /// Allow `http://` to an endpoint that is not on loopback: credentials' signatures and secrets are seen on the way.
    #[deserr(default)]
    #[schemars(default)]
    pub(crate) clear: bool,
    /// File of the authorities that the endpoint's certificate must come from (PEM), in place of the host's own.
    #[deserr(default)]
    pub(crate) ca: Option<String>,
    /// With what calls are signed (default: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` of the environment, else
    /// the container's host by `AWS_CONTAINER_CREDENTIALS_FULL_URI` or `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`).
    #[deserr(default)]
    pub(crate) credentials: Option<CredentialsBlock>,
    /// How long a value is good (default 5m). It is asked for again after three to four fifths of this.
    #[deserr(default)]
    pub(crate) ttl: Option<DurationText>,
    /// How much longer a value is used while no newer one can be had (default 1h); then it is withheld.
    #[deserr(default)]
    pub(crate) stale: Option<DurationText>,
    /// How long the first values are waited for at start and at a reload (default 10s).
    #[deserr(default)]
    pub(crate) wait: Option<DurationText>,
}

/// Credentials of AWS.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CredentialsBlock {
    /// The access key's id.
    pub(crate) access_key: SecretText,
    /// The secret access key.
    pub(crate) secret_key: SecretText,
    /// The session token of temporary credentials.
    #[deserr(default)]
    pub(crate) session_token: Option<SecretText>,
}
