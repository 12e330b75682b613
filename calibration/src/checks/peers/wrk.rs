//! wrk: closed, without a rate; each connection sends as soon as it is answered. Its default timeout of 2 s would take the frozen
//! requests out of the figures. Read is a line of `bench/peers/wrk.lua`.

use super::{CONNECTIONS, Peer, Reported};
use serde_json::Value;

pub const PEER: Peer = Peer {
    tool: "wrk",
    command: |seconds| {
        format!(
            "wrk -t 2 -c {CONNECTIONS} -d {seconds}s --latency --timeout 10s -s bench/peers/wrk.lua $URL"
        )
    },
    read,
};

fn read(output: &str) -> Option<Reported> {
    let line = output.lines().find(|line| line.starts_with('{'))?;
    let figures: Value = serde_json::from_str(line).ok()?;
    let seconds = |name: &str| {
        figures[name]
            .as_f64()
            .map(|microseconds| microseconds / 1e6)
    };
    Some(Reported {
        requests: figures["requests"].as_u64()?,
        p95: seconds("p95")?,
        p99: seconds("p99")?,
        max: seconds("max")?,
        beside: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_script_is_read() {
        let output = "Requests/sec: 177467.01\n{\"requests\":550971,\"p95\":3500,\"p99\":9000,\"max\":34600}\n";
        let expected = Reported {
            requests: 550_971,
            p95: 0.0035,
            p99: 0.009,
            max: 0.0346,
            beside: String::new(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read("Requests/sec: 177467.01\n"), None);
    }
}
