//! Evaluates a compiled template for one request, and says what a helper is that it calls.
//!
//! Compiled templates are `render/program.rs`, the look-up of names is `render/scope.rs`. Which helpers there are is left to `helper`.

pub(super) mod program;
pub(super) mod scope;

use super::RenderError;
use super::model::Model;
use super::value::Value;
use crate::budget::{Budget, TooCostly};
use crate::document::json::path::JsonPath;
use crate::document::xml::path::XPath;
use crate::java::regex::JavaRegex;
use program::{Block, BlockHead, Call, Expression, ProgramPiece};
use scope::{Scope, Scopes, Turn};
use std::borrow::Cow;

/// Bytes that one rendering may produce, in all its parts and in what helpers give, and for each byte of the request's body.
const MOST_BYTES: usize = 4 << 20;
const MOST_BYTES_A_BYTE: usize = 3;
/// Parts, values and turns that one rendering may go through, and for each byte of the request's body.
const MOST_STEPS: usize = 200_000;
const MOST_STEPS_A_BYTE: usize = 1;
/// Bytes of a list that one item stands for.
const BYTES_OF_AN_ITEM: usize = 64;

/// A rendering under way.
#[derive(Debug)]
pub struct Renderer<'a> {
    pub scopes: Scopes<'a>,
    bytes: Budget,
    steps: Budget,
}

/// A helper.
#[derive(Debug)]
pub struct Helper {
    pub(super) name: &'static str,
    call: for<'r, 'a> fn(Invocation<'r, 'a>) -> Outcome<'a>,
    pub(super) prepare: Prepare,
}

/// Result of a helper.
pub(super) type Outcome<'a> = Result<Value<'a>, Failure>;

/// Which argument is made ready before the first request, if it is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prepare {
    Nothing,
    /// The second is a JSONPath.
    JsonPath,
    /// The second is a regular expression for a whole text.
    Regex,
    /// The second is one to search with.
    Search,
    /// The second is an XPath.
    XPath,
    /// The second is an XPath within the body of an envelope.
    SoapXPath,
}

/// A value made ready.
#[derive(Debug, Clone)]
pub enum Prepared {
    Nothing,
    JsonPath(Box<JsonPath>),
    Regex(Box<JavaRegex>),
    XPath(Box<XPath>),
}

/// Why a helper gives nothing.
#[derive(Debug)]
pub enum Failure {
    /// A message of its own, whose place is that of the call.
    Own(String),
    /// A failure in its block, which has a place.
    Inner(RenderError),
}

/// A call of a helper: its evaluated arguments.
#[derive(Debug)]
pub struct Invocation<'r, 'a> {
    pub arguments: Vec<Value<'a>>,
    pub options: Vec<(&'a str, Value<'a>)>,
    pub prepared: &'a Prepared,
    pub block: Option<&'a Block>,
    pub renderer: &'r mut Renderer<'a>,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(model: &'a Model<'a>) -> Self {
        let body = model.request.body.bytes().len();
        Self {
            scopes: Scopes::new(model),
            bytes: Budget::of(MOST_BYTES + MOST_BYTES_A_BYTE * body),
            steps: Budget::of(MOST_STEPS + MOST_STEPS_A_BYTE * body),
        }
    }

    /// The text of parts.
    pub fn render(&mut self, parts: &'a [ProgramPiece]) -> Result<String, RenderError> {
        let mut out = String::new();
        for part in parts {
            let before = out.len();
            match part {
                ProgramPiece::Text(text) => out.push_str(text),
                ProgramPiece::Output(expression) => out.push_str(&self.value(expression)?.print()),
                ProgramPiece::Block(block) => out.push_str(&self.block(block)?),
            }
            self.step(1).map_err(at_start)?;
            self.make(out.len() - before).map_err(at_start)?;
        }
        Ok(out)
    }

    /// Takes steps; why there are not so many.
    pub fn step(&self, steps: usize) -> Result<(), String> {
        let spent = self.steps.spend(steps);
        spent.map_err(|_| format!("the template takes more than {MOST_STEPS} steps and {MOST_STEPS_A_BYTE} for each byte of the body"))
    }

    /// Takes bytes that are about to be made, or were; why there are not so many.
    pub fn make(&self, bytes: usize) -> Result<(), String> {
        let spent = self.bytes.spend(bytes);
        spent.map_err(|_| format!("the template makes more than {MOST_BYTES} bytes and {MOST_BYTES_A_BYTE} for each byte of the body"))
    }

    /// The text of a body with a scope of its own.
    pub fn render_in(
        &mut self,
        scope: Scope<'a>,
        parts: &'a [ProgramPiece],
    ) -> Result<String, RenderError> {
        self.scopes.enter(scope);
        let rendered = self.render(parts);
        self.scopes.leave();
        rendered
    }

    /// The body for each of some items.
    pub fn render_each(
        &mut self,
        items: Vec<(Option<Cow<'a, str>>, Value<'a>)>,
        block: &'a Block,
        mut each: impl FnMut(String),
    ) -> Result<(), RenderError> {
        let count = items.len();
        for (index, (key, item)) in items.into_iter().enumerate() {
            let position = match &key {
                Some(key) => Value::Text(key.clone()),
                None => i64::try_from(index).map_or(Value::Nothing, Value::Integer),
            };
            let values = [item.clone(), position];
            let scope = Scope {
                this: item,
                names: block.names.iter().map(String::as_str).zip(values).collect(),
                turn: Some(Turn {
                    index,
                    key,
                    is_last: index + 1 == count,
                }),
            };
            self.step(1).map_err(at_start)?;
            each(self.render_in(scope, &block.body)?);
        }
        Ok(())
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &'a Expression) -> Result<Value<'a>, RenderError> {
        Ok(match expression {
            Expression::Text(text) => Value::Text(Cow::Borrowed(text)),
            Expression::Integer(number) => Value::Integer(*number),
            Expression::Decimal(number) => Value::Decimal(*number),
            Expression::Bool(value) => Value::Bool(*value),
            Expression::Nothing => Value::Nothing,
            Expression::Path(path) => {
                let value = self.scopes.resolve(path);
                // What was assigned is copied each time.
                self.step(1 + self.scopes.copied()).map_err(at_start)?;
                value
            }
            Expression::Call(call) => self.call(call, None)?,
        })
    }

    fn block(&mut self, block: &'a Block) -> Result<String, RenderError> {
        match &block.head {
            BlockHead::Helper(call) => Ok(self.call(call, Some(block))?.print().into_owned()),
            BlockHead::Section(expression) => {
                let value = self.value(expression)?;
                self.section(value, block)
            }
        }
    }

    /// A list gives the body for each item, anything else that says yes the body once.
    fn section(&mut self, value: Value<'a>, block: &'a Block) -> Result<String, RenderError> {
        if !value.is_truthy() {
            return self.render(&block.otherwise);
        }
        if let Some(items) = value.items() {
            let items = items.into_iter().map(|item| (None, item)).collect();
            let mut out = String::new();
            self.render_each(items, block, |text| out.push_str(&text))?;
            return Ok(out);
        }
        let scope = Scope {
            this: value,
            names: Vec::new(),
            turn: None,
        };
        self.render_in(scope, &block.body)
    }

    fn call(&mut self, call: &'a Call, block: Option<&'a Block>) -> Result<Value<'a>, RenderError> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.value(argument)?);
        }
        let mut options = Vec::with_capacity(call.options.len());
        for (name, option) in &call.options {
            options.push((name.as_str(), self.value(option)?));
        }
        self.step(1).map_err(at_start)?;
        let invocation = Invocation {
            arguments,
            options,
            prepared: &call.prepared,
            block,
            renderer: self,
        };
        let failed = |failure| match failure {
            Failure::Inner(error) => error,
            Failure::Own(message) => RenderError {
                line: call.place.line,
                column: call.place.column,
                message: format!("{}: {message}", call.helper.name()),
            },
        };
        let value = call.helper.call(invocation).map_err(failed)?;
        let made = self.make(bytes_of(&value));
        made.map_err(|message| failed(Failure::Own(message)))?;
        Ok(value)
    }
}

impl Helper {
    pub(super) const fn new(
        name: &'static str,
        call: for<'r, 'a> fn(Invocation<'r, 'a>) -> Outcome<'a>,
    ) -> Self {
        Self {
            name,
            call,
            prepare: Prepare::Nothing,
        }
    }

    pub(super) const fn preparing(self, prepare: Prepare) -> Self {
        Self { prepare, ..self }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn call<'a>(&self, invocation: Invocation<'_, 'a>) -> Outcome<'a> {
        (self.call)(invocation)
    }
}

impl<'a> Invocation<'_, 'a> {
    /// An argument by its position; nothing if it is not given.
    pub(super) fn argument(&self, index: usize) -> Value<'a> {
        self.arguments.get(index).cloned().unwrap_or(Value::Nothing)
    }

    /// An argument that must be there, as text.
    pub(super) fn text(&self, index: usize, what: &str) -> Result<String, Failure> {
        match self.arguments.get(index) {
            None | Some(Value::Nothing) => Err(Failure::Own(format!("{what} is missing"))),
            Some(value) => Ok(value.print().into_owned()),
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&Value<'a>> {
        let option = self.options.iter().find(|(own, _)| *own == name);
        option
            .map(|(_, value)| value)
            .filter(|value| !value.is_nothing())
    }

    /// The block's body, or what the first argument prints: for helpers that change a text.
    pub(super) fn subject(&mut self) -> Result<Value<'a>, Failure> {
        match self.block {
            Some(block) if self.arguments.is_empty() => {
                let scope = self.here();
                Ok(Value::text(self.body(block, scope)?))
            }
            _ => Ok(self.argument(0)),
        }
    }

    /// A scope about the same as the one around.
    pub(super) fn here(&self) -> Scope<'a> {
        Scope {
            this: self.renderer.scopes.this(),
            names: Vec::new(),
            turn: None,
        }
    }

    pub(super) fn body(&mut self, block: &'a Block, scope: Scope<'a>) -> Result<String, Failure> {
        Ok(self.renderer.render_in(scope, &block.body)?)
    }

    /// As a block: the body or what comes after `else`. As a value: the truth.
    pub(super) fn decide(self, says: bool) -> Outcome<'a> {
        let Some(block) = self.block else {
            return Ok(Value::Bool(says));
        };
        let parts = if says { &block.body } else { &block.otherwise };
        Ok(Value::text(self.renderer.render(parts)?))
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        Self::Inner(error)
    }
}

impl From<TooCostly> for Failure {
    fn from(error: TooCostly) -> Self {
        Self::Own(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Own(message)
    }
}

/// Approximate bytes of a helper's result.
fn bytes_of(value: &Value<'_>) -> usize {
    match value {
        Value::Text(Cow::Owned(text)) => text.len(),
        Value::List(items) => items.len() * BYTES_OF_AN_ITEM,
        Value::Map(entries) => entries.len() * BYTES_OF_AN_ITEM,
        _ => 0,
    }
}

/// A limit has no place in the template.
fn at_start(message: String) -> RenderError {
    RenderError {
        line: 1,
        column: 1,
        message,
    }
}
