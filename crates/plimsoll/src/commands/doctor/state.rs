//! Where the generator's ceiling is kept: the user's state directory, as the XDG base directory specification has it.

use crate::environment::variable;
use plimsoll_lab::doctor::Stored;
use std::path::PathBuf;

/// The ceiling that is stored for this host, if any.
pub fn stored() -> Stored {
    directory().map_or(Stored::Absent, |directory| Stored::read(&directory))
}

/// The directory of our own within it; `None` where the environment names none.
pub(super) fn directory() -> Option<PathBuf> {
    choose(variable)
}

/// Relative paths are invalid there and ignored, says the specification.
fn choose(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_is_the_users() {
        let check = |state: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let chosen = choose(|name| match name {
                "XDG_STATE_HOME" => state.map(str::to_owned),
                _ => home.map(str::to_owned),
            });
            assert_eq!(chosen, expected.map(PathBuf::from));
        };
        check(Some("/s"), Some("/h"), Some("/s/plimsoll"));
        check(None, Some("/h"), Some("/h/.local/state/plimsoll"));
        check(Some("s"), Some("/h"), Some("/h/.local/state/plimsoll"));
        check(Some(""), Some(""), None);
        check(None, None, None);
    }
}
