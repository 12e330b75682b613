//! Simulated targets: how each works, what its capacity is, and the load of one trial as it is measured.

use super::WARMUP_S;
use crate::record::{
    ArmData, Backlog, Completions, Halves, Limit, LoadModel, Objective, Statistic,
};
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::tally::{ClassTally, StepTally};
use plimsoll_base::time_kind::TimeKind;
use std::sync::LazyLock;

/// A simulated target.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// So many tokens a second, of which a twentieth of a second's are kept; who finds none is refused.
    TokenBucket(f64),
    /// Servers that each take the same time for every request, which wait in one queue.
    FixedServiceTime { servers: usize, seconds: f64 },
    /// One server with exponential times and a queue, at arrivals at random.
    Exponential { per_s: f64 },
    /// One server that takes the same time for every request, below a limit far above that: it is used up long before the limit is missed.
    UsedUp { per_s: f64 },
    /// Fixed service times, a quarter longer in a fifth of the trials.
    Bimodal { servers: usize, seconds: f64 },
    /// One server whose speed wanders as that of a program does that is held to a quota of a processor which it shares its caches with,
    /// and which adds a constant to every response.
    Wandering { per_s: f64 },
}

/// Standard deviation of the speed of one that wanders, and the seconds in which it forgets where it was.
const WANDERS: (f64, f64) = (0.04, 2.0);

/// Time that another server adds to every response.
const ELSEWHERE_S: f64 = 0.03;

/// A limit of 100 ms on the p99, and at most 0.1 % missed.
const LIMIT_S: f64 = 0.1;

/// A limit of two seconds on the p99.
const FAR_LIMIT_S: f64 = 2.0;

/// A limit far above the service time: 250 ms on the p90 ...
const WIDE_LIMIT_S: f64 = 0.25;

/// ... and the share that it is of.
const WIDE_SHARE: f64 = 0.9;

impl Target {
    /// The highest rate that meets the objective for ever.
    pub(super) fn truth(self) -> f64 {
        match self {
            Self::TokenBucket(per_s) => per_s / (1.0 - 0.001),
            Self::FixedServiceTime { servers, seconds } | Self::Bimodal { servers, seconds } => {
                servers as f64 / seconds
            }
            // Response times of M/M/1 are exponential with the rate μ − λ.
            Self::Exponential { per_s } => per_s - 100_f64.ln() / LIMIT_S,
            Self::UsedUp { per_s } => per_s,
            Self::Wandering { per_s } => per_s * wandering_truth(),
        }
    }

    /// Time of every response beside its turn.
    fn elsewhere_s(self) -> f64 {
        match self {
            Self::Wandering { .. } => ELSEWHERE_S,
            _ => 0.0,
        }
    }

    /// Measurement of one trial.
    pub(super) fn measured(self, rate: f64, seconds: f64, draw: &mut Draw) -> ArmData {
        let slow = matches!(self, Self::Bimodal { .. }) && draw.unit() < 0.2;
        let mut work = Work::of(self, slow, draw);
        let mut tally = Tally::new(rate, seconds);
        let mut t = 0.0;
        while t < WARMUP_S + seconds {
            let answered = work.offer(t, draw);
            tally.take(t, answered.map(|at| at + self.elsewhere_s()));
            t += match self {
                Self::Exponential { .. } => draw.exponential() / rate,
                _ => 1.0 / rate,
            };
        }
        tally.done()
    }
}

/// A speed that wanders around one: its logarithm is drawn anew by as much as it forgets.
#[derive(Clone, Copy)]
struct Wander {
    log: f64,
    at: f64,
}

impl Wander {
    fn new(draw: &mut Draw) -> Self {
        Self {
            log: WANDERS.0 * draw.normal(),
            at: 0.0,
        }
    }

    fn speed_at(&mut self, t: f64, draw: &mut Draw) -> f64 {
        let (deviation, forgets_s) = WANDERS;
        let kept = (-(t - self.at) / forgets_s).exp();
        self.log = kept * self.log + deviation * (1.0 - kept * kept).sqrt() * draw.normal();
        self.at = t;
        self.log.exp()
    }
}

/// The share of its mean speed up to which one that wanders meets the objective for ever: from hours of its queue as a fluid.
fn wandering_truth() -> f64 {
    static TRUTH: LazyLock<f64> = LazyLock::new(|| {
        let (mut low, mut high) = (0.8, 1.1);
        for _ in 0..10 {
            let middle = f64::midpoint(low, high);
            if waits_too_long(middle) <= 1.0 - WIDE_SHARE {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    });
    *TRUTH
}

/// The share of the time in which a queue, offered so much of its mean speed, is longer than the wide limit.
fn waits_too_long(offered: f64) -> f64 {
    const STEP_S: f64 = 0.02;
    const STEPS: u32 = 300_000;
    let mut draw = Draw::new(5, Stream::Data, 0);
    let mut wander = Wander::new(&mut draw);
    let (mut queued_s, mut too_long) = (0.0_f64, 0_u32);
    for step in 0..STEPS {
        let speed = wander.speed_at(f64::from(step) * STEP_S, &mut draw);
        queued_s = (queued_s + (offered / speed - 1.0) * STEP_S).max(0.0);
        too_long += u32::from(queued_s + ELSEWHERE_S > WIDE_LIMIT_S);
    }
    f64::from(too_long) / f64::from(STEPS)
}

/// A target at work.
enum Work {
    Tokens {
        per_s: f64,
        most: f64,
        left: f64,
        at: f64,
    },
    Queue {
        free: Vec<f64>,
        seconds: f64,
        exponential: bool,
    },
    Wanders {
        free: f64,
        seconds: f64,
        wander: Wander,
    },
}

impl Work {
    fn of(target: Target, slow: bool, draw: &mut Draw) -> Self {
        let queue = |servers, seconds, exponential| Self::Queue {
            free: vec![0.0; servers],
            seconds,
            exponential,
        };
        match target {
            Target::TokenBucket(per_s) => Self::Tokens {
                per_s,
                most: per_s / 20.0,
                left: per_s / 20.0,
                at: 0.0,
            },
            Target::FixedServiceTime { servers, seconds } => queue(servers, seconds, false),
            Target::Bimodal { servers, seconds } => {
                queue(servers, if slow { seconds * 1.25 } else { seconds }, false)
            }
            Target::Exponential { per_s } => queue(1, 1.0 / per_s, true),
            Target::UsedUp { per_s } => queue(1, 1.0 / per_s, false),
            Target::Wandering { per_s } => Self::Wanders {
                free: 0.0,
                seconds: 1.0 / per_s,
                wander: Wander::new(draw),
            },
        }
    }

    /// When a request that comes at `t` is answered; `None`: it is refused.
    fn offer(&mut self, t: f64, draw: &mut Draw) -> Option<f64> {
        match self {
            Self::Tokens {
                per_s,
                most,
                left,
                at,
            } => {
                *left = (*left + (t - *at) * *per_s).min(*most);
                *at = t;
                if *left < 1.0 {
                    return None;
                }
                *left -= 1.0;
                Some(t + 0.001 + 0.001 * draw.exponential())
            }
            Self::Queue {
                free,
                seconds,
                exponential,
            } => {
                let first = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b]))?;
                let takes = if *exponential {
                    *seconds * draw.exponential()
                } else {
                    *seconds
                };
                free[first] = t.max(free[first]) + takes;
                Some(free[first])
            }
            Self::Wanders {
                free,
                seconds,
                wander,
            } => {
                let begins = t.max(*free);
                *free = begins + *seconds / wander.speed_at(begins, draw);
                Some(*free)
            }
        }
    }
}

/// Counts one more answer of the only step.
fn add_answer(completions: &mut Completions) {
    let answers = completions.steps.entry("a".to_owned()).or_default();
    answers.answered += 1;
    answers.good += 1;
}

/// Counts what a generator would.
struct Tally {
    data: ArmData,
    halves: Halves,
    middle: f64,
    end: f64,
}

impl Tally {
    fn new(rate: f64, seconds: f64) -> Self {
        let mut data = ArmData::new("a", "t", LoadModel::Open, Some(rate));
        data.seconds = seconds;
        data.backlog = Some(Backlog {
            seconds: seconds / 2.0,
            ..Backlog::default()
        });
        let mut step = StepTally::default();
        for class in [OutcomeClass::Passed, OutcomeClass::CheckFailed] {
            step.classes.insert(class, ClassTally::default());
        }
        data.steps.insert("a".to_owned(), step);
        Self {
            data,
            halves: Halves::default(),
            middle: WARMUP_S + seconds / 2.0,
            end: WARMUP_S + seconds,
        }
    }

    fn take(&mut self, t: f64, answered: Option<f64>) {
        let ends = answered.unwrap_or(t);
        if let Some(backlog) = &mut self.data.backlog {
            backlog.middle += u64::from(t < self.middle && ends >= self.middle);
            backlog.end += u64::from(ends >= self.end);
        }
        if t < WARMUP_S {
            if answered.is_some() && (WARMUP_S..self.end).contains(&ends) {
                add_answer(&mut self.data.of_warmup);
            }
            return;
        }
        self.data.intended += 1;
        self.data.sent += 1;
        if ends >= self.end {
            add_answer(&mut self.data.late);
        }
        let step = &mut self.data.steps[0];
        step.sent += 1;
        let (class, status) = match answered {
            Some(_) => (OutcomeClass::Passed, 200),
            None => (OutcomeClass::CheckFailed, 429),
        };
        *step.statuses.entry(status).or_default() += 1;
        let tally = step.classes.entry(class).or_default();
        tally.count += 1;
        let nanos = ((ends - t) * 1e9) as u64;
        let times = tally.times.entry(TimeKind::ResponseTime).or_default();
        times.record_nanos(nanos);
        let half = if ends < self.middle {
            &mut self.halves.first
        } else {
            &mut self.halves.second
        };
        half.record_nanos(nanos);
    }

    fn done(mut self) -> ArmData {
        self.data.health.halves = Some(self.halves);
        self.data
    }
}

impl Target {
    pub(super) fn objective(self) -> Objective {
        let (figure, at_most_s) = match self {
            Self::Wandering { .. } => (Statistic::P90, WIDE_LIMIT_S),
            Self::UsedUp { .. } => (Statistic::P99, FAR_LIMIT_S),
            _ => (Statistic::P99, LIMIT_S),
        };
        Objective {
            limits: vec![Limit { figure, at_most_s }],
            errors: 0.001,
        }
    }
}
