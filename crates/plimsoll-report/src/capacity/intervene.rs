//! Whether what gave way first is the cause: it is given less, the capacity is searched for again, and must have moved with it.

use super::conclude::format_rate;
use super::search::{Settings, Taken, bounds, round};
use crate::record::{
    Bottleneck, CapacitySummary, CauseKind, Intervention, Moved, Trial, TrialPurpose,
};

/// Share that the suspect keeps.
const KEPT: f64 = 0.8;
/// How far the middle of the interval may lie from the predicted one.
const TOLERANCE: f64 = 0.15;
/// Where the second search begins, as a share of the predicted lower bound: near it, and carried if it is right.
const BEGIN: f64 = 0.9;
/// Budget of the second search, as a share of the first one's.
const BUDGET: f64 = 0.5;

/// The resource to be made less, and of which component.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The component.
    pub component: String,
    /// Cores that it can use.
    pub cores: f64,
    /// Cores that it is held to.
    pub held_to_cores: f64,
    /// The bounds that were found, and that should move alike.
    before: (f64, f64),
}

/// The resource to make less, or why none can be.
///
/// # Errors
/// A sentence: no interval, no cause, or one whose share cannot be made less.
pub fn plan(found: &CapacitySummary, bottleneck: Option<&Bottleneck>) -> Result<Plan, String> {
    let not = |why: &str| format!("the cause is not confirmed: {why}");
    let (Some(lower), Some(upper)) = (found.lower_per_s, found.upper_per_s) else {
        return Err(not("the capacity has no two bounds that could move"));
    };
    let Some(cause) = bottleneck.and_then(|bottleneck| bottleneck.causes.first()) else {
        return Err(not("none is known"));
    };
    let component = match (cause.kind, &cause.component) {
        (CauseKind::Processor | CauseKind::Quota | CauseKind::HotThread, Some(name)) => name,
        (kind, _) => {
            return Err(not(&format!(
                "only processor time can be made less, and it is the {}",
                kind.words()
            )));
        }
    };
    let cores = match cause.kind {
        // Whatever its process may use, the thread has one.
        CauseKind::HotThread => Some(1.0),
        _ => limit(found, component),
    };
    let cores = cores.ok_or_else(|| {
        not(&format!(
            "how many processors `{component}` may use is not known"
        ))
    })?;
    Ok(Plan {
        component: component.clone(),
        cores,
        held_to_cores: KEPT * cores,
        before: (lower, upper),
    })
}

/// The cores that a component could use, by the last trial that saw it.
fn limit(found: &CapacitySummary, component: &str) -> Option<f64> {
    let trials = found.trials.iter().rev();
    let mut limits = trials.filter_map(|trial| {
        let component = trial.components.get(component)?;
        component.strain.cpu_limit_cores
    });
    limits.next()
}

impl Plan {
    /// How the second search is made: nothing above what was not carried before is of interest, and nothing is confirmed in its turn.
    #[must_use]
    pub fn settings(&self, first: &Settings) -> Settings {
        let (lower, upper) = self.before;
        let from = round(BEGIN * KEPT * lower).max(first.floor);
        Settings {
            from,
            to: Some(upper),
            floor: first.floor,
            confirm_s: 0.0,
            overload_s: 0.0,
            budget_s: BUDGET * first.budget_s,
            ..*first
        }
    }

    /// The result of the intervention.
    #[must_use]
    pub fn conclude(self, settings: &Settings, trials: Vec<Trial>) -> Intervention {
        let taken: Vec<Taken> = trials
            .iter()
            .filter(|trial| trial.purpose == TrialPurpose::Search)
            .map(Taken::from)
            .collect();
        let (lower, upper) = bounds(settings, &taken);
        let [lower, upper] = [lower, upper].map(|end| end.map(|(rate, _)| rate));
        let predicted = (KEPT * self.before.0, KEPT * self.before.1);
        let moved = moved(predicted, (lower, upper), self.before.1);
        let words = |(low, high): (f64, f64)| {
            format!("between {}/s and {}/s", format_rate(low), format_rate(high))
        };
        let carried = match (lower, upper) {
            (Some(lower), Some(upper)) => words((lower, upper)),
            (Some(lower), None) => format!("{}/s or more", format_rate(lower)),
            (None, Some(upper)) => format!("less than {}/s", format_rate(upper)),
            (None, None) => "something unknown".to_owned(),
        };
        let verdict = match moved {
            Moved::AsPredicted => "confirmed",
            Moved::Otherwise => "not confirmed",
            Moved::Unknown => "neither confirmed nor refuted",
        };
        Intervention {
            sentence: format!(
                "{verdict}: with `{}` held to {:.2} of its {:.2} cores the capacity is {carried}; {} was predicted",
                self.component,
                self.held_to_cores,
                self.cores,
                words(predicted)
            ),
            component: self.component,
            cores: self.cores,
            held_to_cores: self.held_to_cores,
            predicted_lower_per_s: predicted.0,
            predicted_upper_per_s: predicted.1,
            lower_per_s: lower,
            upper_per_s: upper,
            moved,
            trials,
        }
    }
}

/// Whether capacity is where it was predicted. What carries `before` or more has not moved at all, and what does not carry even the rate at
/// which the search begins moved too far. Of two intervals it is as predicted if their middles are near each other and a capacity that had
/// not moved would be beyond them; it is not if no two rates of them are near each other; else they are too wide to say.
fn moved(predicted: (f64, f64), found: (Option<f64>, Option<f64>), before: f64) -> Moved {
    let middle = |(low, high): (f64, f64)| (low * high).sqrt();
    match found {
        (Some(lower), Some(upper)) => {
            let ratio = middle((lower, upper)) / middle(predicted);
            let (least, most) = (lower / predicted.1, upper / predicted.0);
            let is_near = (ratio - 1.0).abs() <= TOLERANCE;
            if is_near && most < 1.0 / KEPT {
                Moved::AsPredicted
            } else if least > 1.0 + TOLERANCE || most < 1.0 - TOLERANCE {
                Moved::Otherwise
            } else {
                Moved::Unknown
            }
        }
        (Some(lower), None) if lower >= before * (1.0 - f64::EPSILON) => Moved::Otherwise,
        (None, Some(_)) => Moved::Otherwise,
        (Some(_) | None, None) => Moved::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_moves_as_predicted_or_it_does_not() {
        let check = |found: (Option<f64>, Option<f64>), expected: Moved| {
            assert_eq!(moved((80.0, 84.0), found, 105.0), expected, "{found:?}");
        };
        check((Some(79.0), Some(83.0)), Moved::AsPredicted);
        check((Some(88.0), Some(92.0)), Moved::AsPredicted);
        check((Some(70.0), Some(73.0)), Moved::AsPredicted);
        check((Some(98.0), Some(103.0)), Moved::Otherwise);
        check((Some(60.0), Some(64.0)), Moved::Otherwise);
        check((Some(105.0), None), Moved::Otherwise);
        check((None, Some(10.0)), Moved::Otherwise);
        check((Some(90.0), None), Moved::Unknown);
        check((None, None), Moved::Unknown);
        check((Some(84.0), Some(101.0)), Moved::Unknown);
        let wide = moved((16.0, 32.0), (Some(28.8), Some(33.9)), 40.0);
        assert_eq!(wide, Moved::Unknown, "30/s may be what 16 to 32 predicted");
        let unmoved = moved((16.0, 32.0), (Some(16.0), Some(32.0)), 40.0);
        assert_eq!(
            unmoved,
            Moved::Unknown,
            "20 to 32/s was carried before, too"
        );
    }
}
