//! Ports for foreign commands. A free one can be taken by somebody else before the command binds it: then another is tried.

use super::address::Addresses;
use crate::error::LabError;
use plimsoll_experiment::{Listen, Listener};
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// A port for each listener.
pub(super) fn choose(
    component: &str,
    listeners: &[Listener],
) -> Result<Vec<(String, u16)>, LabError> {
    // Free ports are held until all are chosen, so that they differ.
    let mut held = Vec::new();
    let mut ports = Vec::new();
    for listener in listeners {
        let wanted = match listener.port {
            Listen::Free => 0,
            Listen::Fixed(port) => port,
        };
        let bound = bind(wanted).and_then(|held| Ok((held.local_addr()?.port(), held)));
        let (port, listening) = bound.map_err(|error| refuse(component, wanted, &error))?;
        held.push(listening);
        ports.push((listener.name.clone(), port));
    }
    Ok(ports)
}

/// Whether somebody else listens on a port that was free when it was chosen.
pub(super) fn taken(listeners: &[Listener], component: &str, addresses: &Addresses) -> bool {
    let free = (listeners.iter()).filter(|listener| listener.port == Listen::Free);
    let mut given = free.filter_map(|listener| addresses.get(component, &listener.name));
    given.any(|address| bind(address.port).is_err_and(|e| e.kind() == io::ErrorKind::AddrInUse))
}

fn bind(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

fn refuse(component: &str, port: u16, error: &io::Error) -> LabError {
    LabError::NotStarted {
        component: component.to_owned(),
        reason: match error.kind() {
            io::ErrorKind::AddrInUse => format!("port {port} is in use by another process"),
            _ => format!("port {port} cannot be used: {error}"),
        },
        log: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::*;

    fn listener(name: &str, port: Listen) -> Listener {
        Listener {
            name: name.to_owned(),
            port,
        }
    }

    #[test]
    fn free_ports_differ_and_are_noticed_when_taken() {
        let listeners = [listener("main", Listen::Free), listener("b", Listen::Free)];
        let ports = choose("x", &listeners).unwrap();
        assert_ne!(ports[0].1, ports[1].1);
        let mut addresses = Addresses::default();
        for (listener, port) in &ports {
            addresses.set("x", listener, Address::new("127.0.0.1", *port));
        }
        assert!(!taken(&listeners, "x", &addresses));
        let _held = bind(ports[1].1).unwrap();
        assert!(taken(&listeners, "x", &addresses));
    }

    #[test]
    fn a_fixed_port_in_use_is_refused_by_name() {
        let held = bind(0).unwrap();
        let port = held.local_addr().unwrap().port();
        let error = choose("proxy", &[listener("main", Listen::Fixed(port))]).unwrap_err();
        let expected =
            format!("component `proxy` did not start: port {port} is in use by another process");
        assert_eq!(error.to_string(), expected);
    }
}
