//! How the resources of an external component are watched.

use plimsoll_base::document::Path as Pointer;
use std::path::PathBuf;

use super::external;
use crate::experiment::loader::Loader;
use crate::experiment::wire::{ExporterWire, ProbeWayWire, ProbeWire};

/// What is looked at of an external component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalProbe {
    /// Nothing.
    None,
    /// An endpoint in Prometheus' text format.
    Prometheus(PrometheusProbe),
    /// A process of this host, with all below it.
    Process(u32),
    /// The processes of a control group of this host.
    Cgroup(PathBuf),
}

/// An endpoint in Prometheus' text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrometheusProbe {
    /// The host's name or address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What is asked for.
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
        external::authority(&self.host, self.port)
    }

    /// Its whole address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&ProbeWire>,
    at: &Pointer,
) -> ExternalProbe {
    let way = match wire {
        None | Some(ProbeWire::None) => return ExternalProbe::None,
        Some(ProbeWire::Way(way)) => way,
    };
    let beside = [
        ("exporter", way.exporter.is_some()),
        ("container", way.container.is_some()),
    ];
    if way.prometheus.is_none() {
        for (key, _) in beside.iter().filter(|(_, written)| *written) {
            loader.refuse_key(
                at.key(key),
                format!("`{key}` belongs to `prometheus`: write that too, or remove it"),
            );
        }
    }
    match (&way.prometheus, way.process, &way.cgroup) {
        (Some(url), None, None) => prometheus(loader, way, &url.0, at),
        (None, Some(0), None) => {
            loader.refuse(at.key("process"), "`0` is no process: write its id");
            ExternalProbe::None
        }
        (None, Some(pid), None) => ExternalProbe::Process(pid),
        (None, None, Some(dir)) => ExternalProbe::Cgroup(PathBuf::from(dir)),
        _ => {
            loader.refuse(
                at,
                "a probe looks at one thing: write one of `prometheus`, `process` and `cgroup`, or `none`",
            );
            ExternalProbe::None
        }
    }
}

fn prometheus(
    loader: &mut Loader<'_>,
    way: &ProbeWayWire,
    url: &str,
    at: &Pointer,
) -> ExternalProbe {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    let (origin, path) = match url[behind_scheme..].find('/') {
        Some(slash) => url.split_at(behind_scheme + slash),
        None => (url, ""),
    };
    let address = match external::parse(origin) {
        Ok(address) if !address.secure => address,
        Ok(_) => {
            loader.refuse(
                at.key("prometheus"),
                format!("`{url}` is over TLS, which is not available in this version: write an `http://` address"),
            );
            return ExternalProbe::None;
        }
        Err(_) => {
            loader.refuse(
                at.key("prometheus"),
                format!("`{url}` is not an address: write for instance `http://host:9100/metrics`"),
            );
            return ExternalProbe::None;
        }
    };
    let is_text = path.chars().all(|c| c.is_ascii_graphic());
    if !is_text {
        loader.refuse(
            at.key("prometheus"),
            "a path of visible ASCII characters, such as `/metrics`",
        );
    }
    ExternalProbe::Prometheus(PrometheusProbe {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ComponentKind;
    use crate::experiment::memory::Memory;

    /// The probe of a component with this one, or what is wrong with it.
    fn probe(written: &str) -> Result<ExternalProbe, String> {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ api: {{ external: 'http://10.0.0.7', probe: {written} }} }}\nscenario: [{{ get: /a }}]\nload: {{ rate: 10/s, duration: 5s }}\n"
        );
        let experiment = Memory::new(&text, &[]).load(&[]);
        let experiment = experiment.map_err(|problems| problems.to_string())?;
        match &experiment.component("api").unwrap().kind {
            ComponentKind::External(external) => Ok(external.probe.clone()),
            _ => unreachable!("it is external"),
        }
    }

    #[test]
    fn ways() {
        assert_eq!(probe("none"), Ok(ExternalProbe::None));
        assert_eq!(probe("{ process: 7 }"), Ok(ExternalProbe::Process(7)));
        let url = |text: &str| match probe(text) {
            Ok(ExternalProbe::Prometheus(probe)) => (probe.url(), probe.exporter),
            other => panic!("{other:?}"),
        };
        let node = ("http://a:9100/metrics".to_owned(), Exporter::Node);
        assert_eq!(url("{ prometheus: 'http://a:9100' }"), node);
        let container = Exporter::Cadvisor {
            container: "api".to_owned(),
        };
        let cadvisor = ("http://[::1]:8080/m?x=1".to_owned(), container);
        assert_eq!(
            url("{ prometheus: 'http://[::1]:8080/m?x=1', container: api }"),
            cadvisor
        );
    }

    #[test]
    fn refusals() {
        let refused = |text: &str| probe(text).unwrap_err();
        assert!(refused("{ prometheus: 'https://a/metrics' }").contains("TLS"));
        assert!(refused("{ prometheus: nonsense }").contains("http://host:9100/metrics"));
        assert!(refused("{ prometheus: 'http://a', process: 3 }").contains("one thing"));
        assert!(refused("{ container: x, process: 3 }").contains("belongs to `prometheus`"));
        assert!(refused("{ prometheus: 'http://a', exporter: cadvisor }").contains("container"));
        assert!(refused("all").contains("write `none`"));
    }
}
