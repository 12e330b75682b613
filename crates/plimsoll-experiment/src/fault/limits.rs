//! `cpu`, `memory` and `disk_full`: a component gets less than it needs.

use plimsoll_base::document::Path as Pointer;

use super::{FaultKind, Scope};
use crate::component::possible_cores;
use crate::loader::Loader;
use crate::wire::FaultWire;

/// Limits of processors that are closer to each other cannot be told apart when they are read back.
pub const CORES_APART: f64 = 0.01;
/// Less memory than any program needs to exist: a page.
const FEWEST_BYTES: u64 = 4096;

pub(super) fn cpu(
    loader: &mut Loader<'_>,
    component: String,
    (wire, scope): (&FaultWire, &Scope<'_>),
    at: &Pointer,
) -> Option<FaultKind> {
    let Some(cores) = wire.cores else {
        loader.refuse(
            at,
            "says not how much is left: add `cores`, such as `cores: 0.1`",
        );
        return None;
    };
    if !possible_cores().contains(&cores) {
        let message =
            format!("`{cores}` is not an amount of processors: write 0.01 or more, such as `0.1`");
        loader.refuse(at.key("cores"), message);
    }
    let own = scope.component(&component);
    let quota = own.and_then(|own| own.placement.cpu_quota.as_ref());
    if let Some(quota) = quota.filter(|quota| cores > quota.cores - CORES_APART) {
        let message = format!(
            "is not less than the `cpu_quota` of `{component}`, which is {}: write less",
            quota.cores
        );
        loader.refuse(at.key("cores"), message);
    }
    Some(FaultKind::Cpu { component, cores })
}

pub(super) fn memory(
    loader: &mut Loader<'_>,
    component: String,
    wire: &FaultWire,
    at: &Pointer,
) -> Option<FaultKind> {
    let Some(limit) = wire.limit else {
        loader.refuse(
            at,
            "says not how much is left: add `limit`, such as `limit: 64MiB`",
        );
        return None;
    };
    if *limit < FEWEST_BYTES {
        loader.refuse(
            at.key("limit"),
            "is less than any program needs: write for instance `64MiB`",
        );
    }
    Some(FaultKind::Memory {
        component,
        bytes: *limit,
    })
}

pub(super) fn disk_full(
    loader: &mut Loader<'_>,
    component: String,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<FaultKind> {
    if !scope.has_disk(&component) {
        let message = format!(
            "`{component}` has no disk of its own, and that of this machine is not filled: add `disk: 64MiB` to the component"
        );
        loader.refuse(at.key("disk_full"), message);
        return None;
    }
    Some(FaultKind::DiskFull(component))
}
