//! A component elsewhere that says itself what it uses: read about once a second, beside the load, by whoever knows its language.

use super::cost::Spent;
use super::exported::Reading;
use super::postgresql::Postgresql;
use super::prometheus;
use super::redis::Redis;
use plimsoll_experiment::PrometheusProbe;
use plimsoll_report::record::ComponentSample;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Between two readings.
const EVERY: Duration = Duration::from_secs(1);

/// Address of a reading, and its format.
#[derive(Debug)]
pub enum Source {
    /// An endpoint in Prometheus' text format.
    Prometheus(PrometheusProbe),
    /// PostgreSQL's statistics.
    Postgresql(Box<Postgresql>),
    /// Redis's statistics.
    Redis(Redis),
}

/// A source that is read as long as this exists.
#[derive(Debug)]
pub struct Endpoint {
    latest: watch::Receiver<Option<Result<Read, String>>>,
    before: Option<Reading>,
    /// Of the reading before.
    cost: Duration,
    blind: Option<&'static str>,
    /// Ends with it.
    _reader: JoinSet<()>,
}

/// A reading, and the processor time that it took.
type Read = (Reading, Duration);

impl Source {
    /// Reads it. What that takes is `spent`: the exchange as well as what is made of the answer.
    async fn read(&mut self, spent: &Spent) -> Result<Read, String> {
        let reading = spent
            .on(async {
                match self {
                    Self::Prometheus(probe) => prometheus::read(probe).await,
                    Self::Postgresql(server) => server.read(spent).await,
                    Self::Redis(server) => server.read().await,
                }
            })
            .await;
        let cost = spent.take();
        Ok((reading?, cost))
    }

    /// Resources that it never states.
    fn blind(&self) -> Option<&'static str> {
        match self {
            Self::Postgresql(_) => {
                Some("its processors and its memory: PostgreSQL's statistics do not say")
            }
            Self::Prometheus(_) | Self::Redis(_) => None,
        }
    }
}

impl Endpoint {
    /// Reads it once, and from then on every second.
    ///
    /// # Errors
    /// Why it cannot be read, or does not hold what it should, in words.
    pub async fn open(mut source: Source) -> Result<Self, String> {
        let spent = Spent::default();
        let first = source.read(&spent).await?;
        Ok(Self::of(source, spent, Some(Ok(first))))
    }

    /// Reads it at once and every second. Why it cannot be read, if so, [`Self::trouble`] says.
    #[must_use]
    pub fn watch(source: Source) -> Self {
        Self::of(source, Spent::default(), None)
    }

    fn of(mut source: Source, spent: Spent, first: Option<Result<Read, String>>) -> Self {
        let blind = source.blind();
        let read_already = first.is_some();
        let (sender, latest) = watch::channel(first);
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            if read_already {
                ticks.tick().await;
            }
            loop {
                ticks.tick().await;
                if sender.send(Some(source.read(&spent).await)).is_err() {
                    return;
                }
            }
        });
        Self {
            latest,
            before: None,
            cost: Duration::ZERO,
            blind,
            _reader: reader,
        }
    }

    /// Resources of the component between the last two readings; `None` before there are two new ones.
    pub fn sample(&mut self) -> Option<ComponentSample> {
        let (reading, cost) = self.latest.borrow_and_update().clone()?.ok()?;
        self.cost = cost;
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

    /// Why it cannot be read at the moment, or what it hides, in words.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        match self.latest.borrow().as_ref()? {
            Ok((reading, _)) => reading.exported.hidden.map(str::to_owned),
            Err(why) => Some(format!("its probe sees nothing: {why}")),
        }
    }

    /// Resources of the component that are not known: the present trouble, or else those that such a source never states.
    #[must_use]
    pub fn unseen(&self) -> Option<String> {
        let trouble = self.trouble();
        let reads = !matches!(self.latest.borrow().as_ref(), Some(Err(_)));
        let blind = self.blind.filter(|_| reads).map(str::to_owned);
        let parts: Vec<String> = [trouble, blind].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Processor time that the last reading took, its exchange included.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.cost
    }
}
