//! Text that nobody can guess: identities of runs and secrets minted for them. The seed does not give it, on purpose.

use crate::error::LabError;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

/// `bytes` random bytes of the system, hexadecimal.
///
/// # Errors
/// [`LabError::Storage`] when the system gives none.
pub fn mint(bytes: usize) -> Result<String, LabError> {
    let source = Path::new("/dev/urandom");
    let mut random = vec![0; bytes];
    std::fs::File::open(source)
        .and_then(|mut file| file.read_exact(&mut random))
        .map_err(LabError::storage("read random bytes from", source))?;
    Ok(random
        .iter()
        .fold(String::with_capacity(2 * bytes), |mut text, byte| {
            write!(text, "{byte:02x}").expect("invariant: writing to a String does not fail");
            text
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_never_alike() {
        let (one, other) = (mint(8).unwrap(), mint(8).unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 16);
    }
}
