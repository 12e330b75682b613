//! Toxiproxy's API, which our fault proxy has too: requests of JSON and their answers.

use plimsoll_http::{Call, Limits, Url, call};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// How long it may take over an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The API of a Toxiproxy, or of a proxy of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Api(String);

/// Why a request was not answered as it should have been.
#[derive(Debug)]
pub(crate) struct Refusal {
    request: String,
    /// The status of its answer, where there was one.
    pub(crate) status: Option<u16>,
    why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.map(|status| format!("{status}: "));
        write!(
            f,
            "{}: {}{}",
            self.request,
            status.unwrap_or_default(),
            self.why
        )
    }
}

impl Api {
    /// The API at this URL, `http://host:port`.
    pub(crate) fn at(url: &str) -> Self {
        Self(url.trim_end_matches('/').to_owned())
    }

    /// The host of its URL.
    ///
    /// # Errors
    /// That it is none.
    pub(crate) fn host(&self) -> Result<String, String> {
        Ok(Url::parse(&self.0)?.host)
    }

    /// The answer to a request; null for one without a body.
    ///
    /// # Errors
    /// [`Refusal`], also of an answer that is no success.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        path: &str,
        body: &Value,
    ) -> Result<Value, Refusal> {
        let refused = |status, why: String| Refusal {
            request: format!("{method} {path}"),
            status,
            why,
        };
        let url = Url::parse(&format!("{}{path}", self.0)).map_err(|why| refused(None, why))?;
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let asked = Call {
            method,
            url: &url,
            fields: &[],
            body: &body,
            authorities: None,
            patience: PATIENCE,
            limits: Limits::default(),
        };
        let answer = call(&asked).await.map_err(|why| refused(None, why))?;
        let (status, body) = (answer.status, answer.body.unwrap_or_default());
        match status {
            204 => Ok(Value::Null),
            200..300 => serde_json::from_slice(&body)
                .map_err(|error| refused(Some(status), error.to_string())),
            _ => {
                let said = String::from_utf8_lossy(&body).trim().to_owned();
                Err(refused(Some(status), said))
            }
        }
    }
}

/// A change of a proxy, which can be taken back: toxics of these names are added, or, where there are none, it is disabled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub(crate) api: Api,
    pub(crate) proxy: String,
    pub(crate) toxics: Vec<Value>,
}

impl Change {
    /// The proxy as its API has it.
    ///
    /// # Errors
    /// Why it is not to be had, in words.
    pub(crate) async fn proxy(&self) -> Result<Value, String> {
        let found = self.api.ask("GET", &self.path(), &Value::Null).await;
        found.map_err(|why| why.to_string())
    }

    /// Makes it.
    ///
    /// # Errors
    /// The API's, in words.
    pub(crate) async fn make(&self) -> Result<(), String> {
        if self.toxics.is_empty() {
            return self.enable(false).await;
        }
        let path = format!("{}/toxics", self.path());
        for toxic in &self.toxics {
            let added = self.api.ask("POST", &path, toxic).await;
            added.map_err(|why| why.to_string())?;
        }
        Ok(())
    }

    /// Takes it back, as far as it was made, and gives the proxy; none that is gone, of which nothing is left.
    ///
    /// # Errors
    /// As of [`Self::make`].
    pub(crate) async fn take_back(&self) -> Result<Option<Value>, String> {
        let found = self.api.ask("GET", &self.path(), &Value::Null).await;
        if found.is_err_and(|why| why.status == Some(404)) {
            return Ok(None);
        }
        if self.toxics.is_empty() {
            self.enable(true).await?;
            return self.proxy().await.map(Some);
        }
        let names = self.toxics.iter().map(|toxic| &toxic["name"]);
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        let mut failed = Vec::new();
        for name in &names {
            let path = format!("{}/toxics/{name}", self.path());
            let removed = self.api.ask("DELETE", &path, &Value::Null).await;
            let removed = removed.err().filter(|why| why.status != Some(404));
            failed.extend(removed.map(|why| why.to_string()));
        }
        // One that answers late, or that it failed, may have done it all the same.
        let proxy = match self.proxy().await {
            Ok(proxy) => proxy,
            Err(why) => {
                failed.push(why);
                return Err(failed.join("; "));
            }
        };
        let left = proxy["toxics"].as_array().into_iter().flatten();
        let mut left = left.filter_map(|toxic| toxic["name"].as_str());
        if let Some(name) = left.find(|name| names.contains(name)) {
            failed.push(format!("{} has its toxic {name} still", self.proxy));
            return Err(failed.join("; "));
        }
        Ok(Some(proxy))
    }

    async fn enable(&self, enabled: bool) -> Result<(), String> {
        let body = json!({ "enabled": enabled });
        let done = self.api.ask("POST", &self.path(), &body).await;
        done.map(drop).map_err(|why| why.to_string())
    }

    fn path(&self) -> String {
        format!("/proxies/{}", self.proxy)
    }
}
