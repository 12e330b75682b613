//! Committed files that code makes, such as schemas and generated pages: a test holds the file against what the code makes now.

use std::path::Path;

/// The variable of the environment that has such tests write their files instead.
const UPDATE: &str = "UPDATE";

/// Holds the file at `path`, below the crate's `manifest_dir`, against `expected`. With `UPDATE` set it writes the file.
///
/// # Panics
/// The file is another, or cannot be written.
pub fn check(manifest_dir: &str, path: &str, expected: &str) {
    let file = Path::new(manifest_dir).join(path);
    if std::env::var_os(UPDATE).is_some() {
        let written = std::fs::write(&file, expected);
        return written.unwrap_or_else(|error| panic!("writing {path}: {error}"));
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == expected,
        "{path} is not current: run this test again with {UPDATE}=1"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_differs_is_named() {
        let here = env!("CARGO_MANIFEST_DIR");
        let same = std::fs::read_to_string(Path::new(here).join("Cargo.toml")).unwrap();
        check(here, "Cargo.toml", &same);
        if std::env::var_os(UPDATE).is_none() {
            let other = std::panic::catch_unwind(|| check(here, "Cargo.toml", "other"));
            let said = *other.unwrap_err().downcast::<String>().unwrap();
            let expected = "Cargo.toml is not current: run this test again with UPDATE=1";
            assert_eq!(said, expected);
        }
    }
}
