//! Links between components: a fault proxy of ours stands in each that the experiment delays, and is told by its API what to do.

use super::address::{Address, Addresses, MAIN};
use super::start::{Readying, Start};
use super::{Topology, launch};
use crate::error::LabError;
use crate::topology::peers;
use crate::topology::way::Way;
use crate::toxiproxy::Api;
use plimsoll_experiment::Link;
use plimsoll_report::record::UndelayedPeer;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// The name of the process among components: no component of a file can have it.
pub(super) const FAULT_PROXY: &str = "fault proxy";
/// The listener of its API.
pub(super) const LISTENER: &str = "api";
/// The fault proxy of a run, by its API.
#[derive(Debug, Clone)]
pub struct Links {
    api: Api,
    /// Links that are led through it, and where each listens; each is a proxy by its place.
    led: Vec<(Link, SocketAddr)>,
}

impl Topology<'_> {
    /// Starts the proxy that stands in links.
    pub(super) async fn start_fault_proxy(&mut self) -> Result<(), LabError> {
        let log = self.places.logs.join(format!("{FAULT_PROXY}.log"));
        let start = Start {
            name: FAULT_PROXY.to_owned(),
            executable: self.places.executable.clone(),
            launch: launch::fault_proxy(&log, &self.places, &self.values)?,
            log,
            readying: Readying::Announced,
            way: Way::Direct,
        };
        let started = start.begin().await?;
        let mut announced = started.announced.iter();
        let api = announced.find(|(listener, _)| listener == LISTENER);
        let (_, api) =
            api.ok_or_else(|| LabError::Internal("the fault proxy announced no API".to_owned()))?;
        self.links = Some(Links::new(api));
        self.running.insert(FAULT_PROXY.to_owned(), started.running);
        Ok(())
    }

    /// Whom components are connected with, by their names, where no link leads that is delayed.
    #[must_use]
    pub fn undelayed_peers(&self) -> BTreeSet<UndelayedPeer> {
        let children = self.running.iter();
        let children = children.filter_map(|(name, running)| Some((name, running.child.as_ref()?)));
        let mut found = BTreeSet::new();
        for (name, child) in children.filter(|(name, _)| *name != FAULT_PROXY) {
            let own = self.addresses.ports(name);
            let peers = peers::below(child.shim_pid()).into_iter();
            // A connection at a port of its own was made by its client.
            let made = peers.filter(|connected| !own.contains(&connected.port));
            let beside = made.filter(|connected| !self.addresses.is_led(name, connected.peer));
            found.extend(beside.map(|connected| {
                let peer = self.addresses.component_at(connected.peer);
                UndelayedPeer {
                    component: name.clone(),
                    peer: peer.map_or_else(|| connected.peer.to_string(), str::to_owned),
                }
            }));
        }
        found
    }

    /// Passed on links so far, by their texts; empty where none are led through a proxy.
    ///
    /// # Errors
    /// As of [`Links::passed`].
    pub async fn passed(&self) -> Result<BTreeMap<String, Passed>, LabError> {
        match &self.links {
            Some(links) => links.passed().await,
            None => Ok(BTreeMap::new()),
        }
    }

    /// The proxy in links that the experiment delays.
    ///
    /// # Errors
    /// [`LabError::Internal`] before anything was started, or where nothing is delayed.
    pub fn links(&self) -> Result<&Links, LabError> {
        let links = self.links.as_ref();
        links.ok_or_else(|| LabError::Internal("no link is led through a proxy".to_owned()))
    }
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
    /// Pieces that a delay held.
    pub held: u64,
    /// How much later than they should they went on, in the mean, in seconds.
    pub late_s: Option<f64>,
}

impl Links {
    /// Those of a proxy whose API is at this address.
    pub(super) fn new(api: &Address) -> Self {
        Self {
            api: Api::at(&format!("http://{api}")),
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
            let known = self.place(link);
            let name = name(known.unwrap_or(self.led.len()));
            let proxy = if known.is_some() {
                let moved = json!({ "upstream": to.to_string() });
                self.ask("PATCH", &format!("/proxies/{name}"), &moved)
                    .await?
            } else {
                let made =
                    json!({ "name": name, "listen": "127.0.0.1:0", "upstream": to.to_string() });
                self.ask("POST", "/proxies", &made).await?
            };
            let listen = proxy["listen"].as_str().and_then(|text| text.parse().ok());
            let listen: SocketAddr = listen.ok_or_else(|| {
                LabError::Internal(format!("the fault proxy listens nowhere: {proxy}"))
            })?;
            match known {
                Some(place) => self.led[place].1 = listen,
                None => self.led.push((link.clone(), listen)),
            }
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
            let led = self.led.iter().find(|(led, _)| led.text() == *link);
            let (led, _) = led.ok_or_else(|| none(link))?;
            self.poison(led, &toxic).await?;
        }
        Ok(())
    }

    /// Adds a toxic to a link.
    ///
    /// # Errors
    /// [`LabError::Internal`] when the proxy does not do so.
    pub(crate) async fn poison(&self, link: &Link, toxic: &Value) -> Result<(), LabError> {
        let path = format!("/proxies/{}/toxics", self.proxy(link)?);
        self.ask("POST", &path, toxic).await.map(drop)
    }

    /// Takes all toxics from a link.
    ///
    /// # Errors
    /// As of [`Self::poison`].
    pub(crate) async fn cure(&self, link: &Link) -> Result<(), LabError> {
        let path = format!("/proxies/{}/toxics", self.proxy(link)?);
        let toxics = self.ask("GET", &path, &Value::Null).await?;
        let named = toxics.as_array().into_iter().flatten();
        for toxic in named.filter_map(|toxic| toxic["name"].as_str()) {
            self.ask("DELETE", &format!("{path}/{toxic}"), &Value::Null)
                .await?;
        }
        Ok(())
    }

    /// Has the next client of a link from this port led to another server, through the same toxics.
    ///
    /// # Errors
    /// As of [`Self::poison`].
    pub(crate) async fn lead_aside(
        &self,
        link: &Link,
        port: u16,
        to: SocketAddr,
    ) -> Result<(), LabError> {
        let path = format!("/plimsoll/detours/{}", self.proxy(link)?);
        let aside = json!({ "port": port.to_string(), "to": to.to_string() });
        self.ask("POST", &path, &aside).await.map(drop)
    }

    /// Where the proxy in a link listens.
    pub(crate) fn listener(&self, link: &Link) -> Option<SocketAddr> {
        self.place(link).map(|place| self.led[place].1)
    }

    fn place(&self, link: &Link) -> Option<usize> {
        self.led.iter().position(|(led, _)| led == link)
    }

    /// The name of a link's proxy.
    fn proxy(&self, link: &Link) -> Result<String, LabError> {
        let place = self.place(link).ok_or_else(|| none(&link.text()))?;
        Ok(name(place))
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
            led.filter_map(|(place, (link, _))| Some((link.text(), passed.remove(&name(place))?)));
        Ok(passed.collect())
    }

    async fn ask(&self, method: &'static str, path: &str, body: &Value) -> Result<Value, LabError> {
        let answer = self.api.ask(method, path, body).await;
        answer.map_err(|why| LabError::Internal(format!("the fault proxy, {why}")))
    }
}

fn none(link: &str) -> LabError {
    LabError::Internal(format!("no proxy stands in the link `{link}`"))
}

/// The name of the proxy at this place.
fn name(place: usize) -> String {
    format!("link-{place}")
}
