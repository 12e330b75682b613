//! How connections are made, as the load and its target say together.

mod identities;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use plimsoll_base::document::{Entries, Path as Pointer};
use plimsoll_load::plan::{
    ConnectionPolicy, Connections, Protocol, Resolve, Tls, TlsVersion, Trust,
};

use super::layers::Layers;
use crate::component::{ComponentKind, HTTPS, Mock, Scheme};
use crate::loader::Loader;
use crate::target::TargetRef;
use crate::wire::{ConnectionPerWire, ProtocolWire, ResolveWire, TlsVersionWire, TlsWire};

/// How many virtual users share a connection of HTTP/2.
const STREAMS: u32 = 10;

/// Connections as the load states them. Names of hosts are not known yet: they stay empty, and [`of_target`] puts them in.
pub(super) fn convert(loader: &mut Loader<'_>, layers: Layers<'_>) -> Connections {
    Connections {
        policy: policy(loader, layers),
        exchanges: layers.get(|wire| wire.exchanges_per_connection),
        protocol: protocol(loader, layers),
        tls: layers.get(|wire| wire.tls.as_ref()).map(|wire| {
            let at = layers.place(loader, "tls");
            tls(loader, wire, &at)
        }),
        sources: sources(loader, layers),
        resolve: match layers.get(|wire| wire.resolve) {
            None | Some(ResolveWire::Once) => None,
            Some(ResolveWire::Connection) => Some(Duration::ZERO),
            Some(ResolveWire::Every(every)) => Some(*every),
        }
        .map(|every| Resolve {
            host: String::new(),
            port: 0,
            every,
        }),
        connect_timeout: layers.get(|wire| wire.connect_timeout).map(|time| *time),
        first_byte_timeout: layers.get(|wire| wire.first_byte_timeout).map(|time| *time),
    }
}

/// Holds against each other what the load says and what the target is.
pub(crate) fn agree(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    target: &TargetRef,
    kind: &ComponentKind,
    connections: &mut Connections,
) {
    let name = &target.component;
    match kind {
        ComponentKind::External(external) if external.scheme == Scheme::Https => {
            connections.tls.get_or_insert_with(default_tls);
        }
        ComponentKind::External(_) => {
            if connections.tls.is_some() {
                let at = layers.place(loader, "tls");
                let message =
                    format!("`{name}` is at an `http://` address: write `https://` there");
                loader.refuse_key(at, message);
            }
        }
        // What it speaks, it knows itself.
        ComponentKind::Command(_) | ComponentKind::Gateway(_) => {}
        ComponentKind::Mock(mock) => {
            let secured = target.listener.as_deref() == Some(HTTPS);
            agree_with_mock(loader, layers, name, mock, secured, connections);
        }
    }
}

fn agree_with_mock(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
    name: &str,
    mock: &Mock,
    secured: bool,
    connections: &mut Connections,
) {
    let at = layers.place(loader, "tls");
    let vouched_for = mock.https.as_ref().is_some_and(|it| it.identity.is_some());
    match &connections.tls {
        Some(_) if !secured => {
            let message = format!(
                "`{name}` is spoken to in plaintext: write `target: {name}/{HTTPS}`, and `https: {{}}` in the mock"
            );
            loader.refuse_key(at, message);
        }
        Some(tls) if tls.trust == Trust::System && !vouched_for => {
            let message = format!(
                "`{name}` makes its own certificate, which no authority has signed: write `insecure: true`, or give it `cert` and `key`"
            );
            loader.refuse_key(at, message);
        }
        None if secured && !vouched_for => {
            let message = format!(
                "`{name}/{HTTPS}` shows a certificate that no authority has signed: write `tls: {{ insecure: true }}` in the load, or give it `cert` and `key`"
            );
            loader.refuse_key(layers.place(loader, ""), message);
        }
        None if secured => connections.tls = Some(default_tls()),
        _ => {}
    }
}

/// The addresses that hosts are given.
pub(crate) fn hosts(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<String>>,
) -> BTreeMap<String, IpAddr> {
    let mut hosts = BTreeMap::new();
    for (name, text) in wire.into_iter().flat_map(Entries::iter) {
        match text.parse() {
            Ok(address) => {
                hosts.insert(name.to_owned(), address);
            }
            Err(_) => loader.refuse(
                Pointer::root().key("hosts").key(name),
                format!("`{text}` is not an IP address"),
            ),
        }
    }
    hosts
}

/// Puts in the names that only the target's address tells.
pub(crate) fn of_target(connections: &Connections, host: &str, port: u16) -> Connections {
    let mut connections = connections.clone();
    if let Some(tls) = &mut connections.tls
        && tls.server_name.is_empty()
    {
        host.clone_into(&mut tls.server_name);
    }
    if let Some(resolve) = &mut connections.resolve {
        host.clone_into(&mut resolve.host);
        resolve.port = port;
    }
    connections
}

fn policy(loader: &mut Loader<'_>, layers: Layers<'_>) -> ConnectionPolicy {
    let kept = layers.get(|wire| wire.keep_alive);
    let per = layers.get(|wire| wire.connection_per);
    let shared = layers.get(|wire| wire.shared_connections);
    if per.is_some() && (shared.is_some() || kept == Some(false)) {
        let at = layers.place(loader, "connection_per");
        loader.refuse_key(at, "says whose a connection is, and so does `shared_connections` or `keep_alive: false`: keep one of them");
    } else if shared.is_some() && kept == Some(false) {
        let at = layers.place(loader, "shared_connections");
        loader.refuse_key(
            at,
            "has no meaning with `keep_alive: false`: remove one of them",
        );
    }
    match (shared, per, kept) {
        (Some(connections), ..) => ConnectionPolicy::Shared(connections),
        (None, Some(ConnectionPerWire::Iteration), _) => ConnectionPolicy::PerIteration,
        (None, Some(ConnectionPerWire::Exchange), _) | (None, None, Some(false)) => {
            ConnectionPolicy::PerExchange
        }
        (None, Some(ConnectionPerWire::User) | None, _) => ConnectionPolicy::PerUser,
    }
}

fn protocol(loader: &mut Loader<'_>, layers: Layers<'_>) -> Protocol {
    let streams = layers.get(|wire| wire.streams);
    match layers.get(|wire| wire.protocol) {
        Some(ProtocolWire::Http2) => Protocol::Http2 {
            streams: streams.unwrap_or(STREAMS),
        },
        Some(ProtocolWire::Http1) | None => {
            if streams.is_some() {
                let at = layers.place(loader, "streams");
                loader.refuse_key(
                    at,
                    "has a meaning with `protocol: http2` only: write that, or remove it",
                );
            }
            Protocol::Http1
        }
    }
}

fn sources(loader: &mut Loader<'_>, layers: Layers<'_>) -> Vec<IpAddr> {
    let written = layers.get(|wire| wire.sources.as_deref());
    let at = layers.place(loader, "sources");
    let mut sources = vec![];
    for (index, text) in written.into_iter().flatten().enumerate() {
        match text.parse() {
            Ok(source) => sources.push(source),
            Err(_) => loader.refuse(
                at.index(index),
                format!("`{text}` is not an IP address of this host"),
            ),
        }
    }
    sources
}

fn tls(loader: &mut Loader<'_>, wire: &TlsWire, at: &Pointer) -> Tls {
    let insecure = wire.insecure == Some(true);
    if insecure && wire.ca.is_some() {
        let message = "has no meaning with `insecure: true`: remove one of them";
        loader.refuse_key(at.key("ca"), message);
    }
    let trust = match &wire.ca {
        _ if insecure => Trust::Anybody,
        Some(ca) => Trust::Authorities(identities::read(loader, &at.key("ca"), ca)),
        None => Trust::System,
    };
    let version = |wire| match wire {
        TlsVersionWire::Tls12 => TlsVersion::Tls12,
        TlsVersionWire::Tls13 => TlsVersion::Tls13,
    };
    let default = default_tls();
    Tls {
        server_name: wire.server_name.clone().unwrap_or_default(),
        trust,
        oldest: wire.min_version.map_or(default.oldest, version),
        newest: wire.max_version.map_or(default.newest, version),
        alpn: wire.alpn.clone(),
        resumption: wire.resumption.unwrap_or(default.resumption),
        identities: identities::convert(loader, wire, at),
    }
}

fn default_tls() -> Tls {
    Tls {
        server_name: String::new(),
        trust: Trust::System,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: None,
        resumption: true,
        identities: vec![],
    }
}
