//! node_exporter: the whole host on which a component runs. Other programs on it count too.

use super::text::Metrics;
use crate::topology::probe::exported::Exported;

/// Metric families that are read.
pub(super) const FAMILIES: [&str; 16] = [
    "node_cpu_seconds_total",
    "node_schedstat_waiting_seconds_total",
    "node_memory_MemTotal_bytes",
    "node_memory_MemAvailable_bytes",
    "node_vmstat_pgmajfault",
    "node_netstat_TcpExt_ListenOverflows",
    "node_netstat_Tcp_OutSegs",
    "node_netstat_Tcp_RetransSegs",
    "node_pressure_cpu_waiting_seconds_total",
    "node_pressure_memory_waiting_seconds_total",
    "node_pressure_io_waiting_seconds_total",
    "node_filefd_allocated",
    "node_filefd_maximum",
    "node_procs_running",
    "node_nf_conntrack_entries",
    "node_nf_conntrack_entries_limit",
];

/// `None`: it is another exporter's.
#[expect(clippy::cast_precision_loss, reason = "a number of processors")]
pub(super) fn map(metrics: &Metrics) -> Option<Exported> {
    const CPU: &str = "node_cpu_seconds_total";
    // Waiting for a disk and being stolen are no work of this host.
    let works = |mode: &str| !["idle", "iowait", "steal"].contains(&mode);
    let cpu_s = metrics.sum_where(CPU, |labels| {
        labels.get("mode").is_some_and(|mode| works(mode))
    })?;
    let total = metrics.sum("node_memory_MemTotal_bytes");
    let used = total.zip(metrics.sum("node_memory_MemAvailable_bytes"));
    let used = used.map(|(total, available)| total - available);
    let share = |part: Option<f64>, whole: Option<f64>| {
        let whole = whole.filter(|whole| *whole > 0.0)?;
        Some(part? / whole)
    };
    let fds = metrics.sum("node_filefd_allocated");
    Some(Exported {
        cpu_s: Some(cpu_s),
        run_delay_s: metrics.sum("node_schedstat_waiting_seconds_total"),
        major_faults: metrics.sum("node_vmstat_pgmajfault"),
        listen_overflows: metrics.sum("node_netstat_TcpExt_ListenOverflows"),
        segments_sent: metrics.sum("node_netstat_Tcp_OutSegs"),
        segments_again: metrics.sum("node_netstat_Tcp_RetransSegs"),
        cpu_waited_s: metrics.sum("node_pressure_cpu_waiting_seconds_total"),
        memory_waited_s: metrics.sum("node_pressure_memory_waiting_seconds_total"),
        io_waited_s: metrics.sum("node_pressure_io_waiting_seconds_total"),
        limit_cores: Some(metrics.values_of(CPU, "cpu") as f64).filter(|cpus| *cpus > 0.0),
        rss_bytes: used,
        memory_share: share(used, total),
        fds,
        fds_share: share(fds, metrics.sum("node_filefd_maximum")),
        conntrack_share: share(
            metrics.sum("node_nf_conntrack_entries"),
            metrics.sum("node_nf_conntrack_entries_limit"),
        ),
        ..Exported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 100\nnode_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 7\nnode_cpu_seconds_total{cpu=\"1\",mode=\"system\"} 3\nnode_cpu_seconds_total{cpu=\"1\",mode=\"steal\"} 50\nnode_memory_MemTotal_bytes 1000\nnode_memory_MemAvailable_bytes 250\nnode_filefd_allocated 10\nnode_filefd_maximum 9.223372036854776e+18\nnode_netstat_TcpExt_ListenOverflows 3\n";
        let mapped = map(&Metrics::parse(text, &FAMILIES)).unwrap();
        let expected = Exported {
            cpu_s: Some(10.0),
            limit_cores: Some(2.0),
            rss_bytes: Some(750.0),
            memory_share: Some(0.75),
            fds: Some(10.0),
            fds_share: Some(10.0 / 9.223_372_036_854_776e18),
            listen_overflows: Some(3.0),
            ..Exported::default()
        };
        assert_eq!(mapped, expected);
        assert_eq!(map(&Metrics::parse("go_goroutines 5\n", &FAMILIES)), None);
    }
}
