//! Links between components: a fault proxy of ours stands in each that the experiment delays, and is told by its API what to do.

use super::address::{Address, Addresses, MAIN};
use crate::error::LabError;
use plimsoll_experiment::Link;
use plimsoll_http::{Call, Limits, Url, call};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The name of the process among components: no component of a file can have it.
pub(super) const FAULT_PROXY: &str = "fault proxy";
/// The listener of its API.
pub(super) const API: &str = "api";
/// How long it may take over an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The fault proxy of a run, by its API.
#[derive(Debug)]
pub struct Links {
    /// `http://host:port` of the API.
    api: String,
    /// Links that are led through it; each is a proxy by its place.
    led: Vec<Link>,
}

/// Passed on a link since it is led through the proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Passed {
    /// Turns of conversations.
    pub turns: u64,
    /// Turns that were answered.
    pub answered: u64,
    /// Their mean time in seconds, delays of ours left out.
    pub turn_time_s: Option<f64>,
}

impl Links {
    /// Those of a proxy whose API is at this address.
    pub(super) fn new(api: &Address) -> Self {
        Self {
            api: format!("http://{api}"),
            led: Vec::new(),
        }
    }

    /// Leads links to a component that has been started through the proxy: whoever refers to it by one of them is given another address.
    pub(super) async fn lead(
        &mut self,
        component: &str,
        links: &[Link],
        addresses: &mut Addresses,
    ) -> Result<(), LabError> {
        for link in links.iter().filter(|link| link.to == component) {
            let listener = link.listener.as_deref().unwrap_or(MAIN);
            let Some(to) = addresses.get(component, listener).cloned() else {
                continue;
            };
            let known = self.led.iter().position(|led| led == link);
            let name = name(known.unwrap_or(self.led.len()));
            let proxy = if known.is_some() {
                let moved = json!({ "upstream": to.to_string() });
                self.ask("PATCH", &format!("/proxies/{name}"), &moved)
                    .await?
            } else {
                let made =
                    json!({ "name": name, "listen": "127.0.0.1:0", "upstream": to.to_string() });
                self.led.push(link.clone());
                self.ask("POST", "/proxies", &made).await?
            };
            let listen = proxy["listen"].as_str().and_then(|text| text.parse().ok());
            let listen: std::net::SocketAddr = listen.ok_or_else(|| {
                LabError::Internal(format!("the fault proxy listens nowhere: {proxy}"))
            })?;
            let mut seen = Address::from(listen);
            seen.secure = to.secure;
            addresses.set_link(&link.from, component, listener, seen);
        }
        Ok(())
    }

    /// Delays these links, by their texts, towards the caller, and no others.
    ///
    /// # Errors
    /// [`LabError::Internal`] when the proxy does not do so.
    pub async fn delay(&self, delays: &BTreeMap<String, f64>) -> Result<(), LabError> {
        self.ask("POST", "/reset", &Value::Null).await?;
        for (link, seconds) in delays.iter().filter(|(_, seconds)| **seconds > 0.0) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a delay of seconds at most"
            )]
            let micros = (seconds * 1e6).round() as i64;
            let toxic = json!({ "type": "delay", "attributes": { "delay": micros } });
            let place = self.led.iter().position(|led| led.text() == *link);
            let place = place.ok_or_else(|| {
                LabError::Internal(format!("no proxy stands in the link `{link}`"))
            })?;
            let path = format!("/proxies/{}/toxics", name(place));
            self.ask("POST", &path, &toxic).await?;
        }
        Ok(())
    }

    /// Turns so far, by the texts of links.
    ///
    /// # Errors
    /// As of [`Self::delay`].
    pub async fn passed(&self) -> Result<BTreeMap<String, Passed>, LabError> {
        let turns = self.ask("GET", "/plimsoll/turns", &Value::Null).await?;
        let mut passed: BTreeMap<String, Passed> =
            serde_json::from_value(turns).map_err(|error| {
                LabError::Internal(format!("the fault proxy's account is unreadable: {error}"))
            })?;
        let led = self.led.iter().enumerate();
        let passed =
            led.filter_map(|(place, link)| Some((link.text(), passed.remove(&name(place))?)));
        Ok(passed.collect())
    }

    async fn ask(&self, method: &'static str, path: &str, body: &Value) -> Result<Value, LabError> {
        let failed =
            |why: String| LabError::Internal(format!("the fault proxy, {method} {path}: {why}"));
        let url = Url::parse(&format!("{}{path}", self.api)).map_err(failed)?;
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
        let answer = call(&asked).await.map_err(failed)?;
        let body = answer.body.unwrap_or_default();
        match answer.status {
            204 => Ok(Value::Null),
            200..300 => serde_json::from_slice(&body).map_err(|error| failed(error.to_string())),
            status => {
                let said = String::from_utf8_lossy(&body).trim().to_owned();
                Err(failed(format!("{status}: {said}")))
            }
        }
    }
}

/// The name of a link's proxy.
fn name(place: usize) -> String {
    format!("link-{place}")
}
