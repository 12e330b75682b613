//! Exchanges one by one, for who wants every single one of them beside the histograms.
//!
//! They cost memory that grows with the rate, so there is a limit per shard and second, and nobody pays who does not ask: see
//! [`crate::run_singly`] and [`Plan::singly`](crate::plan::Plan::singly).

use plimsoll_base::outcome::Outcome;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::single_exchange::SingleExchange;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most exchanges of one shard that are handed over singly per second; the rest are only counted, in
/// [`Exchanges::left_out`]. It is more than a shard can carry out.
pub const SINGLE_PER_SECOND: usize = 1_000_000;

/// One exchange that ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Which step of the plan.
    pub step: usize,
    /// The number of the virtual user, from 0.
    pub user: usize,
    /// Whether its iteration was intended to start in the warm-up.
    pub warmup: bool,
    /// From the start of the load to its intended start.
    pub intended: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// How that counts, given whether its checks held.
    pub class: OutcomeClass,
    /// Whether it was answered by a redirect that is followed: then the next exchange of the same user is where that leads.
    pub followed: bool,
    /// From its intended start to its release.
    pub late: Duration,
    /// From its intended start to its end.
    pub response: Duration,
    /// Time of establishing a connection; `None` when there was one already.
    pub connect: Option<Duration>,
    /// From the first byte sent to its end; `None` when nothing was sent.
    pub service: Option<Duration>,
    /// Of `service`, until the first byte of the answer; `None` when all of it came at once, or nothing.
    pub first_byte: Option<Duration>,
    /// Bytes of the answer's body.
    pub body_bytes: u64,
}

impl From<&Exchange> for SingleExchange {
    fn from(exchange: &Exchange) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let (status, reason) = match exchange.outcome {
            Outcome::Answered(status) => (Some(status), None),
            Outcome::Unanswered(reason) => (None, Some(reason)),
            Outcome::Aborted => (None, None),
        };
        Self {
            intended_us: micros(exchange.intended),
            response_us: micros(exchange.response),
            late_us: micros(exchange.late),
            sent_us: exchange
                .service
                .map(|service| micros(exchange.response.saturating_sub(service))),
            class: exchange.class,
            status,
            reason,
            step: u32::try_from(exchange.step).unwrap_or(u32::MAX),
            extracted: BTreeMap::new(),
        }
    }
}

/// Values that a step took out of the answer of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// The exchange, by its place in [`Exchanges::list`].
    pub place: usize,
    /// A value for each [`Step::extract`](crate::plan::Step::extract), where it was found: at most [`SingleExchange::VALUE_BYTES`] of it.
    pub values: Vec<Option<String>>,
}

/// The exchanges of one shard that ended in one second, in the order in which they ended.
#[derive(Debug, Default)]
pub struct Exchanges {
    /// At most [`SINGLE_PER_SECOND`].
    pub list: Vec<Exchange>,
    /// How many ended beyond those.
    pub left_out: u64,
    /// Values taken out of their answers, in the same order.
    pub extracted: Vec<Extracted>,
    /// Those that we ended ourselves, because the load was over: at most one for each virtual user.
    pub cut_off: Vec<SingleExchange>,
}

impl Exchanges {
    /// Takes one with what was taken out of its answer, or counts that it had to be left out.
    pub(crate) fn push(&mut self, exchange: Exchange, values: Vec<Option<String>>) {
        if self.list.len() < SINGLE_PER_SECOND {
            if !values.is_empty() {
                let place = self.list.len();
                self.extracted.push(Extracted { place, values });
            }
            self.list.push(exchange);
        } else {
            self.left_out += 1;
        }
    }

    /// Takes one that we ended, so long after its intended start; times in nanoseconds.
    pub(crate) fn cut_off(&mut self, step: usize, intended: u64, late: u64, response: u64) {
        self.cut_off.push(SingleExchange {
            intended_us: intended / 1_000,
            response_us: response / 1_000,
            late_us: late / 1_000,
            sent_us: None,
            class: OutcomeClass::Aborted,
            status: None,
            reason: None,
            step: u32::try_from(step).unwrap_or(u32::MAX),
            extracted: BTreeMap::new(),
        });
    }

    /// Each by itself: `names` has for each step those of its extractions.
    pub(crate) fn singly(&self, names: &[Vec<String>]) -> Vec<SingleExchange> {
        let list = self.list.iter().map(SingleExchange::from);
        let mut all: Vec<SingleExchange> = list.collect();
        for Extracted { place, values } in &self.extracted {
            let named = names[self.list[*place].step].iter().zip(values);
            let found = named.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
            all[*place].extracted = found.collect();
        }
        all.extend_from_slice(&self.cut_off);
        all
    }

    /// Forgets them and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.extracted.clear();
        self.left_out = 0;
        self.cut_off.clear();
    }
}
