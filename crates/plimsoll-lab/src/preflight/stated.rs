//! The rates that a plan states, in its load and in its thresholds, and whether its own ceilings let it reach them.
//!
//! A rate counts iterations and a threshold exchanges, so what bounds one is put into the other's terms by the exchanges of an iteration.

use super::Subject;
use super::ceiling::{Ceiling, Of, Source};
use super::connections::is_rate;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_load::arrivals::peak;
use plimsoll_load::plan::{Load, Profile, Stretch};
use plimsoll_report::threshold::Bound;

/// Rounding error of sums and products of rates, as a share.
const ROUNDING: f64 = 1e-9;

/// A rate that a plan states.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stated {
    /// Of a scenario's load.
    Rate {
        scenario: usize,
        /// Iterations per second at its highest.
        per_s: f64,
        /// For how long it lasts, or rises to that.
        length_s: f64,
        /// By how much it rose per second on the way.
        slope: f64,
    },
    /// Exchanges per second that a threshold asks for, of the whole arm or of a step.
    Threshold {
        step: Option<usize>,
        metric: String,
        above: f64,
    },
}

/// How a plan stands to a rate that it states.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    /// It cannot reach it.
    Beyond(String),
    /// Not in the long run, but chance or a good beginning may do.
    Doubtful(String),
}

/// Every rate that the arm's plan states.
pub(super) fn all(subject: &Subject<'_>) -> Vec<Stated> {
    let mut all = Vec::new();
    for (scenario, it) in subject.plan.scenarios.iter().enumerate() {
        if let Load::Open { profile, .. } = &it.load {
            all.extend(
                profile
                    .iter()
                    .flat_map(|stretch| of_stretch(scenario, stretch)),
            );
        }
    }
    let of_arm = subject.experiment.thresholds.iter();
    for threshold in of_arm.filter(|threshold| threshold.arm == subject.arm.name) {
        let Bound::Above(above) = threshold.bound else {
            continue;
        };
        let rates = ["achieved_per_s", "good_per_s"];
        if !rates.iter().any(|rate| threshold.metric.is_below(rate)) {
            continue;
        }
        let step = threshold.metric.step();
        let place = |name| subject.plan.steps.iter().position(|it| it.name == name);
        all.push(Stated::Threshold {
            step: step.and_then(place),
            metric: threshold.metric.path(),
            above,
        });
    }
    all
}

/// The highest rates of a stretch, with how long each of them lasts.
fn of_stretch(scenario: usize, stretch: &Stretch) -> Vec<Stated> {
    let length_s = stretch.length.as_secs_f64();
    let rate = |per_s, length_s, slope| Stated::Rate {
        scenario,
        per_s,
        length_s,
        slope,
    };
    match stretch.profile {
        Profile::Constant { rate: per_s } => vec![rate(per_s, length_s, 0.0)],
        Profile::Ramp { from, to } => {
            vec![rate(from.max(to), length_s, (to - from).abs() / length_s)]
        }
        Profile::Staircase { from, step, every } => {
            let every_s = every.as_secs_f64();
            let whole = (length_s / every_s).floor();
            let level =
                |number: f64, length_s| rate((from + step * number).max(0.0), length_s, 0.0);
            let rest_s = length_s - whole * every_s;
            let mut levels = vec![level(0.0, every_s.min(length_s))];
            if whole > 1.0 {
                levels.push(level(whole - 1.0, every_s));
            }
            if rest_s > 0.0 && whole > 0.0 {
                levels.push(level(whole, rest_s));
            }
            levels
        }
        Profile::StressPeak { .. }
        | Profile::AtOnce { .. }
        | Profile::Replay { .. }
        | Profile::Nothing => Vec::new(),
    }
}

/// The highest rate that the loads of all scenarios ask for together; `None` where nothing asks for one.
pub(super) fn demand(subject: &Subject<'_>, of: Of) -> Option<f64> {
    let scenarios = subject.plan.scenarios.iter().zip(&subject.iterations);
    let demand = scenarios.map(|(scenario, iteration)| {
        let Load::Open { profile, .. } = &scenario.load else {
            return 0.0;
        };
        let held: Vec<Stretch> = profile.iter().filter(|it| is_rate(it)).cloned().collect();
        let each = match of {
            Of::Exchanges => iteration.exchanges(),
            Of::Iterations | Of::Connections => 1.0,
        };
        peak(&held) * each
    });
    Some(demand.sum()).filter(|demand| *demand > 0.0)
}

impl Stated {
    /// Whether the ceilings keep the plan from it.
    pub(super) fn standing(&self, subject: &Subject<'_>, ceilings: &[Ceiling]) -> Option<Standing> {
        match self {
            Self::Rate {
                scenario,
                per_s,
                length_s,
                slope,
            } => {
                let of_scenario = |it: &&Ceiling| {
                    it.scenario == Some(*scenario) && it.source == Source::Connections
                };
                let ceiling = ceilings.iter().find(of_scenario)?;
                // What began within the last `held` is still there.
                let window_s = ceiling.held_s.min(*length_s);
                let mean = per_s - slope * window_s / 2.0;
                let (under_way, places) = (mean * window_s, ceiling.value * ceiling.held_s);
                let drops = subject.plan.scenarios[*scenario].load.drops();
                (under_way > places * (1.0 + ROUNDING)).then(|| {
                    if drops {
                        let sentence = format!(
                            "offers {}/s, of which it can carry out a part and drops the rest, as `when_busy: drop` says: {ceiling}",
                            format_number(*per_s)
                        );
                        return Standing::Doubtful(subject.named(*scenario, &sentence));
                    }
                    let sentence = format!(
                        "cannot reach its rate of {}/s: {ceiling}: write `connections: {}` or more, pauses of at most {} in all, or a rate of at most {}/s",
                        format_number(*per_s),
                        format_number(up(under_way)).replace(',', ""),
                        format_seconds(places / per_s),
                        format_number(ceiling.value)
                    );
                    Standing::Beyond(subject.named(*scenario, &sentence))
                })
            }
            Self::Threshold {
                step,
                metric,
                above,
            } => {
                let binding = Binding::of(subject, ceilings, *step)?;
                let what = format!("`{metric}` above {}/s", format_number(*above));
                let why = binding.why(subject, *step);
                if binding.at_most() <= *above * (1.0 + ROUNDING) {
                    let instead = binding.instead(*above);
                    Some(Standing::Beyond(format!(
                        "cannot reach {what}: {why}: {instead}"
                    )))
                } else if binding.value() <= *above {
                    Some(Standing::Doubtful(format!(
                        "reaches {what} in its first moments or by chance, and not in the long run: {why}"
                    )))
                } else {
                    None
                }
            }
        }
    }
}

/// The lowest ceiling of each scenario, with the exchanges that its iterations have.
struct Binding<'a>(Vec<(&'a Ceiling, f64)>);

impl<'a> Binding<'a> {
    /// Of the exchanges of a step, or of all; `None` where nothing bounds one of the scenarios.
    fn of(subject: &Subject<'_>, ceilings: &'a [Ceiling], step: Option<usize>) -> Option<Self> {
        let scenarios = subject.iterations.iter().enumerate();
        let lowest = scenarios.map(|(index, iteration)| {
            let of_scenario = ceilings.iter().filter(|it| it.scenario == Some(index));
            let lowest = of_scenario.min_by(|a, b| a.at_most().total_cmp(&b.at_most()));
            let exchanges = step.map_or(iteration.exchanges(), |step| iteration.visits[step]);
            // Who has none of them does not matter.
            match lowest {
                Some(lowest) => Some((lowest, exchanges)),
                None if exchanges > 0.0 => None,
                None => ceilings.first().map(|any| (any, 0.0)),
            }
        });
        Some(Self(lowest.collect::<Option<_>>()?))
    }

    /// Exchanges per second in the long run.
    fn value(&self) -> f64 {
        self.0
            .iter()
            .map(|(it, exchanges)| it.value * exchanges)
            .sum()
    }

    /// Exchanges per second that the measured time may hold at the very most.
    fn at_most(&self) -> f64 {
        self.0
            .iter()
            .map(|(it, exchanges)| it.at_most() * exchanges)
            .sum()
    }

    fn why(&self, subject: &Subject<'_>, step: Option<usize>) -> String {
        let each = |exchanges: f64, ceiling: &Ceiling| {
            let scenario = ceiling.scenario.unwrap_or_default();
            let up_to = if subject.iterations[scenario].exact {
                ""
            } else {
                "up to "
            };
            let of_step = if step.is_some() { " of that step" } else { "" };
            format!(
                ", each with {up_to}{} exchanges{of_step}",
                format_number(exchanges)
            )
        };
        let parts = self.0.iter().filter(|(_, exchanges)| *exchanges > 0.0);
        let parts: Vec<String> = parts
            .map(|(ceiling, exchanges)| {
                let one = (exchanges - 1.0).abs() < ROUNDING;
                let each = if one {
                    String::new()
                } else {
                    each(*exchanges, ceiling)
                };
                let sentence = format!("{ceiling}{each}");
                subject.named(ceiling.scenario.unwrap_or_default(), &sentence)
            })
            .collect();
        parts.join("; ")
    }

    /// Advice on what to write instead.
    fn instead(&self, above: f64) -> String {
        let lower = format!("or a bound below {}/s", format_number(self.value()));
        let [(ceiling, exchanges)] = self.0[..] else {
            return format!("raise the load of a scenario, {lower}");
        };
        let iterations = above / exchanges;
        let places = ceiling.value * ceiling.held_s;
        let (more, less) = match ceiling.source {
            Source::ThinkTime => ("users", "between two iterations of one"),
            Source::Connections => ("connections", "of pauses"),
            _ => {
                let rate = format_number(iterations);
                return format!("write a rate above {rate}/s, {lower}");
            }
        };
        format!(
            "write more than {} {more}, less than {} {less}, {lower}",
            format_number(iterations * ceiling.held_s),
            format_seconds(places / iterations)
        )
    }
}

/// The next whole number, unless it is one already.
fn up(value: f64) -> f64 {
    (value * (1.0 - ROUNDING)).ceil()
}
