//! A component that faults break: a server of Python, which obeys libfaketime and takes a new certificate. And one beside it that takes faults back.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The server as a component, with these words (`calibration/faults/server.py`).
pub fn component(words: impl IntoIterator<Item = String>) -> Value {
    let fixed = ["python3", &program().display().to_string(), "${self.port}"].map(str::to_owned);
    json!({ "command": fixed.into_iter().chain(words).collect::<Vec<_>>() })
}

/// A component that takes a fault back, as these words say (`calibration/faults/accomplice.py`).
pub fn accomplice(words: &[&str]) -> Value {
    let program = directory().join("accomplice.py").display().to_string();
    let fixed = ["python3", &program, "${self.host}", "${self.port}"];
    let command = [&fixed, words].concat();
    json!({ "command": command })
}

/// The program, by which its processes are known.
pub fn program() -> PathBuf {
    directory().join("server.py")
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("faults")
}
