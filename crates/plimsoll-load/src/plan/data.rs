//! Differences between iterations: constants, rows of data, cookies.

use serde::{Deserialize, Serialize};

/// Differences between iterations; by default none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Values that are the same in every iteration, by name.
    #[serde(default)]
    pub values: Vec<(String, String)>,
    /// Where rows come from. Their columns are values, each name at most once.
    #[serde(default)]
    pub feeders: Vec<FeederPlan>,
    /// How iterations get rows that come one after the other.
    #[serde(default)]
    pub dealing: Dealing,
    /// Whether users keep cookies and send them back.
    #[serde(default)]
    pub cookies: Cookies,
}

/// How iterations get the rows of feeders that are sequential or shuffled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dealing {
    /// Each iteration the row of its number, whether it needs one or not: the same row whatever the number of shards and the moment.
    #[default]
    Numbered,
    /// The next row, as an iteration begins that needs one: of the scenario that it belongs to or, where a program is one mix and nothing
    /// else, of the way that it takes. So no row is left out, however unevenly scenarios run; who gets which depends on who comes first.
    Needed,
}

/// Handling of the cookies that the target sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cookies {
    /// Nothing.
    #[default]
    Ignore,
    /// Each keeps its own and sends them back; iterations do not begin anew.
    Keep,
}

/// Rows of data, of which each iteration gets one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeederPlan {
    /// Its name.
    pub name: String,
    /// How its text is to be read.
    pub format: Format,
    /// All of it: a file's content.
    pub text: String,
    /// Which iteration gets which row.
    pub order: Order,
    /// Behaviour when every row was dealt.
    pub at_end: AtEnd,
}

/// A format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// RFC 4180, with the names of columns in the first line.
    Csv,
    /// One JSON object in a line; the keys of the first are the columns.
    JsonLines,
}

/// Which iteration gets which row; the same whatever the number of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Iteration *i* gets row *i*.
    Sequential,
    /// Any, with replacement.
    Random,
    /// Like sequential, over the rows in one random order.
    Shuffled,
    /// User *u* gets row *u* in all its iterations.
    Unique,
}

/// Behaviour when every row was dealt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// They are dealt again.
    #[default]
    Repeat,
    /// The users that would get one stop. Of the closed model only: a schedule does not end early.
    Stop,
    /// The run fails.
    Error,
}
