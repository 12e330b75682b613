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
    /// Something whose time from beginning to end is recorded under a name.
    Group {
        /// What reports call it.
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

/// Every step that the actions refer to, in the order in which they are written.
pub fn steps_of(actions: &[Action], look: &mut impl FnMut(usize)) {
    for action in actions {
        match action {
            Action::Step(step) => look(*step),
            Action::Pause(_) => {}
            Action::Mix(choices) => {
                for choice in choices {
                    steps_of(&choice.actions, look);
                }
            }
            Action::Repeat { actions, .. } | Action::Group { actions, .. } => {
                steps_of(actions, look);
            }
            Action::If {
                then, otherwise, ..
            } => {
                steps_of(then, look);
                steps_of(otherwise, look);
            }
        }
    }
}
