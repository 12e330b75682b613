//! How the users of a scenario come to their iterations: they are given them in the open model, and give them to themselves in the closed one.

use crate::arrivals::shifts::{Company, Shift};
use crate::clock::{Nanos, nanos};
use crate::plan::{Crowd, Load, Plan, Span};
use plimsoll_base::random::Draw;

/// How the users of a scenario come to their iterations.
#[derive(Debug, Clone)]
pub(super) enum Rounds {
    /// They get them.
    Given,
    /// They give them to themselves.
    Own(Own),
}

/// State that the users of a closed scenario go by.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) crowds: Vec<Crowd>,
    pub(super) think: Span,
    pub(super) every: Span,
    pub(super) seed: u64,
    /// The number of the scenario's first user.
    pub(super) first: usize,
    /// How many it has.
    pub(super) number: u64,
}

impl Rounds {
    /// Those of a plan, by scenario.
    pub(super) fn of(plan: &Plan) -> Vec<Self> {
        let mut first = 0;
        let rounds = plan.scenarios.iter().map(|scenario| {
            let rounds = Self::new(&scenario.load, plan.seed, first);
            first += usize::try_from(scenario.load.users()).expect("invariant: checked to be few");
            rounds
        });
        rounds.collect()
    }

    /// Those of a scenario whose first user has this number.
    fn new(load: &Load, seed: u64, first: usize) -> Self {
        match load {
            Load::Open { .. } => Self::Given,
            Load::Closed {
                users,
                think,
                every,
            } => Self::Own(Own {
                crowds: users.clone(),
                think: *think,
                every: *every,
                seed,
                first,
                number: u64::from(load.users()),
            }),
        }
    }
}

impl Own {
    /// How long after the begin of a shift its first iteration is intended. Users who begin in the same moment are spread over one
    /// think time, so that they do not go on in step.
    pub(super) fn spread(&self, shift: Shift, draw: &mut Draw) -> Nanos {
        let mean = nanos(self.think.mean().max(self.every.mean()));
        match shift.company {
            Company::Together if mean > 0 => draw.below(mean),
            Company::Together | Company::Alone => 0,
        }
    }
}
