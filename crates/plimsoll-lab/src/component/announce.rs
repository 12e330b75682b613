//! The line in which a component of ours says where it listens, and with it that it is ready.

use super::address::Address;
use crate::child::{BoundedLines, Child};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a component of ours may take.
const WITHIN: Duration = Duration::from_secs(10);
const LINE_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Announcement {
    listening: BTreeMap<String, SocketAddr>,
}

/// Waits for the announcement: its listeners by name. The error is a reason in words.
pub(super) async fn wait(child: &mut Child) -> Result<Vec<(String, Address)>, String> {
    let stdout = child
        .take_stdout()
        .ok_or("its output is not connected to the lab")?;
    let mut lines = BoundedLines::new(stdout, LINE_BYTES);
    let line = tokio::select! {
        line = lines.next() => line,
        () = tokio::time::sleep(WITHIN) => {
            return Err(format!("it was not ready within {} s", WITHIN.as_secs()));
        }
    };
    match line {
        Ok(Some(line)) => parse(&line),
        Ok(None) => Err(child.ended().await.to_string()),
        Err(error) => Err(format!("its output cannot be read: {error}")),
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
