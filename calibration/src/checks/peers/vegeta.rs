//! vegeta: a constant rate by as many workers as it takes, which share 50 connections. Read is its report as JSON, in nanoseconds.

use super::{CONNECTIONS, Peer, RATE, Reported};
use serde_json::Value;

pub const PEER: Peer = Peer {
    tool: "vegeta",
    // The shell that waits for the two of them may be ended early; they end by themselves, for the duration is theirs.
    command: |seconds| {
        format!(
            "echo GET $URL | vegeta attack -rate {RATE}/s -duration {seconds}s \
             -connections {CONNECTIONS} -max-connections {CONNECTIONS} | vegeta report -type json"
        )
    },
    read,
};

fn read(output: &str) -> Option<Reported> {
    let report: Value = serde_json::from_str(output).ok()?;
    let latencies = &report["latencies"];
    let seconds = |name: &str| {
        latencies[name]
            .as_f64()
            .map(|nanoseconds| nanoseconds / 1e9)
    };
    Some(Reported {
        requests: report["requests"].as_u64()?,
        p95: seconds("95th")?,
        p99: seconds("99th")?,
        max: seconds("max")?,
        beside: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_report_is_read() {
        let output = r#"{"latencies":{"50th":121869,"95th":1000000000,"99th":1800000000,"max":2000000000},"requests":40000,"success":1}"#;
        let expected = Reported {
            requests: 40_000,
            p95: 1.0,
            p99: 1.8,
            max: 2.0,
            beside: String::new(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read(""), None);
    }
}
