//! wrk with one thread. It also drives servers at saturation.

use super::{CONNECTIONS, Job};
use crate::Trouble;
use crate::bench::Bench;
use crate::peers;
use std::process::Command;

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Trouble> {
    let mut command = Command::new(peers::find(&bench.root, "wrk")?);
    command
        .args(["-t1", &format!("-c{CONNECTIONS}")])
        .arg(format!("-d{}s", job.seconds()))
        .args(["-H", crate::server::authorization().trim()])
        .arg(job.url());
    Ok(command)
}

/// What wrk said in the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// Requests that were answered.
    pub requests: f64,
    /// In this many seconds.
    pub seconds: f64,
}

/// Reads `N requests in T, …`. No answer at all, one that is not 2xx or 3xx, and a broken connection are errors.
pub fn said(output: &str) -> Result<Said, Trouble> {
    let odd = |line: &&str| {
        line.trim_start().starts_with("Socket errors") || line.trim_start().starts_with("Non-2xx")
    };
    if let Some(line) = output.lines().find(odd) {
        return Err(Trouble::Measured(format!("wrk saw {}", line.trim())));
    }
    let figures = output.lines().find_map(|line| {
        let (requests, rest) = line.trim().split_once(" requests in ")?;
        let (length, _) = rest.split_once(',')?;
        Some(Said {
            requests: requests.parse().ok().filter(|n| *n > 0.0)?,
            seconds: seconds(length)?,
        })
    });
    figures.ok_or_else(|| Trouble::Measured(format!("wrk said {output}")))
}

/// A length as wrk writes it: `950.12ms`, `10.00s`, `1.02m`.
fn seconds(length: &str) -> Option<f64> {
    let units = [("ms", 1e3), ("us", 1e6), ("s", 1.0), ("m", 1.0 / 60.0)];
    units.iter().find_map(|(unit, per_second)| {
        let number: f64 = length.strip_suffix(unit)?.parse().ok()?;
        Some(number / per_second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 8s test @ http://127.0.0.1:1/bench\n  1 threads and 50 connections\n  130397 requests in 8.04s, 15.16MB read\nRequests/sec: 16218.53\n";

    #[test]
    fn requests_and_length_are_read() {
        let expected = Said {
            requests: 130_397.0,
            seconds: 8.04,
        };
        assert_eq!(said(OUTPUT).unwrap(), expected);
        assert_eq!(seconds("950.00ms"), Some(0.95));
        assert_eq!(seconds("1.50m"), Some(90.0));
    }

    #[test]
    fn errors_are_not_overlooked() {
        let check = |line: &str| {
            let error = said(&format!("{OUTPUT}{line}")).unwrap_err().to_string();
            assert!(error.contains(line.trim()), "{error}");
        };
        check("  Non-2xx or 3xx responses: 7\n");
        check("  Socket errors: connect 0, read 3, write 0, timeout 0\n");
    }
}
