//! Content of one iteration of a scenario: how long it pauses, and which exchanges it makes. Pure.
//!
//! Of a `mix`, and of pauses that are drawn, it is the mean. Of an `if`, and of redirects, nobody knows before which way is taken: the pauses are then the shortest
//! and the exchanges the most that there can be, so that a ceiling made of them is one.

use plimsoll_load::plan::{Action, Load, Plan, Span};
use std::collections::BTreeMap;

/// One iteration that goes through to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Iteration {
    /// Seconds for which it pauses.
    pub(super) pauses_s: f64,
    /// How often it carries out each step of the plan.
    pub(super) visits: Vec<f64>,
    /// Whether both are the mean and no bound.
    pub(super) exact: bool,
    /// Whether chance makes one iteration differ from another.
    pub(super) varies: bool,
    /// The greatest [`heaviness`] of its pauses.
    pub(super) heaviness: f64,
}

/// Some actions of an iteration, in a row.
#[derive(Debug, Clone)]
struct IterationPart {
    pauses_s: f64,
    /// How often it carries out each step that it does carry out: a part has few of a plan's steps.
    visits: BTreeMap<usize, f64>,
    exact: bool,
    varies: bool,
    heaviness: f64,
    /// Whether it may be over without any exchange, so that a pause before what follows would not be waited for.
    before_first: bool,
}

impl Iteration {
    /// Content of an iteration of this scenario of the plan.
    pub(super) fn of(plan: &Plan, scenario: usize) -> Self {
        let scenario = &plan.scenarios[scenario];
        let walk = Walk {
            plan,
            // It is counted from the intended start, so an arrival that comes late to its user has waited already.
            waits_before_first: matches!(scenario.load, Load::Closed { .. }),
        };
        let whole = walk.all(&scenario.program, true);
        let mut visits = vec![0.0; plan.steps.len()];
        for (step, times) in whole.visits {
            visits[step] = times;
        }
        Self {
            pauses_s: whole.pauses_s,
            visits,
            exact: whole.exact,
            varies: whole.varies,
            heaviness: whole.heaviness,
        }
    }

    /// Its exchanges, all steps together.
    pub(super) fn exchanges(&self) -> f64 {
        self.visits.iter().sum()
    }
}

struct Walk<'a> {
    plan: &'a Plan,
    /// Whether a pause before the first exchange keeps the virtual user.
    waits_before_first: bool,
}

impl Walk<'_> {
    /// Actions in a row, of which the first may be the first of the iteration.
    fn all(&self, actions: &[Action], before_first: bool) -> IterationPart {
        let mut sum = nothing(before_first);
        for action in actions {
            let next = self.one(action, sum.before_first);
            sum = sum.then(next, 1.0);
        }
        sum
    }

    fn one(&self, action: &Action, before_first: bool) -> IterationPart {
        match action {
            Action::Step(step) => self.step(*step, before_first),
            Action::Pause(span) if before_first && !self.waits_before_first => IterationPart {
                exact: *span == Span::ZERO,
                ..nothing(before_first)
            },
            Action::Pause(span) => self.pause(*span, before_first),
            Action::Group { actions, .. } => self.all(actions, before_first),
            Action::Repeat { times, actions } => {
                let first = self.all(actions, before_first);
                // Repetitions within each other would else be walked through twice at each level.
                let later = match first.before_first == before_first {
                    true => first.clone(),
                    false => self.all(actions, first.before_first),
                };
                first.then(later, f64::from(times.saturating_sub(1)))
            }
            Action::Mix(choices) => {
                let weights = choices.iter().map(|choice| f64::from(choice.weight));
                let total: f64 = weights.sum();
                let mut mean = nothing(false);
                let ways = choices.iter().map(|choice| {
                    let way = self.all(&choice.actions, before_first);
                    (f64::from(choice.weight) / total, way)
                });
                let ways: Vec<(f64, IterationPart)> = ways.collect();
                let undecided = ways.iter().any(|(_, way)| way.before_first);
                mean.exact = ways.iter().all(|(_, way)| way.before_first == undecided);
                for (share, way) in ways {
                    mean = mean.then(way, share);
                }
                mean.before_first = undecided;
                mean.varies |= choices.len() > 1;
                mean
            }
            Action::If {
                then, otherwise, ..
            } => {
                let (one, other) = (
                    self.all(then, before_first),
                    self.all(otherwise, before_first),
                );
                one.or(&other)
            }
        }
    }

    fn step(&self, index: usize, before_first: bool) -> IterationPart {
        let step = &self.plan.steps[index];
        let mut one = if before_first {
            nothing(false)
        } else {
            self.pause(step.pause, false)
        };
        one.visit(index, 1.0);
        if let Some(follow) = step.follow {
            one.visit(follow.series, f64::from(follow.most));
            one.exact = false;
        }
        one
    }

    fn pause(&self, span: Span, before_first: bool) -> IterationPart {
        IterationPart {
            pauses_s: span.mean().as_secs_f64(),
            varies: !matches!(span, Span::Constant(_)),
            heaviness: heaviness(&span),
            ..nothing(before_first)
        }
    }
}

fn nothing(before_first: bool) -> IterationPart {
    IterationPart {
        pauses_s: 0.0,
        visits: BTreeMap::new(),
        exact: true,
        varies: false,
        heaviness: 0.0,
        before_first,
    }
}

impl IterationPart {
    /// Steps that are never carried out are left out, so that equal parts have equal visits.
    fn visit(&mut self, step: usize, times: f64) {
        if times > 0.0 {
            *self.visits.entry(step).or_insert(0.0) += times;
        }
    }

    /// This, and then the other so many times.
    fn then(mut self, other: Self, times: f64) -> Self {
        self.pauses_s += other.pauses_s * times;
        for (step, more) in other.visits {
            self.visit(step, more * times);
        }
        self.exact &= other.exact;
        self.varies |= other.varies;
        self.heaviness = self.heaviness.max(other.heaviness);
        self.before_first = other.before_first;
        self
    }

    /// Either this or the other.
    fn or(mut self, other: &Self) -> Self {
        let same = self.pauses_s.total_cmp(&other.pauses_s).is_eq() && self.visits == other.visits;
        self.exact &= other.exact && same;
        self.pauses_s = self.pauses_s.min(other.pauses_s);
        for (step, others) in &other.visits {
            let own = self.visits.entry(*step).or_insert(0.0);
            *own = own.max(*others);
        }
        self.varies |= other.varies;
        self.heaviness = self.heaviness.max(other.heaviness);
        self.before_first |= other.before_first;
        self
    }
}

/// The squared coefficient of variation of spans that may be many times their mean; 0 of the others, which are no longer to come the longer
/// they have lasted.
pub(super) fn heaviness(span: &Span) -> f64 {
    match span {
        Span::Lognormal { sigma, .. } => (sigma * sigma).exp() - 1.0,
        Span::Constant(_) | Span::Uniform { .. } | Span::Exponential { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::memory::Memory;

    /// Pauses, visits by step, and whether both are exact, of a scenario's steps as the file has them.
    fn check(steps: &str, pauses_s: f64, visits: &[f64], exact: bool) {
        check_in("rate: 1/s", steps, pauses_s, visits, exact);
    }

    /// Checks an iteration under a load of this model.
    fn check_in(model: &str, steps: &str, pauses_s: f64, visits: &[f64], exact: bool) {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nload: {{ {model}, duration: 5s }}\nvalues: {{ kind: gold }}\nscenario:\n{steps}"
        );
        let experiment = Memory::new(&text, &[]).load(&[]).unwrap();
        let plan = experiment.arms[0].outline();
        let iteration = Iteration::of(&plan, 0);
        assert!(
            (iteration.pauses_s - pauses_s).abs() < 1e-9,
            "{steps}: {iteration:?}"
        );
        assert_eq!(
            (&iteration.visits[..], iteration.exact),
            (visits, exact),
            "{steps}"
        );
    }

    #[test]
    fn the_pause_before_the_first_exchange_is_not_waited_for() {
        check(
            "  - { get: /a, pause: 2s }\n  - { get: /b, pause: 3s }",
            3.0,
            &[1.0, 1.0],
            true,
        );
        check(
            "  - { repeat: 4, steps: [{ get: /a, pause: 2s }] }",
            6.0,
            &[4.0],
            true,
        );
    }

    #[test]
    fn a_late_arrival_has_waited_for_its_first_pause_already() {
        let steps =
            "  - { pause: 4s }\n  - { get: /a, pause: 2s }\n  - { pause: { uniform: [1s, 2s] } }";
        check_in("rate: 1/s", steps, 1.5, &[1.0], false);
        check_in("users: 1", steps, 5.5, &[1.0], true);
    }

    #[test]
    fn a_mix_has_its_mean() {
        let steps = "  - { get: /a }
  - mix:
      - { weight: 3, steps: [{ get: /b, pause: 1s }] }
      - { weight: 1, steps: [{ get: /c, pause: 2s }, { get: /d, pause: 3s }] }";
        check(steps, 2.0, &[1.0, 0.75, 0.25, 0.25], true);
    }

    #[test]
    fn a_branch_has_the_shorter_pauses_and_the_more_exchanges() {
        let steps = "  - { get: /a }
  - { if: \"${kind} == gold\", steps: [{ get: /b, pause: 2s }, { get: /c, pause: 2s }], else: [{ get: /d, pause: 1s }] }";
        check(steps, 1.0, &[1.0, 1.0, 1.0, 1.0], false);
        let steps =
            "  - { if: \"${kind} == gold\", steps: [{ get: /a }] }\n  - { get: /b, pause: 5s }";
        check(steps, 0.0, &[1.0, 1.0], false);
    }

    #[test]
    fn a_part_knows_only_its_own_steps() {
        let steps = "  - { get: /a, pause: 1s }\n".repeat(50);
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nload: {{ rate: 1/s, duration: 5s }}\nscenario:\n{steps}"
        );
        let experiment = Memory::new(&text, &[]).load(&[]).unwrap();
        let plan = experiment.arms[0].outline();
        let walk = Walk {
            plan: &plan,
            waits_before_first: false,
        };
        let program = &plan.scenarios[0].program;
        for action in program {
            assert_eq!(walk.one(action, true).visits.len(), 1);
        }
        assert_eq!(walk.all(program, true).visits.len(), 50);
    }

    #[test]
    fn redirects_are_as_many_as_may_be_followed() {
        check("  - { get: /a, redirects: 3 }", 0.0, &[1.0, 3.0], false);
    }
}
