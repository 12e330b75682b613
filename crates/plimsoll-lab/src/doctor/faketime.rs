//! Whether clocks of components can be set wrong here.

use super::Fact;
use crate::topology::component::faketime;

const NAME: &str = "faketime";

/// Looks for the library where distributions have it.
pub(super) fn look() -> Fact {
    match faketime() {
        Some(library) => Fact::ok(NAME, library.display().to_string()),
        None => Fact::limits(
            NAME,
            "there is no libfaketime".to_owned(),
            "`clock` faults",
            "install the package `libfaketime` (Debian), or its like",
        ),
    }
}
