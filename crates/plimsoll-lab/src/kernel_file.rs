//! Files that the kernel writes when they are read: `/proc`, `/sys`, control groups.

use std::fs::File;
use std::io::{Read as _, Result};
use std::path::Path;

/// Most of them are shorter.
const USUALLY_BELOW: usize = 4096;

/// The text of such a file, as a rule in four system calls. `fs::read_to_string` needs seven: it asks for size and place first, which say
/// nothing here, and begins with 32 bytes.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let mut text = String::with_capacity(USUALLY_BELOW);
    // Of a `File` itself this would ask for the size, too.
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_to_its_end() {
        let status = read("/proc/self/status").unwrap();
        assert!(status.starts_with("Name:"), "{status}");
        let mappings = read("/proc/self/smaps").unwrap();
        assert!(mappings.len() > USUALLY_BELOW && mappings.ends_with('\n'));
        assert!(read("/proc/none").is_err());
    }
}
