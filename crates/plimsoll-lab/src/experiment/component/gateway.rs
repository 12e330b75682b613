//! Our gateway as a component.

use std::path::PathBuf;

use plimsoll_base::document::Path as Pointer;

use super::placement::shards;
use crate::experiment::loader::Loader;
use crate::experiment::template::Template;
use crate::experiment::wire::GatewayWire;

/// Our gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// Its configuration file.
    pub config: PathBuf,
    /// The file's text, with its substitutions.
    pub text: Template,
    /// Threads; `None`: one per processor that it may use.
    pub shards: Option<usize>,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &GatewayWire,
    at: &Pointer,
) -> Gateway {
    Gateway {
        config: loader.resolve(&wire.config),
        text: loader.read_template(&at.key("config"), &wire.config, name),
        shards: shards(loader, wire.shards, &at.key("shards")),
    }
}
