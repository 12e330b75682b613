//! Probes by an endpoint in Prometheus' text format: `prometheus: http://host:9100/metrics`.

use plimsoll_base::document::Path as Pointer;

use super::super::address::{self, Scheme};
use crate::loader::Loader;
use crate::wire::{ExporterWire, ProbeWayWire};

/// An endpoint in Prometheus' text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrometheusProbe {
    /// The host's name or address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Path of the request.
    pub path: String,
    /// Whose names it uses.
    pub exporter: Exporter,
}

/// Whose names an endpoint uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exporter {
    /// node_exporter's: the whole host.
    Node,
    /// cAdvisor's: one container.
    Cadvisor {
        /// Its name.
        container: String,
    },
    /// Those of client libraries: the process itself.
    Process,
}

impl PrometheusProbe {
    /// `host:port`, an IPv6 address in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        address::authority(&self.host, self.port)
    }

    /// Its whole address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    way: &ProbeWayWire,
    url: &str,
    at: &Pointer,
) -> Option<PrometheusProbe> {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    let (origin, path) = match url[behind_scheme..].find('/') {
        Some(slash) => url.split_at(behind_scheme + slash),
        None => (url, ""),
    };
    let address = match address::parse(origin) {
        Ok(address) if address.scheme == Scheme::Http => address,
        Ok(address) if address.scheme == Scheme::Https => {
            loader.refuse(
                at.key("prometheus"),
                format!("`{url}` is over TLS, which is not available in this version: write an `http://` address"),
            );
            return None;
        }
        Ok(_) | Err(_) => {
            loader.refuse(
                at.key("prometheus"),
                format!("`{url}` is not an address: write for instance `http://host:9100/metrics`"),
            );
            return None;
        }
    };
    let is_text = path.chars().all(|c| c.is_ascii_graphic());
    if !is_text {
        loader.refuse(
            at.key("prometheus"),
            "a path of visible ASCII characters, such as `/metrics`",
        );
    }
    Some(PrometheusProbe {
        host: address.host,
        port: address.port,
        path: match path {
            "" | "/" => "/metrics".to_owned(),
            path => path.to_owned(),
        },
        exporter: exporter(loader, way, at),
    })
}

fn exporter(loader: &mut Loader<'_>, way: &ProbeWayWire, at: &Pointer) -> Exporter {
    match (way.exporter, &way.container) {
        (None | Some(ExporterWire::Cadvisor), Some(container)) => Exporter::Cadvisor {
            container: container.clone(),
        },
        (Some(ExporterWire::Cadvisor), None) => {
            loader.refuse(
                at.key("exporter"),
                "cAdvisor exports many containers: write `container: NAME` too",
            );
            Exporter::Node
        }
        (None, None) => Exporter::Node,
        (Some(other), container) => {
            if container.is_some() {
                loader.refuse_key(
                    at.key("container"),
                    "`container` belongs to `exporter: cadvisor`: remove one of them",
                );
            }
            match other {
                ExporterWire::Process => Exporter::Process,
                ExporterWire::Node | ExporterWire::Cadvisor => Exporter::Node,
            }
        }
    }
}
