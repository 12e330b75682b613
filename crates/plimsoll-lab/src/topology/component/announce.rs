//! The line in which a component of ours says where it listens, and with it that it is ready.

use super::address::Address;
use crate::topology::child::{BoundedLines, Child, Exit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a component of ours may take.
const WITHIN: Duration = Duration::from_secs(10);
const LINE_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Announcement {
    listening: BTreeMap<String, SocketAddr>,
}

/// Why there was no announcement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The component ended first.
    Ended(Exit),
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(exit) => exit.fmt(f),
            Self::Other(reason) => reason.fmt(f),
        }
    }
}

/// Waits for the announcement: its listeners by name.
pub(super) async fn wait(child: &mut Child) -> Result<Vec<(String, Address)>, Silence> {
    let other = |reason: &str| Silence::Other(reason.to_owned());
    let stdout = child
        .take_stdout()
        .ok_or_else(|| other("its output is not connected to the lab"))?;
    let mut lines = BoundedLines::new(stdout, LINE_BYTES);
    let line = tokio::select! {
        line = lines.next() => line,
        () = tokio::time::sleep(WITHIN) => {
            return Err(other(&format!("it was not ready within {} s", WITHIN.as_secs())));
        }
    };
    match line {
        Ok(Some(line)) => parse(&line).map_err(Silence::Other),
        Ok(None) => Err(Silence::Ended(child.ended().await)),
        Err(error) => Err(other(&format!("its output cannot be read: {error}"))),
    }
}

fn parse(line: &str) -> Result<Vec<(String, Address)>, String> {
    let announcement: Announcement = serde_json::from_str(line)
        .map_err(|_| format!("it said `{line}` instead of where it listens"))?;
    let listening = announcement.listening.into_iter();
    Ok(listening
        .map(|(name, address)| (name, address.into()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        assert_eq!(
            parse(r#"{"listening":{"main":"127.0.0.1:40123"}}"#),
            Ok(vec![("main".to_owned(), Address::new("127.0.0.1", 40123))])
        );
        assert_eq!(
            parse("hello"),
            Err("it said `hello` instead of where it listens".to_owned())
        );
    }
}
