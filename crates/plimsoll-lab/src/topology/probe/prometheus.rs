//! The probe of a component elsewhere: an endpoint in Prometheus' text format, read about once a second by a plain GET.
//!
//! The meaning of names is a mapping, one file each: `node_exporter` (its whole host), `cadvisor` (one container) and `process` (what
//! client libraries export of their own process). An address that the experiment names is asked, and no other.

mod cadvisor;
mod node_exporter;
mod process;
mod scrape;
mod text;

use super::exported::{Exported, Reading};
use plimsoll_experiment::{Exporter, PrometheusProbe};
use text::Metrics;
use tokio::time::Instant;

pub(super) async fn read(probe: &PrometheusProbe) -> Result<Reading, String> {
    let body = scrape::get(probe).await?;
    let at = Instant::now();
    let exported = map(probe, &body)?;
    Ok(Reading { at, exported })
}

fn map(probe: &PrometheusProbe, body: &str) -> Result<Exported, String> {
    let (mapped, wanted) = match &probe.exporter {
        Exporter::Node => (
            node_exporter::map(&Metrics::parse(body, &node_exporter::FAMILIES)),
            "node_cpu_seconds_total".to_owned(),
        ),
        Exporter::Cadvisor { container } => (
            cadvisor::map(&Metrics::parse(body, &cadvisor::FAMILIES), container),
            format!("container_cpu_usage_seconds_total of the container `{container}`"),
        ),
        Exporter::Process => (
            process::map(&Metrics::parse(body, &process::FAMILIES)),
            "process_cpu_seconds_total".to_owned(),
        ),
    };
    mapped.ok_or_else(|| format!("it has no {wanted}"))
}
