//! k6: the executor for a constant arrival rate, by `bench/peers/k6.js`; with as many virtual users as the others have connections,
//! and with enough for all who wait during the freeze. Read are the figures of its summary, in milliseconds.

use super::{CONNECTIONS, Peer, RATE, Reported, whole};
use serde_json::Value;

/// More than arrive during the freeze.
const ENOUGH_USERS: u32 = 4500;

pub const FEW: Peer = Peer {
    tool: "k6",
    command: |seconds| command(seconds, CONNECTIONS),
    read,
};

pub const ENOUGH: Peer = Peer {
    tool: "k6",
    command: |seconds| command(seconds, ENOUGH_USERS),
    read,
};

fn command(seconds: u32, users: u32) -> String {
    format!(
        "k6 run --quiet -e URL=$URL -e RATE={RATE} -e DURATION={seconds}s -e VUS={users} bench/peers/k6.js"
    )
}

fn read(output: &str) -> Option<Reported> {
    let metrics: Value = serde_json::from_str(output).ok()?;
    let value = |metric: &str, name: &str| metrics[metric]["values"][name].as_f64();
    let seconds = |name| value("http_req_duration", name).map(|milliseconds| milliseconds / 1e3);
    let dropped = value("dropped_iterations", "count").map_or_else(String::new, |count| {
        format!("it says that {count} iterations were dropped")
    });
    Some(Reported {
        requests: whole(value("http_reqs", "count")?),
        p95: seconds("p(95)")?,
        p99: seconds("p(99)")?,
        max: seconds("max")?,
        beside: dropped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_its_summary_are_read() {
        let output = r#"{"http_reqs":{"values":{"count":36050,"rate":1802.5}},"http_req_duration":{"values":{"p(95)":0.5,"p(99)":1.25,"max":2000}},"dropped_iterations":{"values":{"count":3950}}}"#;
        let expected = Reported {
            requests: 36_050,
            p95: 0.0005,
            p99: 0.00125,
            max: 2.0,
            beside: "it says that 3950 iterations were dropped".to_owned(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read("level=error"), None);
    }
}
