//! hey: `-q` is the rate of each of its workers, so 40/s for 2,000/s by 50. Read is the report that it prints.

use super::{CONNECTIONS, Peer, RATE, Reported};

pub const PEER: Peer = Peer {
    tool: "hey",
    command: |seconds| {
        let each = RATE / CONNECTIONS;
        format!("hey -z {seconds}s -c {CONNECTIONS} -q {each} $URL")
    },
    read,
};

fn read(output: &str) -> Option<Reported> {
    // `  99%% in 0.0075 secs`, with one or two signs, and `  Slowest:	0.0124 secs`.
    let percentile = |name: &str| -> Option<f64> {
        let lines = output.lines().map(str::trim);
        let mut rest = lines.filter_map(|line| line.strip_prefix(name)?.split_once(" in "));
        rest.next()?.1.split_whitespace().next()?.parse().ok()
    };
    let after = |name: &str| -> Option<f64> {
        let (_, rest) = output.split_once(name)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    // `  [200]	6000 responses`
    let answered = output.split_once("Status code distribution:")?.1;
    let counts = answered
        .lines()
        .filter_map(|line| line.trim().strip_suffix(" responses"))
        .filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
    Some(Reported {
        requests: counts.sum(),
        p95: percentile("95%")?,
        p99: percentile("99%")?,
        max: after("Slowest:")?,
        beside: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_report_is_read() {
        let output = "
Summary:
  Total:	3.0139 secs
  Slowest:	0.0124 secs
  Fastest:	0.0000 secs

Latency distribution:
  90%% in 0.0030 secs
  95%% in 0.0039 secs
  99%% in 0.0075 secs

Status code distribution:
  [200]	5990 responses
  [503]	10 responses
";
        let expected = Reported {
            requests: 6000,
            p95: 0.0039,
            p99: 0.0075,
            max: 0.0124,
            beside: String::new(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read("Error: nothing"), None);
    }
}
