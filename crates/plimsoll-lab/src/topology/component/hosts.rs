//! Components on the hosts of a network.

use super::{Address, Topology};
use crate::error::LabError;
use crate::topology::network::{Layout, Network, NetworkPlaces};
use crate::topology::way::{SharedNetwork, Way};
use plimsoll_experiment::CLIENT;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::RwLock;

/// Where a component listens that is on no host.
const LOOPBACK: &str = "127.0.0.1";

impl Topology<'_> {
    /// Makes the hosts of the experiment, if it has some.
    pub(super) async fn start_network(&mut self) -> Result<(), LabError> {
        let (Some(network), None) = (&self.experiment.network, &self.network) else {
            return Ok(());
        };
        let places = NetworkPlaces {
            executable: self.places.executable.clone(),
            scratch: self.places.scratch.clone(),
            log: self.places.logs.join("network.log"),
        };
        let network = Network::start(Layout::new(network), places).await?;
        self.network = Some(Arc::new(RwLock::new(network)));
        Ok(())
    }

    /// The network of hosts.
    ///
    /// # Errors
    /// That there is none, in words.
    pub(crate) fn network(&self) -> Result<SharedNetwork, String> {
        let network = self.network.as_ref().map(Arc::clone);
        network.ok_or_else(|| "there is no network of hosts".to_owned())
    }

    /// How a component is reached.
    pub(super) fn way(&self, component: &str) -> Way {
        self.host(component)
            .map_or(Way::Direct, |host| self.from(host))
    }

    /// The process whose namespaces are those of the load generator, where it runs on a host.
    pub(crate) async fn generator_holder(&self) -> Result<Option<u32>, LabError> {
        let holder = self.from(CLIENT).holder().await;
        holder.map_err(|error| LabError::Environment(format!("the generator's host: {error}")))
    }

    fn from(&self, host: &str) -> Way {
        match &self.network {
            Some(network) => Way::From(Arc::clone(network), host.to_owned()),
            None => Way::Direct,
        }
    }

    fn host(&self, component: &str) -> Option<&str> {
        let component = self.experiment.component(component)?;
        component.placement.host.as_deref()
    }

    /// The components of a host, in the order in which they start.
    pub(crate) fn on_host(&self, host: &str) -> Vec<String> {
        let components = self.experiment.in_start_order();
        let there = components.filter(|one| one.placement.host.as_deref() == Some(host));
        there.map(|one| one.name.clone()).collect()
    }

    /// The address at which a component listens.
    pub(super) fn ip(&self, component: &str) -> String {
        let layout = self.experiment.network.as_ref().map(Layout::new);
        let address = layout.and_then(|layout| layout.address(self.host(component)?));
        address.map_or_else(|| LOOPBACK.to_owned(), |address| address.to_string())
    }

    /// An address as others find it: who listens at all addresses of a host is found at the host's.
    pub(super) fn seen(&self, component: &str, mut address: Address) -> Address {
        let is_any = address
            .host
            .parse()
            .is_ok_and(|ip: IpAddr| ip.is_unspecified());
        if is_any && self.host(component).is_some() {
            address.host = self.ip(component);
        }
        address
    }
}
