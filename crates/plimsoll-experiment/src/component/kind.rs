//! Kinds of components: our mock, our gateway, a foreign command, or a server that runs already.

use plimsoll_base::document::Path as Pointer;

use super::command::{self, Command, MAIN};
use super::external::{self, External};
use super::gateway::{self, Gateway};
use super::mock::{self, HTTPS, Mock};
use crate::loader::Loader;
use crate::wire::ComponentWire;

/// Kind of a component.
#[derive(Debug, Clone)]
pub enum ComponentKind {
    /// Our mock upstream.
    Mock(Mock),
    /// Our gateway.
    Gateway(Gateway),
    /// A foreign program.
    Command(Command),
    /// A server that runs already.
    External(External),
}

impl ComponentKind {
    /// The word for it: `mock`, `gateway`, `command` or `external`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Mock(_) => "mock",
            Self::Gateway(_) => "gateway",
            Self::Command(_) => "command",
            Self::External(_) => "external",
        }
    }

    /// The listeners that it may have; `None` when only the running component knows.
    pub(crate) fn listeners(&self) -> Option<Vec<&str>> {
        match self {
            Self::Mock(mock) => {
                let https = mock.https.as_ref().map(|_| HTTPS);
                Some([MAIN].into_iter().chain(https).collect())
            }
            Self::External(_) => Some(vec![MAIN]),
            Self::Command(command) => Some(
                command
                    .listeners
                    .iter()
                    .map(|listener| listener.name.as_str())
                    .collect(),
            ),
            Self::Gateway(_) => None,
        }
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &ComponentWire,
    at: &Pointer,
) -> Option<ComponentKind> {
    let kind = match (&wire.mock, &wire.gateway, &wire.command, &wire.external) {
        (Some(mock), None, None, None) => {
            ComponentKind::Mock(mock::convert(loader, mock, &at.key("mock")))
        }
        (None, Some(gateway), None, None) => {
            ComponentKind::Gateway(gateway::convert(loader, name, gateway, &at.key("gateway")))
        }
        (None, None, Some(command), None) => {
            ComponentKind::Command(command::convert(loader, name, command, wire, at))
        }
        (None, None, None, Some(url)) => {
            ComponentKind::External(external::convert(loader, name, url, wire, at))
        }
        (None, None, None, None) => {
            loader.refuse(
                at,
                "is no kind of component: write one of `mock`, `gateway`, `command` and `external`",
            );
            return None;
        }
        _ => {
            loader.refuse(
                at,
                "a component is one thing: keep one of `mock`, `gateway`, `command` and `external`",
            );
            return None;
        }
    };
    refuse_foreign_keys(loader, wire, kind.word(), at);
    Some(kind)
}

fn refuse_foreign_keys(loader: &mut Loader<'_>, wire: &ComponentWire, kind: &str, at: &Pointer) {
    let keys = [
        ("render", wire.render.is_some(), "command"),
        ("env", wire.env.is_some(), "command"),
        ("ready", wire.ready.is_some(), "command"),
        ("listeners", wire.listeners.is_some(), "command"),
        ("disk", wire.disk.is_some(), "command"),
        ("optional", wire.optional.is_some(), "command"),
        ("probe", wire.probe.is_some(), "external"),
    ];
    for (key, present, owner) in keys {
        if present && kind != owner {
            loader.refuse_key(
                at.key(key),
                format!(
                    "`{key}` belongs to `{owner}` components, and this is a `{kind}`: remove it"
                ),
            );
        }
    }
}
