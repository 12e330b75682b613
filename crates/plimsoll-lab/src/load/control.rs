//! The control load of a trial: from where the generator is to a mock that nobody breaks, by a generator of its own. Where it fails or falls
//! silent, the machine did, and the trial says nothing.

use crate::error::LabError;
use crate::topology::generator::Generator;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::single_exchange::SingleExchange;
use plimsoll_load::fragment::Message;
use plimsoll_load::plan::{
    Connections, Data, Load, Pacing, Plan, Profile, Scenario, Spacing, Step, Stretch, Target,
};
use plimsoll_report::record::ControlFigures;
use std::time::Duration;
use tokio::time::timeout;

/// Exchanges per second.
const RATE: f64 = 100.0;
/// Connections, which are more than it needs.
const CONNECTIONS: u32 = 20;
/// An exchange that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long it may take to end once it is asked to.
const CLOSING: Duration = Duration::from_secs(5);

/// The plan of a control load of so long to this target.
pub(super) fn plan(seed: u64, target: Target, length: Duration) -> Plan {
    let stretch = Stretch {
        spacing: Spacing::Slots,
        ..Profile::Constant { rate: RATE }.lasting(length)
    };
    let load = Load::open(vec![stretch], CONNECTIONS, CONNECTIONS);
    Plan {
        seed: Draw::new(seed, Stream::Control, 0).bits(),
        shards: 1,
        target,
        steps: vec![Step {
            name: "control".to_owned(),
            method: "GET".to_owned(),
            path: "/json/valid".into(),
            ..Step::default()
        }],
        scenarios: vec![Scenario::of_steps("control", load, 1)],
        data: Data::default(),
        warmup: Duration::ZERO,
        duration: length,
        connections: Connections::default(),
        pacing: Pacing::default(),
        timeout: TIMEOUT,
        singly: true,
    }
}

/// A control load under way.
pub(super) struct Control {
    generator: Generator,
    /// In seconds since the run began; `None` before it has begun.
    began: Option<f64>,
    exchanges: Vec<SingleExchange>,
    /// Why it says nothing any more.
    broken: Option<String>,
    finished: bool,
}

impl Control {
    pub(super) fn new(generator: Generator) -> Self {
        Self {
            generator,
            began: None,
            exchanges: Vec::new(),
            broken: None,
            finished: false,
        }
    }

    /// Takes its next message. May be dropped and called again; pending once it has ended. On the run's clock that of the host began at `origin`.
    pub(super) async fn listen(&mut self, origin: f64) {
        if self.finished || self.broken.is_some() {
            std::future::pending::<()>().await;
        }
        let message = self.generator.next().await;
        self.take(message, origin);
    }

    fn take(&mut self, message: Result<Message, LabError>, origin: f64) {
        match message {
            Ok(Message::Started(started)) => {
                self.began = Some(origin + seconds(started.start_monotonic_ns));
            }
            Ok(Message::Exchanges(exchanges)) => self.exchanges.extend(exchanges),
            Ok(Message::Fragment(_)) => {}
            Ok(Message::Finished(_)) => self.finished = true,
            Ok(Message::Failed(why)) => self.broken = Some(why),
            Err(error) => self.broken = Some(error.to_string()),
        }
    }

    /// Ends it, and gives its figures between two moments of the run.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) async fn over(mut self, window: (f64, f64)) -> Result<ControlFigures, String> {
        self.generator.ask_to_stop().await;
        let rest = async {
            while !self.finished && self.broken.is_none() {
                let message = self.generator.next().await;
                self.take(message, 0.0);
            }
        };
        if timeout(CLOSING, rest).await.is_err() {
            self.broken = Some("it does not end".to_owned());
        }
        self.generator.finish().await;
        if let Some(why) = self.broken {
            return Err(why);
        }
        let began = self.began.ok_or("it did not begin")?;
        Ok(figures(self.exchanges, began, window))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact to a microsecond for as long as a host runs"
)]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

/// Figures of exchanges of a load that began at `began`, those that ended within the window.
fn figures(exchanges: Vec<SingleExchange>, began: f64, (from, to): (f64, f64)) -> ControlFigures {
    let end = |one: &SingleExchange| began + one.intended_s() + one.response_s();
    let within = |one: &SingleExchange| (from..=to).contains(&end(one));
    let within: Vec<SingleExchange> = exchanges.into_iter().filter(within).collect();
    let failed = |one: &&SingleExchange| one.class != OutcomeClass::Passed;
    let mut ends: Vec<f64> = within.iter().map(end).collect();
    ends.extend([from, to]);
    ends.sort_by(f64::total_cmp);
    let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
    ControlFigures {
        exchanges: within.len() as u64,
        failed: within.iter().filter(failed).count() as u64,
        silence_s: gaps.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn silence_and_failures_within_the_window_are_told() {
        let one = |at_ms: u64, class| SingleExchange {
            intended_us: at_ms * 1_000,
            response_us: 1_000,
            late_us: 0,
            sent_us: None,
            class,
            status: None,
            reason: None,
            step: 0,
            extracted: BTreeMap::new(),
        };
        let exchanges = vec![
            one(0, OutcomeClass::Reset),
            one(10, OutcomeClass::Passed),
            one(20, OutcomeClass::Passed),
            one(90, OutcomeClass::CheckFailed),
            one(100, OutcomeClass::Passed),
            one(200, OutcomeClass::Reset),
        ];
        let figures = figures(exchanges, 5.0, (5.010, 5.115));
        assert_eq!((figures.exchanges, figures.failed), (4, 1));
        assert!((figures.silence_s - 0.07).abs() < 1e-9, "{figures:?}");
    }
}
