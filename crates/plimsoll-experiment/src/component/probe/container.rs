//! Probes of a container of this host: `container: NAME`, asked of the engine that runs it.

use crate::loader::Loader;
use crate::template::Reference;
use plimsoll_base::document::Path as Pointer;
use std::path::PathBuf;

/// Where an engine listens unless it is said otherwise.
const SOCKET: &str = "/var/run/docker.sock";
/// The variable by which Docker's and Podman's clients find their engine.
const VARIABLE: &str = "DOCKER_HOST";

/// A container of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerProbe {
    /// Its name or its id.
    pub name: String,
    /// The unix socket of the engine's API.
    pub socket: PathBuf,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    socket: Option<&str>,
    at: &Pointer,
) -> Option<ContainerProbe> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || !name.chars().all(allowed) {
        loader.refuse(
            at.key("container"),
            format!("`{name}` is no name of a container: write letters, digits, `_`, `.` and `-`"),
        );
        return None;
    }
    let socket = match socket {
        Some(path) if path.starts_with('/') => PathBuf::from(path),
        Some(path) => {
            loader.refuse(
                at.key("socket"),
                format!("`{path}` is no path from the root: write for instance `/run/podman/podman.sock`"),
            );
            return None;
        }
        None => of_environment(loader, at)?,
    };
    Some(ContainerProbe {
        name: name.to_owned(),
        socket,
    })
}

fn of_environment(loader: &mut Loader<'_>, at: &Pointer) -> Option<PathBuf> {
    let host = loader.held(&Reference::Environment(VARIABLE.to_owned()));
    let Some(host) = host.filter(|host| !host.is_empty()) else {
        return Some(PathBuf::from(SOCKET));
    };
    let path = host.strip_prefix("unix://").map(PathBuf::from);
    if path.is_none() {
        loader.refuse(
            at.key("container"),
            format!("`{VARIABLE}` is `{host}`, and only containers of this host can be looked at: write `socket: {SOCKET}` beside it"),
        );
    }
    path
}
