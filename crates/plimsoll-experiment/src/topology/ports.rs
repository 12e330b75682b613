//! Fixed ports: no two components may claim one.

use std::collections::{HashMap, HashSet};

use plimsoll_base::document::Path as Pointer;

use crate::component::{Component, ComponentKind, Listen};
use crate::loader::Loader;

pub(super) fn check(loader: &mut Loader<'_>, components: &[Component]) {
    let external: HashSet<&str> = components
        .iter()
        .filter(|component| matches!(component.kind, ComponentKind::External(_)))
        .map(|component| component.name.as_str())
        .collect();
    let is_external = |name: &str| external.contains(name);
    let mut first: HashMap<u16, &str> = HashMap::new();
    for (port, name, at) in fixed_ports(components) {
        match first.get(&port) {
            // One server under two names is no conflict.
            Some(earlier) if is_external(earlier) && is_external(name) => {}
            Some(earlier) => loader.refuse(&at, format!("port {port} belongs to `{earlier}` already: write another one, or let it be free")),
            None => {
                first.insert(port, name);
            }
        }
    }
}

/// Fixed ports, each with its component and the place where it is written.
fn fixed_ports(components: &[Component]) -> Vec<(u16, &str, Pointer)> {
    let root = Pointer::root().key("components");
    let mut ports = Vec::new();
    for component in components {
        let at = root.key(&component.name);
        match &component.kind {
            ComponentKind::Mock(mock) => {
                let at = at.key("mock");
                let https = mock.https.as_ref().and_then(|https| https.port);
                let own = [
                    (mock.port, at.key("port")),
                    (https, at.key("https").key("port")),
                ];
                let fixed = own
                    .into_iter()
                    .filter_map(|(port, at)| Some((port?, component.name.as_str(), at)));
                ports.extend(fixed);
            }
            ComponentKind::Command(command) => {
                for listener in &command.listeners {
                    if let Listen::Fixed(port) = listener.port {
                        ports.push((
                            port,
                            component.name.as_str(),
                            at.key("listeners").key(&listener.name),
                        ));
                    }
                }
            }
            ComponentKind::External(external) if external.is_local() => {
                ports.push((external.port, component.name.as_str(), at.key("external")));
            }
            ComponentKind::Gateway(_) | ComponentKind::External(_) => {}
        }
    }
    ports
}
