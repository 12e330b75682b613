//! From what a criterion found and what that reaches to rows of the summary.

use super::reach::{Reached, Standing};
use crate::record::{Bias, Effect, Sense, ValidityRow};

/// Observation of a criterion on one arm.
pub(super) struct Finding {
    pub criterion: u32,
    pub name: &'static str,
    pub value: f64,
    pub limit: f64,
    pub unit: &'static str,
    pub sense: Sense,
    /// One sentence for when it holds.
    pub good: String,
    /// Its meaning, and what to do when it does not hold.
    pub bad: String,
}

/// Whether a share of so many can be held against a limit: of fewer, one alone would exceed it.
pub(super) fn says_something(count: u64, limit: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let one = 1.0 / count as f64;
    // A hundredth of a hundred is one.
    one <= limit * (1.0 + 1e-9)
}

impl Finding {
    /// Whether the value lies on the right side of the limit.
    pub(super) fn is_within(&self) -> bool {
        match self.sense {
            Sense::AtLeast => self.value >= self.limit,
            Sense::AtMost => self.value <= self.limit,
        }
    }

    /// One row when the value is within the limit or nothing is reached; otherwise one per effect, the stronger first. What is
    /// reached is only asked for when the limit is passed.
    pub(super) fn rows(
        &self,
        arm: &str,
        reached: impl FnOnce() -> Vec<Reached>,
    ) -> Vec<ValidityRow> {
        let reached = if self.is_within() {
            Vec::new()
        } else {
            reached()
        };
        let rows: Vec<ValidityRow> = [Effect::Invalid, Effect::Marked]
            .into_iter()
            .map(|effect| -> Vec<&Reached> {
                let reached = reached.iter();
                reached.filter(|reached| reached.effect == effect).collect()
            })
            .filter(|reached| !reached.is_empty())
            .map(|reached| self.row(arm, &reached))
            .collect();
        if rows.is_empty() {
            return vec![self.row(arm, &[])];
        }
        rows
    }

    /// The row of a broken criterion after which nothing of the arm stands.
    pub(super) fn row_on_all(&self, arm: &str) -> ValidityRow {
        let row = self.row(arm, &[]);
        let ok = self.is_within();
        let (effect, advice) = if ok {
            (Effect::None, &self.good)
        } else {
            (Effect::Invalid, &self.bad)
        };
        ValidityRow {
            ok,
            effect,
            advice: advice.clone(),
            ..row
        }
    }

    /// The row for what it reaches, all with one effect.
    fn row(&self, arm: &str, reached: &[&Reached]) -> ValidityRow {
        let effect = reached.first().map_or(Effect::None, |first| first.effect);
        let affects: Vec<String> = reached.iter().map(|reached| reached.path.clone()).collect();
        let enlarges = |reached: &&Reached| reached.bias == Bias::TooLarge;
        let has = |wanted| reached.iter().any(|reached| reached.standing == wanted);
        let ok = effect == Effect::None || !has(Standing::Claimed);
        let advice = match (self.is_within(), ok) {
            (true, _) => self.good.clone(),
            (false, false) => self.bad.clone(),
            (false, true) if effect == Effect::None => {
                format!("{} No reported figure is affected.", self.bad)
            }
            (false, true) => {
                let only = match (has(Standing::BeyondP99), has(Standing::Part)) {
                    (true, true) => "figures beyond the p99 and parts of the service time",
                    (false, true) => "parts of the service time",
                    _ => "figures beyond the p99",
                };
                format!("{} Only {only} are affected.", self.bad)
            }
        };
        ValidityRow {
            criterion: self.criterion,
            name: self.name.to_owned(),
            arm: arm.to_owned(),
            level: None,
            value: Some(self.value),
            limit: self.limit,
            unit: self.unit.to_owned(),
            sense: self.sense,
            ok,
            effect,
            bias: if !reached.is_empty() && reached.iter().all(enlarges) {
                Bias::TooLarge
            } else {
                Bias::Either
            },
            advice,
            affects,
        }
    }
}
