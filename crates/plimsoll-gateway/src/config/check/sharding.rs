//! Who clients are, whose data is where, and which routes go by it.

use super::super::wire::{ClientsWord, FieldWord, GatewayFile, KindWord, MirrorBlock, RouteBlock};
use super::super::{CertificateField, MirrorLimits, Serves, Sharding};
use super::{Checker, duration};
use crate::clients::identity::Kind;
use crate::clients::shard_map;
use plimsoll_base::document::Path;
use std::sync::Arc;
use std::time::Duration;

/// The fields that upstreams get.
pub(super) fn certificate_fields(wire: &GatewayFile) -> Vec<CertificateField> {
    let words = wire.identity.iter().flat_map(|block| &block.forward);
    words
        .map(|word| match word {
            FieldWord::ClientCert => CertificateField::ClientCert,
            FieldWord::ClientCertChain => CertificateField::ClientCertChain,
            FieldWord::Xfcc => CertificateField::Xfcc,
        })
        .collect()
}

/// The shard map and how it is used, if there is one.
pub(super) fn sharding(
    c: &mut Checker<'_>,
    wire: &GatewayFile,
    order: &Arc<[Kind]>,
) -> Option<Sharding> {
    let block = wire.shard_map.as_ref()?;
    let at = Path::root().key("shard_map");
    if !asks_for_certificates(wire) {
        c.refuse(&at, NOBODY_ASKS);
    }
    let mirror = mirror(c, &at.key("mirror"), block.mirror.as_ref());
    let text = c.read_text(&at.key("file"), &block.file)?;
    let upstreams: Vec<&str> = wire.upstreams.iter().map(|(name, _)| name).collect();
    match shard_map::read(&block.file, &text, &upstreams) {
        Ok(map) => Some(Sharding {
            order: Arc::clone(order),
            map: Arc::new(map),
            file: block.file.clone(),
            debug: block.debug,
            hold: duration(block.hold, Duration::from_secs(10)),
            mirror,
        }),
        Err(problems) => {
            c.problems.extend(problems.iter().cloned());
            None
        }
    }
}

fn mirror(c: &mut Checker<'_>, at: &Path, block: Option<&MirrorBlock>) -> MirrorLimits {
    const LARGEST_BODY: u64 = 16 * 1024 * 1024;
    let body = block.and_then(|block| block.body);
    let body = body.map_or(64 * 1024, |bytes| *bytes);
    if body > LARGEST_BODY {
        c.refuse(
            at.key("body"),
            "copies are held in memory: at most 16MiB of a body",
        );
    }
    let queue = block.and_then(|block| block.queue).unwrap_or(256);
    if queue == 0 {
        c.refuse(at.key("queue"), "0 would copy nothing: write at least 1");
    }
    MirrorLimits {
        body: usize::try_from(body).unwrap_or(usize::MAX),
        queue,
    }
}

/// Whether clients can be told apart by certificates at all.
pub(super) fn asks_for_certificates(wire: &GatewayFile) -> bool {
    wire.listeners.iter().any(|(_, listener)| {
        let tls = listener.tls.as_ref();
        tls.is_some_and(|tls| tls.clients != ClientsWord::None)
    })
}

/// The problem where they cannot be told apart.
pub(super) const NOBODY_ASKS: &str = "no listener asks clients for certificates, so clients cannot be told apart: write `tls: { clients: required, … }` on one";

/// Properties that identify a client.
pub(super) fn order(c: &mut Checker<'_>, wire: &GatewayFile) -> Arc<[Kind]> {
    let words = wire
        .identity
        .as_ref()
        .and_then(|block| block.order.as_ref());
    let Some(words) = words else {
        return Arc::new(Kind::ALL);
    };
    let at = Path::root().key("identity").key("order");
    if words.is_empty() {
        c.refuse(
            &at,
            "no client could be identified: name at least one, or remove this",
        );
    }
    for (index, word) in words.iter().enumerate() {
        if words[..index].contains(word) {
            c.refuse(at.index(index), "this is listed already");
        }
    }
    let kinds = words.iter().map(|word| match word {
        KindWord::Uri => Kind::Uri,
        KindWord::Dns => Kind::Dns,
        KindWord::IssuerCn => Kind::IssuerCn,
        KindWord::Sha256 => Kind::Sha256,
    });
    kinds.collect()
}

/// Where a route leads.
pub(super) fn serves(
    c: &mut Checker<'_>,
    at: &Path,
    block: &RouteBlock,
    wire: &GatewayFile,
) -> Serves {
    let names = || {
        let names: Vec<&str> = wire.upstreams.iter().map(|(name, _)| name).collect();
        names.join(", ")
    };
    match (&block.upstream, block.sharded) {
        (None, true) => {
            if wire.shard_map.is_none() {
                c.refuse(
                    at.key("sharded"),
                    "this needs a shard map: write `shard_map: { file: shards.yaml }`",
                );
            }
            return Serves::Shard;
        }
        (Some(_), true) => {
            let message = "a sharded route has the upstreams of the shard map: remove `upstream` or `sharded`";
            c.refuse(at.key("upstream"), message);
        }
        (None, false) => {
            let message = format!(
                "the route leads nowhere: write `upstream` with one of {}",
                names()
            );
            c.refuse(at, message);
        }
        (Some(upstream), false) => {
            let position = wire
                .upstreams
                .0
                .iter()
                .position(|(name, _)| name == upstream);
            match position {
                Some(index) => return Serves::Upstream(index),
                None => {
                    let message = format!(
                        "there is no upstream `{upstream}`: the upstreams are {}",
                        names()
                    );
                    c.refuse(at.key("upstream"), message);
                }
            }
        }
    }
    Serves::Upstream(0)
}
