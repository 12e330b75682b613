//! The program of an iteration: steps, and the ways between them.

use super::load::Span;
use super::text::Text;
use serde::{Deserialize, Serialize};

/// One thing that an iteration does. Its texts are the plan's, or templates (`T`) while substitutions are still to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action<T = Text> {
    /// The exchange at this place of [`super::Plan::steps`].
    Step(usize),
    /// One of several, by weight.
    Mix(Vec<Choice<T>>),
    /// Something several times.
    Repeat {
        /// How often.
        times: u32,
        /// The repeated actions.
        actions: Vec<Action<T>>,
    },
    /// Something if a condition holds.
    If {
        /// The condition.
        condition: Condition<T>,
        /// Actions where it holds.
        then: Vec<Action<T>>,
        /// Actions where it does not.
        otherwise: Vec<Action<T>>,
    },
    /// Nothing, for some time; what comes after it is intended for its end.
    Pause(Span),
    /// Something whose passes are recorded under a name: their times from beginning to end, and the response times within.
    Group {
        /// Its name in reports, after the names of the groups around it ([`group_path`]).
        name: String,
        /// Its actions.
        actions: Vec<Action<T>>,
    },
}

/// One of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice<T = Text> {
    /// How often it is chosen, in proportion to the others; more than 0.
    pub weight: u32,
    /// Its actions.
    pub actions: Vec<Action<T>>,
}

/// A comparison of two texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition<T = Text> {
    /// The left side.
    pub left: T,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub right: T,
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

/// Name in reports of a group within others: `outer/inner`.
#[must_use]
pub fn group_path(within: &[String], name: &str) -> String {
    let mut path = String::new();
    for outer in within {
        path.push_str(outer);
        path.push(GROUP_SEPARATOR);
    }
    path + name
}

/// Names in reports of the groups that the actions hold, each before those within it.
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

impl<T> Action<T> {
    /// This action with other texts, which `text` makes of its own.
    ///
    /// # Errors
    /// The first of `text`.
    pub fn try_map<U, E>(&self, text: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Action<U>, E> {
        Ok(match self {
            Self::Step(step) => Action::Step(*step),
            Self::Pause(span) => Action::Pause(*span),
            Self::Mix(choices) => {
                let choices = choices.iter().map(|choice| {
                    Ok(Choice {
                        weight: choice.weight,
                        actions: try_map_all(&choice.actions, text)?,
                    })
                });
                Action::Mix(choices.collect::<Result<_, E>>()?)
            }
            Self::Repeat { times, actions } => Action::Repeat {
                times: *times,
                actions: try_map_all(actions, text)?,
            },
            Self::Group { name, actions } => Action::Group {
                name: name.clone(),
                actions: try_map_all(actions, text)?,
            },
            Self::If {
                condition,
                then,
                otherwise,
            } => Action::If {
                condition: Condition {
                    left: text(&condition.left)?,
                    comparison: condition.comparison,
                    right: text(&condition.right)?,
                },
                then: try_map_all(then, text)?,
                otherwise: try_map_all(otherwise, text)?,
            },
        })
    }
}

fn try_map_all<T, U, E>(
    actions: &[Action<T>],
    text: &mut impl FnMut(&T) -> Result<U, E>,
) -> Result<Vec<Action<U>>, E> {
    actions.iter().map(|action| action.try_map(text)).collect()
}

impl Action {
    /// Its contents: the actions of each way that an iteration may take.
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
