//! The probe of a component elsewhere: an endpoint in Prometheus' text format, read about once a second by a plain GET.
//!
//! What the names in it mean is a mapping, one file each: `node_exporter` (its whole host), `cadvisor` (one container) and `process` (what
//! client libraries export of their own process). An address that the experiment names is asked, and no other.

mod cadvisor;
mod exported;
mod node_exporter;
mod process;
mod scrape;
mod text;

use super::cost::Cost;
use crate::experiment::{Exporter, PrometheusProbe};
use exported::Exported;
use plimsoll_report::record::ComponentSample;
use std::time::Duration;
use text::Metrics;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Between two readings.
const EVERY: Duration = Duration::from_secs(1);

/// An endpoint that is read as long as this exists.
#[derive(Debug)]
pub struct Endpoint {
    latest: watch::Receiver<Option<Result<Reading, String>>>,
    before: Option<Reading>,
    /// Ends with it.
    _reader: JoinSet<()>,
}

/// What was read.
#[derive(Debug, Clone)]
struct Reading {
    at: Instant,
    exported: Exported,
    /// Processor time that reading it took.
    cost: Duration,
}

impl Endpoint {
    /// Reads it once, and from then on every second.
    ///
    /// # Errors
    /// Why it cannot be read, or does not hold what its exporter should, in words.
    pub async fn open(probe: &PrometheusProbe) -> Result<Self, String> {
        let first = read(probe).await?;
        let (sender, latest) = watch::channel(Some(Ok(first)));
        let mut reader = JoinSet::new();
        let probe = probe.clone();
        reader.spawn(async move {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks.tick().await;
            loop {
                ticks.tick().await;
                if sender.send(Some(read(&probe).await)).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            latest,
            before: None,
            _reader: reader,
        })
    }

    /// What the component used between the last two readings; `None` before there are two new ones.
    pub fn sample(&mut self) -> Option<ComponentSample> {
        let reading = self.latest.borrow_and_update().clone()?.ok()?;
        match &self.before {
            Some(before) if before.at == reading.at => return None,
            Some(before) if reading.exported.is_same_look(&before.exported) => return None,
            _ => {}
        }
        let before = self.before.replace(reading)?;
        let after = self.before.as_ref()?;
        let length_s = after.at.duration_since(before.at).as_secs_f64();
        after.exported.since(&before.exported, length_s)
    }

    /// Why it cannot be read at the moment, if it cannot.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.latest.borrow().clone()?.err()
    }

    /// Processor time that the last reading took.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.before
            .as_ref()
            .map_or(Duration::ZERO, |reading| reading.cost)
    }
}

async fn read(probe: &PrometheusProbe) -> Result<Reading, String> {
    let body = scrape::get(probe).await?;
    let (at, cost) = (Instant::now(), Cost::start());
    let exported = map(probe, &body)?;
    Ok(Reading {
        at,
        exported,
        cost: cost.so_far(),
    })
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
