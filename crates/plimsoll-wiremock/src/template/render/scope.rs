//! Where a name in a template is looked for: the scopes from the innermost out, then what helpers have assigned.

use super::program::Path;
use crate::template::model::Model;
use crate::template::value::{ModelPart, Value};
use std::borrow::Cow;
use std::cell::Cell;

/// The body of a block: what it is about.
#[derive(Debug, Clone)]
pub struct Scope<'a> {
    pub this: Value<'a>,
    /// Names that the block gives: `as |item index|`.
    pub names: Vec<(&'a str, Value<'a>)>,
    pub turn: Option<Turn<'a>>,
}

/// One turn of a loop.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    pub index: usize,
    /// The name of a map's entry.
    pub key: Option<Cow<'a, str>>,
    pub is_last: bool,
}

/// All that a name may mean.
#[derive(Debug)]
pub struct Scopes<'a> {
    model: &'a Model<'a>,
    /// Outermost first; never empty.
    scopes: Vec<Scope<'a>>,
    /// Variables assigned by helpers; the last of a name counts.
    assigned: Vec<(String, Value<'a>)>,
    /// How much was copied of values since somebody asked, in steps.
    copied: Cell<usize>,
}

impl<'a> Scopes<'a> {
    pub fn new(model: &'a Model<'a>) -> Self {
        Self {
            model,
            scopes: vec![Scope {
                this: Value::Model(ModelPart::Root),
                names: Vec::new(),
                turn: None,
            }],
            assigned: Vec::new(),
            copied: Cell::new(0),
        }
    }

    pub fn model(&self) -> &'a Model<'a> {
        self.model
    }

    pub fn enter(&mut self, scope: Scope<'a>) {
        self.scopes.push(scope);
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Subject of the innermost scope.
    pub fn this(&self) -> Value<'a> {
        self.scopes
            .last()
            .map_or(Value::Nothing, |scope| scope.this.clone())
    }

    /// Gives a name a value from here on.
    pub fn assign(&mut self, name: &str, value: Value<'a>) {
        match self.assigned.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => self.assigned.push((name.to_owned(), value)),
        }
    }

    /// Steps that copying values has taken since this was last asked.
    pub fn copied(&self) -> usize {
        self.copied.take()
    }

    fn copy(&self, value: &Value<'a>) -> Value<'a> {
        self.copied.set(self.copied.get() + value.cost_of_copy());
        value.clone()
    }

    /// Value at a path.
    pub fn resolve(&self, path: &Path) -> Value<'a> {
        self.model.whole(self.find(path))
    }

    fn find(&self, path: &Path) -> Value<'a> {
        let visible = self.scopes.len().saturating_sub(path.outwards);
        let Some(scopes) = self
            .scopes
            .get(..visible)
            .filter(|scopes| !scopes.is_empty())
        else {
            return Value::Nothing;
        };
        if path.is_data {
            return self.datum(scopes, path);
        }
        let innermost = &scopes[scopes.len() - 1];
        let (start, rest) = match path.segments.split_first() {
            None => return self.copy(&innermost.this),
            Some(_) if path.is_this => (Some(self.copy(&innermost.this)), &*path.segments),
            Some((first, rest)) => (self.name(scopes, first), rest),
        };
        self.follow(start, rest)
    }

    fn follow(&self, start: Option<Value<'a>>, segments: &[String]) -> Value<'a> {
        let Some(start) = start else {
            return Value::Nothing;
        };
        segments
            .iter()
            .try_fold(start, |value, name| self.model.member(&value, name))
            .unwrap_or(Value::Nothing)
    }

    fn name(&self, scopes: &[Scope<'a>], name: &str) -> Option<Value<'a>> {
        let of_scope = |scope: &Scope<'a>| {
            let named = scope.names.iter().find(|(own, _)| *own == name);
            named
                .map(|(_, value)| self.copy(value))
                .or_else(|| self.model.member(&scope.this, name))
        };
        let assigned = || {
            let assigned = self.assigned.iter().find(|(own, _)| own == name);
            assigned.map(|(_, value)| self.copy(value))
        };
        scopes.iter().rev().find_map(of_scope).or_else(assigned)
    }

    /// `@index`, `@key`, `@first`, `@last` of the nearest loop, `@root`.
    fn datum(&self, scopes: &[Scope<'a>], path: &Path) -> Value<'a> {
        let Some((name, rest)) = path.segments.split_first() else {
            return Value::Nothing;
        };
        if name == "root" {
            return self.follow(Some(Value::Model(ModelPart::Root)), rest);
        }
        let Some(turn) = scopes.iter().rev().find_map(|scope| scope.turn.as_ref()) else {
            return Value::Nothing;
        };
        let word = |says: bool, word: &'static str| {
            Value::Text(Cow::Borrowed(if says { word } else { "" }))
        };
        let index = || i64::try_from(turn.index).map_or(Value::Nothing, Value::Integer);
        match name.as_str() {
            "index" => index(),
            "key" => turn.key.clone().map_or_else(index, Value::Text),
            "first" => word(turn.index == 0, "first"),
            "last" => word(turn.is_last, "last"),
            _ => Value::Nothing,
        }
    }
}
