//! Writes the cases of the strictness table as inputs of the fuzz targets: `seeds DIR` fills `DIR/<target>/`.

#[path = "../../crates/plimsoll/tests/strictness/case.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "made for tests, which need all of it"
)]
mod case;

use case::{Case, load};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longer cases are long in one place, and slow.
const LONGEST: usize = 2000;

fn main() -> io::Result<()> {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: seeds DIR"));
    };
    for (index, case) in cases("requests").iter().enumerate() {
        let message = &case.message[..];
        write(&dir, "request_head", index, &[message])?;
        // Every shape of pieces, every other time with small limits.
        let shape = u8::try_from(index % 128).unwrap_or_default() * 2;
        write(&dir, "connection", index, &[&[shape], message])?;
        if let Some(body) = chunked_body(message) {
            write(&dir, "chunked_body", index, &[body])?;
        }
    }
    for (index, case) in cases("responses").iter().enumerate() {
        let message = &case.message[..];
        let to_head = case.more.get("method").is_some_and(|name| name == "HEAD");
        let first = if to_head { b"H" } else { b"G" };
        write(&dir, "response_head", index, &[first, message])?;
        let shape = u8::try_from(index % 128).unwrap_or_default() * 2 + 1;
        write(&dir, "connection", 1000 + index, &[&[shape], message])?;
    }
    Ok(())
}

fn cases(role: &str) -> Vec<Case> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/plimsoll/tests/strictness/cases");
    let topics = load(&root.join(role));
    let cases = topics.into_iter().flat_map(|topic| topic.cases);
    cases.filter(|case| case.message.len() <= LONGEST).collect()
}

/// What follows a head that says `chunked`.
fn chunked_body(message: &[u8]) -> Option<&[u8]> {
    let end = message
        .windows(4)
        .position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&message[..end]).to_ascii_lowercase();
    let body = &message[end + 4..];
    head.contains("transfer-encoding: chunked").then_some(body)
}

fn write(dir: &Path, target: &str, index: usize, parts: &[&[u8]]) -> io::Result<()> {
    let dir = dir.join(target);
    fs::create_dir_all(&dir)?;
    fs::write(dir.join(format!("case-{index}")), parts.concat())
}
