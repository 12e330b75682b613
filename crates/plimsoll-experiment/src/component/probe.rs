//! How the resources of an external component are watched.

mod container;
mod database;
mod prometheus;

pub use container::ContainerProbe;
pub use database::{PostgresqlProbe, RedisProbe};
pub use prometheus::{Exporter, PrometheusProbe};

use plimsoll_base::document::Path as Pointer;
use std::path::PathBuf;

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{ProbeWayWire, ProbeWire};

/// Probe of an external component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalProbe {
    /// Nothing.
    None,
    /// An endpoint in Prometheus' text format.
    Prometheus(PrometheusProbe),
    /// PostgreSQL's own statistics.
    Postgresql(Box<PostgresqlProbe>),
    /// Redis's own statistics.
    Redis(RedisProbe),
    /// The processes of a container of this host.
    Container(ContainerProbe),
    /// A process of this host, with all below it.
    Process(u32),
    /// The processes of a control group of this host.
    Cgroup(PathBuf),
}

impl ExternalProbe {
    /// Template of its password, if it needs one.
    #[must_use]
    pub fn password(&self) -> Option<&Template> {
        match self {
            Self::Postgresql(probe) => probe.password.as_ref(),
            Self::Redis(probe) => probe.password.as_ref(),
            _ => None,
        }
    }
}

/// `component`: the name of the component that is looked at.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    component: &str,
    wire: Option<&ProbeWire>,
    at: &Pointer,
) -> ExternalProbe {
    let way = match wire {
        None | Some(ProbeWire::None) => return ExternalProbe::None,
        Some(ProbeWire::Way(way)) => way,
    };
    refuse_keys_without_owner(loader, way, at);
    let ways = [
        way.prometheus.is_some(),
        way.postgresql.is_some(),
        way.redis.is_some(),
        way.container.is_some() && way.prometheus.is_none(),
        way.process.is_some(),
        way.cgroup.is_some(),
    ];
    if ways.into_iter().filter(|written| *written).count() != 1 {
        loader.refuse(
            at,
            "a probe looks at one thing: write one of `prometheus`, `postgresql`, `redis`, `container`, `process` and `cgroup`, or `none`",
        );
        return ExternalProbe::None;
    }
    let probe = if let Some(url) = &way.prometheus {
        prometheus::convert(loader, way, &url.0, at).map(ExternalProbe::Prometheus)
    } else if let Some(url) = &way.postgresql {
        database::postgresql(loader, component, &url.0, &at.key("postgresql"))
            .map(|probe| ExternalProbe::Postgresql(Box::new(probe)))
    } else if let Some(url) = &way.redis {
        database::redis(loader, component, &url.0, &at.key("redis")).map(ExternalProbe::Redis)
    } else if let Some(name) = &way.container {
        container::convert(loader, name, way.socket.as_deref(), at).map(ExternalProbe::Container)
    } else if let Some(pid) = way.process {
        process(loader, pid, at)
    } else {
        let group = way.cgroup.as_ref();
        group.map(|group| ExternalProbe::Cgroup(PathBuf::from(group)))
    };
    probe.unwrap_or(ExternalProbe::None)
}

fn process(loader: &mut Loader<'_>, pid: u32, at: &Pointer) -> Option<ExternalProbe> {
    if pid == 0 {
        loader.refuse(at.key("process"), "`0` is no process: write its id");
        return None;
    }
    Some(ExternalProbe::Process(pid))
}

fn refuse_keys_without_owner(loader: &mut Loader<'_>, way: &ProbeWayWire, at: &Pointer) {
    if way.exporter.is_some() && way.prometheus.is_none() {
        loader.refuse_key(
            at.key("exporter"),
            "`exporter` belongs to `prometheus`: write that too, or remove it",
        );
    }
    let is_of_host = way.container.is_some() && way.prometheus.is_none();
    if way.socket.is_some() && !is_of_host {
        loader.refuse_key(
            at.key("socket"),
            "`socket` belongs to a `container` of this host: write that alone, or remove it",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComponentKind;
    use crate::memory::Memory;

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
    fn databases() {
        let postgresql = |text: &str| match probe(text) {
            Ok(ExternalProbe::Postgresql(probe)) => {
                let hosts = format!("{:?}", probe.config.get_hosts());
                let password = probe.password.map(|it| it.source());
                (hosts, probe.config.get_user().map(str::to_owned), password)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(
            postgresql("{ postgresql: 'postgresql://me:${env:PASS}@db:5433/shop?sslmode=prefer' }"),
            (
                "[Tcp(\"db\")]".to_owned(),
                Some("me".to_owned()),
                Some("${env:PASS}".to_owned())
            )
        );
        let redis = |host: &str, port, user: Option<&str>, password: Option<&str>| {
            let password = password.map(|text| Template::parse(text).unwrap());
            Ok(ExternalProbe::Redis(RedisProbe {
                host: host.to_owned(),
                port,
                user: user.map(str::to_owned),
                password,
            }))
        };
        assert_eq!(
            probe("{ redis: 'redis://cache' }"),
            redis("cache", 6379, None, None)
        );
        assert_eq!(
            probe("{ redis: 'redis://me:${env:PASS}@[::1]:7000/0' }"),
            redis("::1", 7000, Some("me"), Some("${env:PASS}"))
        );
    }

    #[test]
    fn containers() {
        let expected = ContainerProbe {
            name: "web".to_owned(),
            socket: PathBuf::from("/run/engine.sock"),
        };
        assert_eq!(
            probe("{ container: web, socket: /run/engine.sock }"),
            Ok(ExternalProbe::Container(expected))
        );
        // In memory every variable is its own name.
        let told = probe("{ container: web }").unwrap_err();
        assert!(told.contains("`DOCKER_HOST` is `docker_host`"), "{told}");
    }

    #[test]
    fn refusals() {
        let refused = |text: &str| probe(text).unwrap_err();
        assert!(refused("{ prometheus: 'https://a/metrics' }").contains("TLS"));
        assert!(refused("{ prometheus: nonsense }").contains("http://host:9100/metrics"));
        assert!(refused("{ prometheus: 'http://a', process: 3 }").contains("one thing"));
        assert!(refused("{ container: x, process: 3 }").contains("one thing"));
        assert!(refused("{ exporter: process, process: 3 }").contains("belongs to `prometheus`"));
        assert!(refused("{ socket: /x, process: 3 }").contains("belongs to a `container`"));
        assert!(refused("{ prometheus: 'http://a', exporter: cadvisor }").contains("container"));
        assert!(refused("all").contains("write `none`"));
    }
}
