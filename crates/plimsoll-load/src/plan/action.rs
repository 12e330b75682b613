//! What an iteration does: steps, and the ways between them.

use super::load::Span;
use super::text::Text;
use serde::{Deserialize, Serialize};

/// One thing that an iteration does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// The exchange at this place of [`super::Plan::steps`].
    Step(usize),
    /// One of several, by weight.
    Mix(Vec<Choice>),
    /// Something several times.
    Repeat {
        /// How often.
        times: u32,
        /// What.
        actions: Vec<Action>,
    },
    /// Something if a condition holds.
    If {
        /// What must hold.
        condition: Condition,
        /// What is done then.
        then: Vec<Action>,
        /// What is done else.
        otherwise: Vec<Action>,
    },
    /// Nothing, for some time; what comes after it is intended for its end.
    Pause(Span),
    /// Something whose passes are recorded under a name: their times from beginning to end, and the response times within.
    Group {
        /// What reports call it, after the names of the groups around it ([`group_path`]).
        name: String,
        /// What.
        actions: Vec<Action>,
    },
}

/// One of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// How often it is chosen, in proportion to the others; more than 0.
    pub weight: u32,
    /// What is done then.
    pub actions: Vec<Action>,
}

/// A comparison of two texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// What is compared.
    pub left: Text,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub right: Text,
}

/// How two texts are compared: as numbers where both are, else as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// The right one is in the left one.
    Contains,
}

/// Between the names of groups within each other; in none of them.
pub const GROUP_SEPARATOR: char = '/';

/// What reports call a group within others: `outer/inner`.
#[must_use]
pub fn group_path(within: &[String], name: &str) -> String {
    let mut path = String::new();
    for outer in within {
        path.push_str(outer);
        path.push(GROUP_SEPARATOR);
    }
    path + name
}

/// What reports call the groups that the actions hold, each before those within it.
pub fn groups_of(actions: &[Action], look: &mut impl FnMut(String)) {
    look_for_groups(actions, &mut Vec::new(), look);
}

fn look_for_groups(actions: &[Action], within: &mut Vec<String>, look: &mut impl FnMut(String)) {
    for action in actions {
        if let Action::Group { name, .. } = action {
            look(group_path(within, name));
            within.push(name.clone());
        }
        for part in action.parts() {
            look_for_groups(part, within, look);
        }
        if let Action::Group { .. } = action {
            within.pop();
        }
    }
}

impl Action {
    /// What it holds: the actions of each way that an iteration may take.
    fn parts(&self) -> Vec<&[Action]> {
        match self {
            Self::Step(_) | Self::Pause(_) => Vec::new(),
            Self::Mix(choices) => choices.iter().map(|choice| &choice.actions[..]).collect(),
            Self::Repeat { actions, .. } | Self::Group { actions, .. } => vec![actions],
            Self::If {
                then, otherwise, ..
            } => vec![then, otherwise],
        }
    }
}

/// Every step that the actions refer to, in the order in which they are written.
pub fn steps_of(actions: &[Action], look: &mut impl FnMut(usize)) {
    for action in actions {
        if let Action::Step(step) = action {
            look(*step);
        }
        for part in action.parts() {
            steps_of(part, look);
        }
    }
}
