//! Our mock upstream as a component.

use std::path::PathBuf;

use plimsoll_base::document::Path as Pointer;

use super::placement::shards;
use crate::experiment::loader::Loader;
use crate::experiment::wire::MockWire;

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
}

pub(super) fn convert(loader: &mut Loader<'_>, wire: &MockWire, at: &Pointer) -> Mock {
    if wire.port == Some(0) {
        loader.refuse(
            at.key("port"),
            "0 is not a port: write 1 to 65535, or remove it for a free one",
        );
    }
    Mock {
        root: wire
            .root
            .as_ref()
            .map(|root| loader.directory(&at.key("root"), root)),
        port: wire.port,
        shards: shards(loader, wire.shards, &at.key("shards")),
        seed: wire.seed,
    }
}
