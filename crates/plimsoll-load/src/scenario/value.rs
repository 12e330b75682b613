//! Values compiled: pieces with numbered places, rendered to the end of a buffer without allocation.

mod function;

use super::feeder::Feeder;
use super::memory::Memory;
use crate::plan::{Expression, Piece, Text};
use function::{Arguments, Function};
use plimsoll_base::document::suggestion;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A value, as its pieces.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Itself.
    Literal(Vec<u8>),
    /// A column of the row that a feeder dealt.
    Column { feeder: usize, column: usize },
    /// Something extracted.
    Slot(usize),
    /// Something that there always is.
    Given(Given),
    /// One after the other.
    Join(Vec<Value>),
    /// The result of a function.
    Call(Box<Function>),
}

/// Values that there always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// The virtual user's number, from 1.
    User,
    /// The user's iteration, from 1.
    Iteration,
    /// The iteration's number among all, from 1.
    Number,
    /// The request's target.
    Target,
    /// The request's body.
    Body,
}

/// Where in a request a value stands, which decides what it may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValuePlace<'a> {
    /// In a header field of a request of this method, when target and body are known.
    Field(&'a str),
    /// Anywhere else.
    Elsewhere,
}

/// Meanings of names, and the numbers given out so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    constants: HashMap<String, String>,
    columns: HashMap<String, (usize, usize)>,
    slots: HashMap<String, usize>,
    counters: HashMap<String, usize>,
    /// Names that are extracted somewhere, if not before.
    later: HashSet<String>,
    shared_counters: HashMap<String, Arc<AtomicU64>>,
    /// The feeders that were referred to since this was last taken.
    feeders: BTreeSet<usize>,
}

/// The name of the request's method.
const METHOD: &str = "method";

const GIVEN: [(&str, Given); 5] = [
    ("user", Given::User),
    ("iteration", Given::Iteration),
    ("number", Given::Number),
    ("path", Given::Target),
    ("body", Given::Body),
];

/// Whether there always is a value of this name.
pub(super) fn is_given(name: &str) -> bool {
    name == METHOD || GIVEN.iter().any(|(given, _)| *given == name)
}

impl Names {
    /// The names that hold in every step.
    pub(super) fn new(
        constants: &[(String, String)],
        feeders: &[Feeder],
        later: HashSet<String>,
    ) -> Self {
        let columns = feeders.iter().enumerate().flat_map(|(place, feeder)| {
            let columns = feeder.columns().iter().enumerate();
            columns.map(move |(column, name)| (name.clone(), (place, column)))
        });
        Self {
            columns: columns.collect(),
            constants: constants.iter().cloned().collect(),
            later,
            ..Self::default()
        }
    }

    /// The slot for what is extracted under this name.
    pub(super) fn slot(&mut self, name: &str) -> usize {
        let next = self.slots.len();
        *self.slots.entry(name.to_owned()).or_insert(next)
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many counters of their own users have.
    pub(super) fn counters(&self) -> usize {
        self.counters.len()
    }

    /// The place of a counter that every user has for itself.
    pub(super) fn counter(&mut self, name: &str) -> usize {
        let next = self.counters.len();
        *self.counters.entry(name.to_owned()).or_insert(next)
    }

    /// A counter that all users have in common.
    pub(super) fn shared_counter(&mut self, name: &str) -> Arc<AtomicU64> {
        Arc::clone(self.shared_counters.entry(name.to_owned()).or_default())
    }

    /// The feeders that were referred to since the last call.
    pub(super) fn take_feeders(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.feeders)
    }

    /// Compiles a text.
    ///
    /// # Errors
    /// The problem, in words.
    pub(super) fn text(&mut self, text: &Text, place: ValuePlace<'_>) -> Result<Value, String> {
        let pieces = text.0.iter().map(|piece| match piece {
            Piece::Literal(text) => Ok(Value::Literal(text.as_bytes().to_vec())),
            Piece::Bytes(bytes) => Ok(Value::Literal(bytes.clone())),
            Piece::Value(expression) => self.expression(expression, place),
        });
        Ok(Value::join(pieces.collect::<Result<_, _>>()?))
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// The problem, in words.
    pub(super) fn expression(
        &mut self,
        expression: &Expression,
        place: ValuePlace<'_>,
    ) -> Result<Value, String> {
        match expression {
            Expression::Text(text) => Ok(Value::Literal(text.as_bytes().to_vec())),
            Expression::Reference(nothing) => match *nothing {},
            Expression::Variable(name) => self.variable(name, place),
            Expression::Join(parts) => {
                let parts = parts.iter().map(|part| self.expression(part, place));
                Ok(Value::join(parts.collect::<Result<_, _>>()?))
            }
            Expression::Call {
                function,
                arguments,
            } => {
                let arguments = Arguments::new(function, arguments, self, place);
                let function = function::compile(arguments)?;
                Ok(Value::Call(Box::new(function)).folded())
            }
        }
    }

    fn variable(&mut self, name: &str, place: ValuePlace<'_>) -> Result<Value, String> {
        if let Some(slot) = self.slots.get(name) {
            return Ok(Value::Slot(*slot));
        }
        if let Some(&(feeder, column)) = self.columns.get(name) {
            self.feeders.insert(feeder);
            return Ok(Value::Column { feeder, column });
        }
        if let Some(constant) = self.constants.get(name) {
            return Ok(Value::Literal(constant.as_bytes().to_vec()));
        }
        if name == METHOD {
            return match place {
                ValuePlace::Field(method) => Ok(Value::Literal(method.as_bytes().to_vec())),
                ValuePlace::Elsewhere => Err(own_of_request(name)),
            };
        }
        let given = GIVEN.iter().find(|(given, _)| *given == name);
        match given.map(|(_, given)| *given) {
            Some(Given::Target | Given::Body) if place == ValuePlace::Elsewhere => {
                Err(own_of_request(name))
            }
            Some(given) => Ok(Value::Given(given)),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> String {
        if self.later.contains(name) {
            return format!("`{name}` is extracted only by a later step");
        }
        if function::exists(name) {
            return format!("`{name}` is a function: write `{name}()`");
        }
        let mut known: Vec<String> = self
            .slots
            .keys()
            .chain(self.columns.keys())
            .chain(self.constants.keys())
            .cloned()
            .chain(GIVEN.iter().map(|(name, _)| (*name).to_owned()))
            .chain([METHOD.to_owned()])
            .collect();
        known.sort_unstable();
        format!("there is no value `{name}`: {}", suggestion(name, &known))
    }
}

fn own_of_request(name: &str) -> String {
    format!("`{name}` is the request's own, and known only in its header fields")
}

impl Value {
    /// One value of several, as short as it gets.
    pub(super) fn join(values: Vec<Value>) -> Self {
        let mut joined: Vec<Value> = Vec::new();
        let flat = values.into_iter().flat_map(|value| match value {
            Self::Join(inner) => inner,
            other => vec![other],
        });
        for value in flat {
            match (joined.last_mut(), value) {
                (Some(Self::Literal(before)), Self::Literal(bytes)) => before.extend(bytes),
                (_, value) => joined.push(value),
            }
        }
        if joined.len() == 1 {
            joined.remove(0)
        } else if joined.is_empty() {
            Self::Literal(Vec::new())
        } else {
            Self::Join(joined)
        }
    }

    /// The bytes where they are always the same.
    pub(super) fn constant(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The value itself, or what it always is.
    fn folded(self) -> Self {
        let Self::Call(function) = &self else {
            return self;
        };
        if !function.is_constant() {
            return self;
        }
        let mut bytes = Vec::new();
        self.render(&[], &mut Memory::default(), &mut bytes);
        Self::Literal(bytes)
    }

    /// Appends the value.
    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        match self {
            Self::Literal(bytes) => out.extend_from_slice(bytes),
            Self::Column { feeder, column } => {
                let row = memory.rows[*feeder];
                out.extend_from_slice(feeders[*feeder].cell(row, *column));
            }
            Self::Slot(slot) => out.extend_from_slice(memory.slot(*slot)),
            Self::Given(given) => given.render(memory, out),
            Self::Join(parts) => {
                for part in parts {
                    part.render(feeders, memory, out);
                }
            }
            Self::Call(function) => function.render(feeders, memory, out),
        }
    }
}

impl Given {
    fn render(self, memory: &Memory, out: &mut Vec<u8>) {
        match self {
            Self::User => number(out, memory.iteration.user + 1),
            Self::Iteration => number(out, memory.iteration.count + 1),
            Self::Number => number(out, memory.iteration.number + 1),
            Self::Target => out.extend_from_slice(&memory.sending.target),
            Self::Body => out.extend_from_slice(&memory.sending.body),
        }
    }
}

/// Appends a whole number in decimal.
pub(super) fn number(out: &mut Vec<u8>, mut value: u64) {
    let start = out.len();
    loop {
        out.push(b'0' + u8::try_from(value % 10).expect("invariant: a digit"));
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out[start..].reverse();
}

#[cfg(test)]
mod tests {
    use super::super::iteration::Iteration;
    use super::super::memory::Sizes;
    use super::*;

    fn compile(text: &str) -> Result<Value, String> {
        let mut names = Names::new(
            &[("tenant".to_owned(), "acme".to_owned())],
            &[],
            HashSet::new(),
        );
        names.slot("token");
        let expression = Expression::parse(text, |name| Err(name.to_owned()))?;
        names.expression(&expression, ValuePlace::Field("PUT"))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = compile(text).map(|value| {
            let sizes = Sizes {
                slots: 1,
                counters: 2,
                ..Sizes::default()
            };
            let mut memory = Memory::new(7, sizes);
            let iteration = Iteration {
                user: 4,
                count: 1,
                number: 20,
            };
            memory.begin(iteration, &[]).unwrap();
            memory.set(0, b"t0k");
            memory.sending = super::super::memory::Sending {
                target: b"/a".to_vec(),
                body: b"{}".to_vec(),
            };
            let mut out = b">".to_vec();
            value.render(&[], &mut memory, &mut out);
            String::from_utf8(out).unwrap()
        });
        assert_eq!(shown.unwrap_or_else(|message| message), expected, "{text}");
    }

    #[test]
    fn values_render_after_what_is_there() {
        check("user", ">5");
        check("iteration", ">2");
        check("number", ">21");
        check("token", ">t0k");
        check("tenant", ">acme");
        check("'x'", ">x");
        check("join(tenant, '-', user)", ">acme-5");
        check("join(method, ' ', path, ' ', body)", ">PUT /a {}");
        check("base64(join(tenant, ':', token))", ">YWNtZTp0MGs=");
        check(r#"json('a"b\n\\')"#, r#">a\"b\u000a\\"#);
        check("urlencode('a b/ü~')", ">a%20b%2F%C3%BC~");
    }

    #[test]
    fn what_is_constant_is_a_literal() {
        let constant = |text: &str| compile(text).unwrap().constant().is_some();
        assert!(constant("base64(join(tenant, ':', 'x'))"));
        assert!(constant("hmac(sha256, 'k', tenant)"));
        assert!(!constant("base64(token)"));
        assert!(!constant("uuid()"));
    }

    #[test]
    fn unknown_names_are_refused_with_what_there_is() {
        check("tokn", "there is no value `tokn`: did you mean `token`?");
        check(
            "zzz",
            "there is no value `zzz`: write `body`, `iteration`, `method`, `number`, `path`, `tenant`, `token` or `user`",
        );
        check("uuid", "`uuid` is a function: write `uuid()`");
        check("uid()", "there is no function `uid`: did you mean `uuid`?");
    }

    #[test]
    fn the_request_is_known_in_its_fields_only() {
        let mut names = Names::default();
        let body = Expression::Variable("body".to_owned());
        let refused = names.expression(&body, ValuePlace::Elsewhere).unwrap_err();
        assert_eq!(
            refused,
            "`body` is the request's own, and known only in its header fields"
        );
    }
}
