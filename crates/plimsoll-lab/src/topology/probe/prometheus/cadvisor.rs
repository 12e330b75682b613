//! cAdvisor: one container, by its label `name` (Docker) or `container` (Kubernetes).

use super::text::Metrics;
use crate::topology::probe::exported::Exported;
use std::collections::BTreeMap;

/// Metric families that are read.
pub(super) const FAMILIES: [&str; 13] = [
    "container_cpu_usage_seconds_total",
    "container_cpu_cfs_periods_total",
    "container_cpu_cfs_throttled_periods_total",
    "container_spec_cpu_quota",
    "container_spec_cpu_period",
    "container_memory_working_set_bytes",
    "container_spec_memory_limit_bytes",
    "container_threads",
    "container_file_descriptors",
    "container_memory_failures_total",
    "container_pressure_cpu_waiting_seconds_total",
    "container_pressure_memory_waiting_seconds_total",
    "container_pressure_io_waiting_seconds_total",
];

/// `None`: there is no such container.
pub(super) fn map(metrics: &Metrics, container: &str) -> Option<Exported> {
    let is_it = |labels: &BTreeMap<String, String>| {
        let name = |label: &str| labels.get(label).is_some_and(|name| name == container);
        name("name") || name("container")
    };
    let of = |name: &str| metrics.sum_where(name, is_it);
    // Of all processors together, or else of each.
    const CPU: &str = "container_cpu_usage_seconds_total";
    let is_total =
        |labels: &BTreeMap<String, String>| labels.get("cpu").is_none_or(|cpu| cpu == "total");
    let cpu_s = metrics
        .sum_where(CPU, |labels| is_it(labels) && is_total(labels))
        .or_else(|| of(CPU))?;
    let quota = of("container_spec_cpu_quota").zip(of("container_spec_cpu_period"));
    let quota = quota.map(|(quota, period)| quota / period);
    let quota = quota.filter(|quota| quota.is_finite() && *quota > 0.0);
    let used = of("container_memory_working_set_bytes");
    let limit = of("container_spec_memory_limit_bytes").filter(|limit| *limit > 0.0);
    Some(Exported {
        looked_s: metrics.newest(CPU, is_it),
        cpu_s: Some(cpu_s),
        periods: of("container_cpu_cfs_periods_total"),
        throttled_periods: of("container_cpu_cfs_throttled_periods_total"),
        major_faults: metrics.sum_where("container_memory_failures_total", |labels| {
            let label = |name: &str, value: &str| labels.get(name).is_some_and(|it| it == value);
            is_it(labels) && label("failure_type", "pgmajfault") && label("scope", "hierarchy")
        }),
        cpu_waited_s: of("container_pressure_cpu_waiting_seconds_total"),
        memory_waited_s: of("container_pressure_memory_waiting_seconds_total"),
        io_waited_s: of("container_pressure_io_waiting_seconds_total"),
        limit_cores: quota,
        quota_cores: quota,
        rss_bytes: used,
        memory_share: used.zip(limit).map(|(used, limit)| used / limit),
        fds: of("container_file_descriptors"),
        threads: of("container_threads"),
        ..Exported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "container_cpu_usage_seconds_total{cpu=\"total\",name=\"api\"} 12\ncontainer_cpu_usage_seconds_total{cpu=\"total\",name=\"db\"} 99\ncontainer_cpu_cfs_periods_total{name=\"api\"} 100\ncontainer_cpu_cfs_throttled_periods_total{name=\"api\"} 40\ncontainer_spec_cpu_quota{name=\"api\"} 50000\ncontainer_spec_cpu_period{name=\"api\"} 100000\ncontainer_memory_working_set_bytes{name=\"api\"} 300\ncontainer_spec_memory_limit_bytes{name=\"api\"} 600\n";
        let metrics = Metrics::parse(text, &FAMILIES);
        let expected = Exported {
            cpu_s: Some(12.0),
            periods: Some(100.0),
            throttled_periods: Some(40.0),
            limit_cores: Some(0.5),
            quota_cores: Some(0.5),
            rss_bytes: Some(300.0),
            memory_share: Some(0.5),
            ..Exported::default()
        };
        assert_eq!(map(&metrics, "api"), Some(expected));
        assert_eq!(map(&metrics, "web"), None);
    }

    /// It looks at its containers at intervals of its own, and says when.
    #[test]
    fn the_moment_of_its_look() {
        let text = "container_cpu_usage_seconds_total{cpu=\"total\",name=\"api\"} 12.5 1700000010500\ncontainer_cpu_usage_seconds_total{cpu=\"total\",name=\"db\"} 99 1700000011000\n";
        let mapped = map(&Metrics::parse(text, &FAMILIES), "api").unwrap();
        assert_eq!(mapped.looked_s, Some(1_700_000_010.5));
        assert_eq!(mapped.cpu_s, Some(12.5));
    }

    #[test]
    fn kubernetes_labels() {
        let text = "container_cpu_usage_seconds_total{container=\"api\",cpu=\"cpu00\"} 1\ncontainer_cpu_usage_seconds_total{container=\"api\",cpu=\"cpu01\"} 2\n";
        let mapped = map(&Metrics::parse(text, &FAMILIES), "api").unwrap();
        assert_eq!(mapped.cpu_s, Some(3.0));
    }
}
