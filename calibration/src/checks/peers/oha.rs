//! oha: `-q` is the rate of all its connections together; without and with its correction for coordinated omission.

use super::{CONNECTIONS, Peer, RATE, Reported};
use serde_json::Value;

pub const PLAIN: Peer = Peer {
    tool: "oha",
    command: |seconds| command(seconds, ""),
    read,
};

pub const CORRECTED: Peer = Peer {
    tool: "oha",
    command: |seconds| command(seconds, "--latency-correction "),
    read,
};

fn command(seconds: u32, correction: &str) -> String {
    format!(
        "oha -z {seconds}s -c {CONNECTIONS} -q {RATE} {correction}--no-tui --output-format json $URL"
    )
}

fn read(output: &str) -> Option<Reported> {
    let report: Value = serde_json::from_str(output).ok()?;
    let percentile = |name: &str| report["latencyPercentiles"][name].as_f64();
    let statuses = report["statusCodeDistribution"].as_object()?;
    Some(Reported {
        requests: statuses.values().filter_map(Value::as_u64).sum(),
        p95: percentile("p95")?,
        p99: percentile("p99")?,
        max: report["summary"]["slowest"].as_f64()?,
        beside: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_json_is_read() {
        let output = r#"{"summary":{"slowest":2.0},"latencyPercentiles":{"p90":null,"p95":1.0,"p99":1.8},"statusCodeDistribution":{"200":39990,"503":10}}"#;
        let expected = Reported {
            requests: 40_000,
            p95: 1.0,
            p99: 1.8,
            max: 2.0,
            beside: String::new(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read("oha: error"), None);
    }
}
