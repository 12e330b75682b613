//! A component that faults break: a server of Python, which obeys libfaketime and takes a new certificate.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The server as a component, with these words (`calibration/faults/server.py`).
pub fn component(words: impl IntoIterator<Item = String>) -> Value {
    let fixed = ["python3", &program().display().to_string(), "${self.port}"].map(str::to_owned);
    json!({ "command": fixed.into_iter().chain(words).collect::<Vec<_>>() })
}

/// The program, by which its processes are known.
pub fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/server.py")
}
