//! The one place where the environment is read.

use plimsoll_experiment::{Disk, Surroundings};

/// The files and variables that an experiment may refer to.
pub fn surroundings() -> impl Surroundings {
    Disk(variable)
}

/// Value of a variable.
pub fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "`${env:NAME}` and the user's directories are resolved here, in the binary"
    )]
    std::env::var(name).ok()
}

/// The names of variables that begin so, in order.
pub fn variables_of(prefix: &str) -> Vec<String> {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    names
}
