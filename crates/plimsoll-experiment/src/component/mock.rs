//! Our mock upstream as a component.

use std::path::PathBuf;

use plimsoll_base::document::Path as Pointer;

use super::placement::shards;
use crate::loader::Loader;
use crate::wire::{HttpsWire, MockWire};

/// Our mock upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mock {
    /// The directory of its stubs.
    pub root: Option<PathBuf>,
    /// A fixed port; `None` takes a free one.
    pub port: Option<u16>,
    /// Threads; `None`: one per processor that it may use.
    pub shards: Option<usize>,
    /// Seed of its random delays; `None`: derived from the run's.
    pub seed: Option<u64>,
    /// Its listener over TLS.
    pub https: Option<Https>,
}

/// A listener over TLS, called [`HTTPS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Https {
    /// A fixed port; `None` takes a free one.
    pub port: Option<u16>,
    /// The files of its certificate and key; `None`: it makes its own.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The file of the authorities of which clients must have a certificate.
    pub client_ca: Option<PathBuf>,
}

/// The name of a mock's listener over TLS.
pub const HTTPS: &str = "https";

pub(super) fn convert(loader: &mut Loader<'_>, wire: &MockWire, at: &Pointer) -> Mock {
    refuse_zero(loader, wire.port, at);
    Mock {
        root: wire
            .root
            .as_ref()
            .map(|root| loader.directory(&at.key("root"), root)),
        port: wire.port,
        shards: shards(loader, wire.shards, &at.key("shards")),
        seed: wire.seed,
        https: wire
            .https
            .as_ref()
            .map(|wire| https(loader, wire, &at.key("https"))),
    }
}

fn https(loader: &mut Loader<'_>, wire: &HttpsWire, at: &Pointer) -> Https {
    refuse_zero(loader, wire.port, at);
    let (cert, key) = (wire.cert.as_deref(), wire.key.as_deref());
    for (own, other, missing) in [(cert, key, "key"), (key, cert, "cert")] {
        if own.is_some() && other.is_none() {
            let message = format!(
                "has a certificate without its key, or the key alone: write `{missing}` as well"
            );
            loader.refuse(at, message);
        }
    }
    let mut file = |name: &str, path: Option<&str>| {
        let path = path?;
        // What it holds is judged by the mock itself; that it is there can be said now.
        loader.read(&at.key(name), path);
        Some(loader.resolve(path))
    };
    let (cert, key) = (file("cert", cert), file("key", key));
    Https {
        port: wire.port,
        identity: cert.zip(key),
        client_ca: file("client_ca", wire.client_ca.as_deref()),
    }
}

fn refuse_zero(loader: &mut Loader<'_>, port: Option<u16>, at: &Pointer) {
    if port == Some(0) {
        loader.refuse(
            at.key("port"),
            "0 is not a port: write 1 to 65535, or remove it for a free one",
        );
    }
}
