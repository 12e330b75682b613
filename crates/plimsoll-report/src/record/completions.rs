//! Exchanges that ended in a span of time, by step and by group: throughput is their number by the length of the span.

use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{GroupTally, StepTally};
use std::collections::BTreeMap;

/// Exchanges that ended with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// With any.
    pub answered: u64,
    /// With one that passed its checks.
    pub good: u64,
}

/// Exchanges that ended in a span of time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completions {
    /// By step.
    pub steps: BTreeMap<String, Answers>,
    /// Passes by group.
    pub groups: BTreeMap<String, u64>,
}

impl Answers {
    /// Those of a step.
    #[must_use]
    pub fn of(step: &StepTally) -> Self {
        let passed = step.classes.get(&OutcomeClass::Passed);
        Self {
            answered: step.answered(),
            good: passed.map_or(0, |class| class.count),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            answered: self.answered + other.answered,
            good: self.good + other.good,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            answered: self.answered.saturating_sub(other.answered),
            good: self.good.saturating_sub(other.good),
        }
    }
}

impl Completions {
    /// All that ended of these steps and groups.
    #[must_use]
    pub fn of<'t>(
        steps: impl IntoIterator<Item = (&'t String, &'t StepTally)>,
        groups: impl IntoIterator<Item = (&'t String, &'t GroupTally)>,
    ) -> Self {
        let steps = steps.into_iter();
        let groups = groups.into_iter();
        Self {
            steps: steps
                .map(|(name, step)| (name.clone(), Answers::of(step)))
                .collect(),
            groups: groups
                .map(|(name, group)| (name.clone(), group.count))
                .collect(),
        }
    }

    /// Adds those of another span.
    pub fn merge(&mut self, other: &Self) {
        for (name, answers) in &other.steps {
            let own = self.steps.entry(name.clone()).or_default();
            *own = own.plus(*answers);
        }
        for (name, count) in &other.groups {
            *self.groups.entry(name.clone()).or_default() += count;
        }
    }

    /// These completions without those of a span within it.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        for (name, answers) in &other.steps {
            let own = self.steps.entry(name.clone()).or_default();
            *own = own.minus(*answers);
        }
        for (name, count) in &other.groups {
            let own = self.groups.entry(name.clone()).or_default();
            *own = own.saturating_sub(*count);
        }
        self
    }

    /// Over all steps.
    #[must_use]
    pub fn total(&self) -> Answers {
        let all = self.steps.values().copied();
        all.fold(Answers::default(), Answers::plus)
    }

    /// Of one step.
    #[must_use]
    pub fn step(&self, name: &str) -> Answers {
        self.steps.get(name).copied().unwrap_or_default()
    }

    /// Passes through one group.
    #[must_use]
    pub fn group(&self, name: &str) -> u64 {
        self.groups.get(name).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_added_and_taken_away_by_name() {
        let of = |answered: u64, passes: u64| Completions {
            steps: [(
                "a".to_owned(),
                Answers {
                    answered,
                    good: answered / 2,
                },
            )]
            .into(),
            groups: [("g".to_owned(), passes)].into(),
        };
        let mut all = of(10, 4);
        all.merge(&of(6, 1));
        let rest = all.without(&of(2, 3));
        assert_eq!(
            rest.total(),
            Answers {
                answered: 14,
                good: 7
            }
        );
        assert_eq!((rest.step("a").answered, rest.group("g")), (14, 2));
        assert_eq!((rest.step("b").answered, rest.group("h")), (0, 0));
    }
}
