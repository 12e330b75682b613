//! Metrics that Prometheus' client libraries export of the process that they are in.

use super::text::Metrics;
use crate::topology::probe::exported::Exported;

/// Metric families that are read.
pub(super) const FAMILIES: [&str; 5] = [
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
    "process_max_fds",
    "process_threads",
];

/// `None`: it says nothing of its process.
pub(super) fn map(metrics: &Metrics) -> Option<Exported> {
    let fds = metrics.sum("process_open_fds");
    let most = metrics.sum("process_max_fds").filter(|most| *most > 0.0);
    Some(Exported {
        cpu_s: Some(metrics.sum("process_cpu_seconds_total")?),
        rss_bytes: metrics.sum("process_resident_memory_bytes"),
        fds,
        fds_share: fds.zip(most).map(|(fds, most)| fds / most),
        threads: metrics.sum("process_threads"),
        ..Exported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "process_cpu_seconds_total 12.5\nprocess_open_fds 20\nprocess_max_fds 1024\nprocess_resident_memory_bytes 2.5e7\n";
        let mapped = map(&Metrics::parse(text, &FAMILIES)).unwrap();
        let expected = Exported {
            cpu_s: Some(12.5),
            rss_bytes: Some(2.5e7),
            fds: Some(20.0),
            fds_share: Some(20.0 / 1024.0),
            ..Exported::default()
        };
        assert_eq!(mapped, expected);
        assert_eq!(map(&Metrics::parse("", &FAMILIES)), None);
    }
}
