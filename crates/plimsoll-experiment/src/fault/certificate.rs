//! `certificate`: a component shows one that clients must not accept.

use plimsoll_base::document::Path as Pointer;
use std::path::PathBuf;

use super::{FaultKind, Scope};
use crate::component::Command;
use crate::loader::Loader;
use crate::wire::{FaultWire, FlawWire, SignalWire};

/// A certificate that is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The component that shows it.
    pub component: String,
    /// The file that it reads.
    pub file: PathBuf,
    /// Whether `file` is the name of one that it renders.
    pub is_rendered: bool,
    /// Fault of the new one.
    pub flaw: Flaw,
    /// The files of certificate and private key of the authority that signs it.
    pub authority: (PathBuf, PathBuf),
    /// How the component is told.
    pub reload: Option<Reload>,
}

/// Fault of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It ended yesterday.
    Expired,
    /// It begins tomorrow.
    NotYetValid,
    /// It is for another host.
    WrongName,
    /// Nobody knows who signed it.
    UnknownIssuer,
}

/// Signal by which a component reads its files anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// SIGHUP
    Hup,
    /// SIGUSR1
    Usr1,
    /// SIGUSR2
    Usr2,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    component: String,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<FaultKind> {
    let missing = [
        ("file", wire.file.is_some(), "file: cert.pem"),
        ("as", wire.flaw.is_some(), "as: expired"),
        ("authority", wire.authority.is_some(), "authority: ca.pem"),
        (
            "authority_key",
            wire.authority_key.is_some(),
            "authority_key: ca.key",
        ),
    ];
    for (key, _, example) in missing.iter().filter(|(_, written, _)| !written) {
        let message = format!("has no `{key}`: add it, for instance `{example}`");
        loader.refuse(at, message);
    }
    let file = wire.file.as_ref()?;
    let mut read = |key: &str, path: &Option<String>| {
        let path = path.as_ref()?;
        loader.read(&at.key(key), path);
        Some(loader.resolve(path))
    };
    let authority = read("authority", &wire.authority);
    let authority_key = read("authority_key", &wire.authority_key);
    // Then its own copy is replaced, and nothing of the user's.
    let renders = |command: &Command| command.files.iter().any(|known| known.name == *file);
    let is_rendered = scope.command(&component).is_some_and(renders);
    if is_rendered && scope.has_disk(&component) {
        let message = format!(
            "is on the `disk` of `{component}`, which it alone sees: remove `disk`, or name a file of the experiment"
        );
        loader.refuse(at.key("file"), message);
    }
    if !is_rendered {
        loader.read(&at.key("file"), file);
    }
    Some(FaultKind::Certificate(Certificate {
        component,
        file: match is_rendered {
            true => PathBuf::from(file),
            false => loader.resolve(file),
        },
        is_rendered,
        flaw: match wire.flaw? {
            FlawWire::Expired => Flaw::Expired,
            FlawWire::NotYetValid => Flaw::NotYetValid,
            FlawWire::WrongName => Flaw::WrongName,
            FlawWire::UnknownIssuer => Flaw::UnknownIssuer,
        },
        authority: (authority?, authority_key?),
        reload: wire.reload.map(|signal| match signal {
            SignalWire::Hup => Reload::Hup,
            SignalWire::Usr1 => Reload::Usr1,
            SignalWire::Usr2 => Reload::Usr2,
        }),
    }))
}
