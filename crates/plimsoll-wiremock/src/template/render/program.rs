//! A compiled template: its text as parts, and the expressions between its braces.

use super::{Helper, Prepared};
use std::fmt;

/// A piece of a template.
#[derive(Debug, Clone)]
pub enum ProgramPiece {
    Text(String),
    Output(Expression),
    Block(Box<Block>),
}

/// `{{#…}}…{{else}}…{{/…}}`.
#[derive(Debug, Clone)]
pub struct Block {
    pub head: BlockHead,
    /// `as |item index|`.
    pub names: Vec<String>,
    pub body: Vec<ProgramPiece>,
    pub otherwise: Vec<ProgramPiece>,
}

/// Head of a block.
#[derive(Debug, Clone)]
pub enum BlockHead {
    /// A helper that decides about the body.
    Helper(Call),
    /// A value: the body for each of a list, or with it, if it says yes.
    Section(Expression),
}

/// Something that has a value.
#[derive(Debug, Clone)]
pub enum Expression {
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
pub struct Call {
    pub helper: &'static Helper,
    pub arguments: Vec<Expression>,
    /// `name=value`.
    pub options: Vec<(String, Expression)>,
    /// Values made ready before the first request.
    pub prepared: Prepared,
    pub place: TemplatePlace,
}

/// `../a.b.[c]`, `@index`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// How many scopes out.
    pub outwards: usize,
    /// `@`: a datum of the loop, or `@root`.
    pub is_data: bool,
    /// `this`, or `.`: starts at the value of the scope, whatever it has.
    pub is_this: bool,
    pub segments: Vec<String>,
}

/// Where something stands in a template, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TemplatePlace {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("."))
    }
}
