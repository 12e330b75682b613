//! Stub state: what WireMock calls scenarios. Stubs of one scenario match only in certain states and may move it on.
//!
//! The state of a scenario is one atomic word, which all shards share: a version and the number of the state. A request sees every scenario
//! at one moment, and moves the one of its stub only if that has not been moved since; else it is matched anew. So of many requests
//! at once none is answered from a state that another has left already, and none is left without a stub that matched all the time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state in which every scenario begins.
pub const STARTED: &str = "Started";

/// A scenario.
#[derive(Debug)]
pub struct StateMachine {
    /// Its name.
    pub name: String,
    /// The version above, the state's number below.
    cell: AtomicU64,
    /// The names of the states by their numbers; none is ever removed. A blocking lock: requests never ask for it.
    states: Mutex<Vec<String>>,
}

/// A mapping's words on its scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Whose state it is.
    pub scenario: String,
    /// The state in which the stub answers.
    pub required: Option<String>,
    /// The state that it leads to.
    pub new: Option<String>,
}

/// A stub's place in a scenario.
#[derive(Debug, Clone)]
pub struct Step {
    /// Whose state it is.
    pub machine: Arc<StateMachine>,
    /// The state in which the stub matches; in any without one.
    requires: Option<u32>,
    /// The state that its answer leads to.
    leads_to: Option<u32>,
}

impl Step {
    /// The name of the state in which the stub matches.
    pub fn required(&self) -> Option<String> {
        self.requires.map(|number| self.machine.name_of(number))
    }

    /// The name of the state that its answer leads to.
    pub fn new_state(&self) -> Option<String> {
        self.leads_to.map(|number| self.machine.name_of(number))
    }
}

/// The scenarios of a mock by their names.
#[derive(Debug, Default)]
pub struct StateMachines(BTreeMap<String, Arc<StateMachine>>);

/// States of scenarios as one request has seen them.
#[derive(Debug, Default)]
pub struct Sight<'a>(Vec<(&'a StateMachine, u64)>);

impl StateMachine {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            cell: AtomicU64::new(0),
            states: Mutex::new(vec![STARTED.to_owned()]),
        }
    }

    /// The name of the state that it is in.
    pub fn state(&self) -> String {
        self.name_of(number_of(self.cell.load(Ordering::Acquire)))
    }

    /// The name of the state with this number.
    fn name_of(&self, number: u32) -> String {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.get(number as usize).cloned().unwrap_or_default()
    }

    /// Puts it into a state, whatever it is in.
    pub fn set(&self, state: &str) {
        let number = self.number(state);
        let moved = |word| Some(next(word, number));
        // It cannot fail: the closure always gives a word.
        self.cell
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, moved)
            .ok();
    }

    /// The number of a state, which it may get only now.
    fn number(&self, state: &str) -> u32 {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let place = states.iter().position(|own| own == state);
        let place = place.unwrap_or_else(|| {
            states.push(state.to_owned());
            states.len() - 1
        });
        u32::try_from(place).expect("invariant: a state has a mapping that names it")
    }
}

impl StateMachines {
    /// The place of a mapping in its scenario, which begins with its first mapping.
    pub fn step(&mut self, membership: &Membership) -> Step {
        let name = &membership.scenario;
        let machine = self
            .0
            .entry(name.clone())
            .or_insert_with(|| Arc::new(StateMachine::new(name)));
        let number = |state: &String| machine.number(state);
        Step {
            requires: membership.required.as_ref().map(number),
            leads_to: membership.new.as_ref().map(number),
            machine: Arc::clone(machine),
        }
    }

    /// Forgets the scenarios of which no step is left.
    pub fn keep<'a>(&mut self, steps: impl Iterator<Item = &'a Step> + Clone) {
        self.0.retain(|_, machine| {
            let mut steps = steps.clone();
            steps.any(|step| Arc::ptr_eq(&step.machine, machine))
        });
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<'a> Sight<'a> {
    /// Whether a stub with this step may match.
    pub fn allows(&mut self, step: &'a Step) -> bool {
        let Some(required) = step.requires else {
            return true;
        };
        number_of(self.word(&step.machine)) == required
    }

    /// Takes the step of the stub that matched, if one did. `false` if what was seen did not hold at one moment, or the scenario has
    /// been moved since: then the request has to look anew.
    pub fn settle(mut self, step: Option<&'a Step>) -> bool {
        let Some(step) = step else {
            return self.holds_still();
        };
        let word = self.word(&step.machine);
        if !self.holds_still() {
            return false;
        }
        match step.leads_to {
            Some(number) if number != number_of(word) => step
                .machine
                .cell
                .compare_exchange(
                    word,
                    next(word, number),
                    Ordering::AcqRel,
                    Ordering::Acquire,
                )
                .is_ok(),
            _ => true,
        }
    }

    /// State of a scenario as this request sees it, however often it asks.
    fn word(&mut self, machine: &'a StateMachine) -> u64 {
        let seen = self.0.iter().find(|(own, _)| std::ptr::eq(*own, machine));
        if let Some((_, word)) = seen {
            return *word;
        }
        let word = machine.cell.load(Ordering::Acquire);
        self.0.push((machine, word));
        word
    }

    /// Whether there was a moment in which everything was as it was seen. One scenario alone always was.
    fn holds_still(&self) -> bool {
        let unmoved =
            |(machine, word): &(&StateMachine, u64)| machine.cell.load(Ordering::Acquire) == *word;
        self.0.len() < 2 || self.0.iter().all(unmoved)
    }
}

/// The state's number in a word.
fn number_of(word: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    let number = word as u32;
    number
}

/// The word after this one, with another state.
fn next(word: u64, number: u32) -> u64 {
    let version = (word >> 32).wrapping_add(1);
    (version << 32) | u64::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn membership(required: &str, new: &str) -> Membership {
        let named = |state: &str| (!state.is_empty()).then(|| state.to_owned());
        Membership {
            scenario: "s".to_owned(),
            required: named(required),
            new: named(new),
        }
    }

    #[test]
    fn a_step_is_taken_once() {
        let mut machines = StateMachines::default();
        let first = machines.step(&membership(STARTED, "B"));
        let second = machines.step(&membership("B", ""));
        let (mut one, mut other) = (Sight::default(), Sight::default());
        assert!(one.allows(&first) && other.allows(&first));
        assert!(one.settle(Some(&first)));
        assert!(!other.settle(Some(&first)), "somebody else was first");
        let mut sight = Sight::default();
        assert!(!sight.allows(&first) && sight.allows(&second));
        assert_eq!(first.machine.state(), "B");
        first.machine.set(STARTED);
        assert!(!sight.allows(&first), "a request sees one moment");
        assert!(Sight::default().allows(&first));
    }

    #[test]
    fn a_scenario_ends_with_its_last_stub() {
        let mut machines = StateMachines::default();
        let step = machines.step(&membership(STARTED, "B"));
        step.machine.set("B");
        machines.keep([&step].into_iter());
        assert_eq!(machines.step(&membership("", "")).machine.state(), "B");
        machines.keep([].into_iter());
        assert_eq!(machines.step(&membership("", "")).machine.state(), STARTED);
    }

    /// Eight threads walk one chain of states: each of its steps is taken exactly once.
    #[test]
    fn no_step_is_lost_among_threads() {
        const STEPS: usize = 4000;
        let mut machines = StateMachines::default();
        let steps: Vec<Step> = (0..STEPS)
            .map(|i| {
                let from = if i == 0 {
                    STARTED.to_owned()
                } else {
                    i.to_string()
                };
                machines.step(&membership(&from, &(i + 1).to_string()))
            })
            .collect();
        let taken: Vec<AtomicU64> = (0..STEPS).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut at = 0;
                    while at < STEPS {
                        let mut sight = Sight::default();
                        if !sight.allows(&steps[at]) {
                            at += 1;
                        } else if sight.settle(Some(&steps[at])) {
                            taken[at].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(taken.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        assert_eq!(steps[0].machine.state(), STEPS.to_string());
    }
}
