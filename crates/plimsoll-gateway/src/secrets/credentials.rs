//! With what calls are signed: credentials that were read with the configuration, or those that a container's host hands out.

use super::Secret;
use super::call::{Call, call};
use plimsoll_http::Url;
use serde_json::Value;
use std::sync::Arc;

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The configuration, its files, or the environment.
    Known(Credentials),
    /// The container's host: asked before each call, as they are short-lived.
    Container {
        url: Url,
        /// What `Authorization` says to it.
        token: Option<Secret>,
    },
}

/// Credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) access_key: Secret,
    pub(crate) secret_key: Secret,
    pub(crate) session_token: Option<Secret>,
}

/// Credentials as they are now, in plain text.
pub(super) struct Plain {
    pub(super) access_key: Arc<str>,
    pub(super) secret_key: Arc<str>,
    pub(super) session_token: Option<Arc<str>>,
}

impl Source {
    /// The credentials for a call, or why there are none.
    pub(super) async fn now(&self) -> Result<Plain, String> {
        match self {
            Self::Known(known) => known.plain(),
            Self::Container { url, token } => {
                let token = token.as_ref().and_then(Secret::reveal);
                ask_host(url, token.as_deref())
                    .await
                    .map_err(|why| format!("the container's credentials: {why}"))
            }
        }
    }
}

impl Credentials {
    fn plain(&self) -> Result<Plain, String> {
        let read = |secret: &Secret| secret.reveal().ok_or("a credential is withheld");
        Ok(Plain {
            access_key: read(&self.access_key)?,
            secret_key: read(&self.secret_key)?,
            session_token: self.session_token.as_ref().map(read).transpose()?,
        })
    }
}

/// Asks the container's host, as AWS' SDKs do ("Container credential provider", AWS SDKs and Tools Reference Guide).
async fn ask_host(url: &Url, token: Option<&str>) -> Result<Plain, String> {
    let fields: Vec<_> = (token.iter())
        .map(|token| ("Authorization", (*token).to_owned()))
        .collect();
    let answer = call(&Call {
        method: "GET",
        url,
        fields: &fields,
        body: &[],
        authorities: None,
    })
    .await?;
    if answer.status != 200 {
        return Err(format!("{} answers {}", url.authority, answer.status));
    }
    let told: Value = serde_json::from_slice(&answer.body)
        .map_err(|_| format!("{} does not answer with JSON", url.authority))?;
    let part = |name: &str| told.get(name).and_then(Value::as_str).map(Arc::from);
    let missing = |name: &str| format!("{} does not say `{name}`", url.authority);
    Ok(Plain {
        access_key: part("AccessKeyId").ok_or_else(|| missing("AccessKeyId"))?,
        secret_key: part("SecretAccessKey").ok_or_else(|| missing("SecretAccessKey"))?,
        session_token: part("Token"),
    })
}
