//! Resources that a configuration needs before anything is served by it, at start and at every reload: its sockets, its endpoints'
//! addresses, room for its clients; and what its operator is told of it.

use crate::config::{EndpointConfig, GatewayConfig, Nameless, UpstreamConfig, UpstreamTls};
use crate::error::GatewayError;
use crate::listening::handover::Sockets;
use crate::listening::listener_id::ListenerId;
use crate::upstream::place::preferred;
use plimsoll_base::log::Log;
use plimsoll_http::{Listener, connections_possible};
use std::net::{SocketAddr, ToSocketAddrs as _};

/// Opens one listener, which another process may have opened before.
pub(crate) fn open(sockets: &Sockets, id: &ListenerId) -> Result<Listener, GatewayError> {
    sockets.open(id).map_err(|source| GatewayError::Listen {
        name: id.name.clone(),
        address: id.address,
        source,
    })
}

/// One address for each endpoint of each upstream; none where a name that has none may be awaited.
pub(crate) fn resolve(
    config: &GatewayConfig,
) -> Result<Vec<Vec<Option<SocketAddr>>>, GatewayError> {
    let resolve_one = |upstream: &UpstreamConfig, endpoint: &EndpointConfig| {
        let name = endpoint.name();
        let found = (name, endpoint.port).to_socket_addrs();
        let reason = match found.map(|found| preferred(&found.collect::<Vec<_>>())) {
            Ok(Some(address)) => return Ok(Some(address)),
            Ok(None) => "it has no address".to_owned(),
            Err(error) => error.to_string(),
        };
        match upstream.nameless {
            Nameless::Awaited if may_have_an_address(name) => Ok(None),
            _ => Err(GatewayError::Resolve {
                upstream: upstream.name.clone(),
                endpoint: format!("{name}:{}", endpoint.port),
                reason,
            }),
        }
    };
    config
        .upstreams
        .iter()
        .map(|upstream| {
            let endpoints = upstream.endpoints.iter();
            endpoints
                .map(|endpoint| resolve_one(upstream, endpoint))
                .collect()
        })
        .collect()
}

/// Whether DNS could have such a name (RFC 1035, section 2.3.4).
fn may_have_an_address(name: &str) -> bool {
    let mut parts = name.trim_end_matches('.').split('.');
    name.len() <= 253 && parts.all(|part| (1..=63).contains(&part.len()))
}

/// Says which endpoints have no address yet.
pub(crate) fn tell_of_nameless(
    config: &GatewayConfig,
    addresses: &[Vec<Option<SocketAddr>>],
    log: &Log,
) {
    for (upstream, addresses) in config.upstreams.iter().zip(addresses) {
        for (endpoint, address) in upstream.endpoints.iter().zip(addresses) {
            if address.is_none() {
                log(&format!(
                    "endpoint `{}:{}` of upstream `{}` has no address: it is looked up when requests come, which fail until then",
                    endpoint.name(),
                    endpoint.port,
                    upstream.name
                ));
            }
        }
    }
}

/// How many clients there may be at a time: descriptors are needed for connections to upstreams, too.
pub(crate) fn room_for_clients(config: &GatewayConfig, shards: usize, log: &Log) -> u32 {
    let configured = config.limits.connections;
    let behind = config
        .upstreams
        .iter()
        .map(|upstream| u64::from(upstream.connections()) * upstream.endpoints.len() as u64);
    let possible = connections_possible(shards, behind.sum());
    if possible < configured {
        log(&format!(
            "limits.connections is {configured}, but this process has descriptors for {possible} clients: further ones get 503 (raise `ulimit -n`)"
        ));
    }
    configured.min(possible)
}

/// Says which upstreams are believed whatever they show.
pub(crate) fn tell_of_insecure(config: &GatewayConfig, log: &Log) {
    let insecure = |tls: &UpstreamTls| tls.insecure;
    for upstream in &config.upstreams {
        if upstream.tls.as_ref().is_some_and(insecure) {
            log(&format!(
                "upstream `{}` is `insecure`: the certificates of its endpoints are not verified",
                upstream.name
            ));
        }
    }
}
