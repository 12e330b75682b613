//! Components: the processes of the topology, and where they and the generator run.

mod address;
mod command;
mod external;
mod gateway;
mod kind;
mod mock;
mod placement;
mod probe;

pub use address::Scheme;
pub use command::{Command, Listen, Listener, Readiness, RenderedFile};
pub use external::External;
pub use gateway::Gateway;
pub use kind::ComponentKind;
pub use mock::{HTTPS, Https, Mock};
pub use placement::{CPU_PERIOD, CpuQuota, Generator, Placement};
pub(super) use placement::{generator, possible_cores};
pub use probe::{
    ContainerProbe, Exporter, ExternalProbe, PostgresqlProbe, PrometheusProbe, RedisProbe,
};

use plimsoll_base::document::{Entries, Path as Pointer};

use super::loader::Loader;
use super::name::refuse_name;
use super::wire::ComponentWire;

/// A process of the topology.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ComponentKind,
    /// Where it may run, and how much of it.
    pub placement: Placement,
}

impl Component {
    /// Whether this experiment starts it, and may break it.
    #[must_use]
    pub fn is_started(&self) -> bool {
        !matches!(self.kind, ComponentKind::External(_))
    }

    /// Whether anything is known of what it uses: it is started here, or it has a probe.
    pub(super) fn is_looked_at(&self) -> bool {
        match &self.kind {
            ComponentKind::External(external) => external.probe != ExternalProbe::None,
            ComponentKind::Mock(_) | ComponentKind::Gateway(_) | ComponentKind::Command(_) => true,
        }
    }
}

/// Whether a text is the URL of a server that speaks HTTP in plaintext, without a path.
pub(super) fn is_http(url: &str) -> bool {
    address::parse(url).is_ok_and(|address| address.scheme == Scheme::Http)
}

/// The component that the control load of `availability` goes to: nobody breaks it, and it is where the generator is.
pub const CONTROL: &str = "plimsoll-control";

pub(super) fn convert_all(
    loader: &mut Loader<'_>,
    wire: &Entries<ComponentWire>,
) -> Vec<Component> {
    let at = Pointer::root().key("components");
    if wire.0.is_empty() {
        loader.refuse(
            &at,
            "there is no component: write at least one, for instance `upstream: { mock: {} }`",
        );
    }
    let convert = |(name, wire): (&str, &ComponentWire)| {
        let at = at.key(name);
        if name == CONTROL {
            loader.refuse_key(
                &at,
                "is the name of the target of control loads: choose another",
            );
        }
        if let Some(message) = refuse_name("a component", name) {
            loader.refuse_key(&at, message);
        }
        let kind = kind::convert(loader, name, wire, &at)?;
        let is_external = matches!(kind, ComponentKind::External(_));
        let placement = placement::convert(loader, wire, is_external, &at);
        Some(Component {
            name: name.to_owned(),
            kind,
            placement,
        })
    };
    wire.iter().filter_map(convert).collect()
}
