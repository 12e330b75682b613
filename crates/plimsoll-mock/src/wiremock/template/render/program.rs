//! What a template is compiled to: its text as parts, and the expressions between its braces.

use super::{Helper, Prepared};
use std::fmt;

/// A piece of a template.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    Output(Expression),
    Block(Box<Block>),
}

/// `{{#…}}…{{else}}…{{/…}}`.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) head: BlockHead,
    /// `as |item index|`.
    pub(crate) names: Vec<String>,
    pub(crate) body: Vec<Part>,
    pub(crate) otherwise: Vec<Part>,
}

/// What a block begins with.
#[derive(Debug, Clone)]
pub(crate) enum BlockHead {
    /// A helper that decides about the body.
    Helper(Call),
    /// A value: the body for each of a list, or with it, if it says yes.
    Section(Expression),
}

/// Something that has a value.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    Text(String),
    Integer(i64),
    Decimal(f64),
    Bool(bool),
    Nothing,
    Path(Path),
    Call(Box<Call>),
}

/// A helper with what it is called with.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) helper: &'static Helper,
    pub(crate) arguments: Vec<Expression>,
    /// `name=value`.
    pub(crate) options: Vec<(String, Expression)>,
    /// What could be made ready before the first request.
    pub(crate) prepared: Prepared,
    pub(crate) place: Place,
}

/// `../a.b.[c]`, `@index`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    /// How many scopes out.
    pub(crate) outwards: usize,
    /// `@`: a datum of the loop, or `@root`.
    pub(crate) is_data: bool,
    /// `this`, or `.`: starts at the value of the scope, whatever it has.
    pub(crate) is_this: bool,
    pub(crate) segments: Vec<String>,
}

/// Where something stands in a template, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("."))
    }
}
