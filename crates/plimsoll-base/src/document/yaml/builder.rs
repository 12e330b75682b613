//! The events of a YAML parser to a tree, without recursion: what is open stands in a list.

use super::super::allowance::{Counted, YAML_VALUES};
use super::super::problem::{MOST_PROBLEMS, Problem, Problems};
use super::super::tree::{Entry, Node, Position};
use super::super::twins::tell_twins;
use super::super::{MAX_DEPTH, MAX_WAY_BYTES, too_long_a_way};
use saphyr_parser::{Event, Marker, ScalarStyle, Span, Tag};
use std::borrow::Cow;

pub(super) fn position(marker: Marker) -> Position {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Position {
        source: 0,
        line: number(marker.line()),
        column: number(marker.col()).saturating_add(1),
    }
}

/// Whether the rest of the text can still be understood.
pub(super) enum Proceed {
    Continue,
    Stop,
}

/// A mapping or list whose end has not been seen.
enum Open {
    Sequence {
        at: Position,
        items: Vec<Node>,
    },
    Mapping {
        at: Position,
        entries: Vec<Entry>,
        key: Option<(String, Position)>,
    },
}

pub(super) struct Builder<'a> {
    file: &'a str,
    pub(super) problems: Problems,
    open: Vec<Open>,
    root: Option<Node>,
    /// Bytes of the text, and how many values there may still be.
    bytes: usize,
    left: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(file: &'a str, bytes: usize) -> Self {
        Self {
            file,
            bytes,
            left: YAML_VALUES.of(bytes),
            problems: Problems::default(),
            open: Vec::new(),
            root: None,
        }
    }

    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> Proceed {
        let at = position(span.start);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {
                Proceed::Continue
            }
            Event::DocumentStart(_) => self.start_document(at),
            Event::Alias(_) => {
                self.refuse(
                    at,
                    "aliases (`*name`) are not supported: write the value out",
                );
                self.place(Node::null(at))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_decorations(at, anchor, tag.as_ref());
                self.scalar(text, style, at)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_decorations(at, anchor, tag.as_ref());
                self.enter(
                    Open::Sequence {
                        at,
                        // Room for four, cut to one, would leave holes that lists within each other cannot use.
                        items: Vec::with_capacity(1),
                    },
                    at,
                )
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_decorations(at, anchor, tag.as_ref());
                self.enter(
                    Open::Mapping {
                        at,
                        entries: Vec::new(),
                        key: None,
                    },
                    at,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(),
        }
    }

    fn start_document(&mut self, at: Position) -> Proceed {
        if self.root.is_none() {
            return Proceed::Continue;
        }
        self.refuse(
            at,
            "a second document begins here: keep one document per file",
        );
        Proceed::Stop
    }

    fn refuse_decorations(&mut self, at: Position, anchor: usize, tag: Option<&Cow<'_, Tag>>) {
        let decorations = usize::from(anchor > 0) + usize::from(tag.is_some());
        // The parser has work with each, as it has with a value.
        self.left = self.left.saturating_sub(decorations);
        if self.problems.len() >= MOST_PROBLEMS {
            self.problems.count_further(decorations);
            return;
        }
        if anchor > 0 {
            self.refuse(
                at,
                "anchors (`&name`) are not supported: write the value out where it is needed",
            );
        }
        if let Some(tag) = tag {
            let message = format!("tags are not supported: remove `!{}`", tag.suffix);
            self.refuse(at, message);
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, at: Position) -> Proceed {
        let way = self.way_bytes();
        if let Some(Open::Mapping {
            key: key @ None, ..
        }) = self.open.last_mut()
        {
            if way + text.len() > MAX_WAY_BYTES {
                self.refuse(at, too_long_a_way());
                return Proceed::Stop;
            }
            *key = Some((text.into_owned(), at));
            return Proceed::Continue;
        }
        if !self.has_room() {
            return self.refuse_more(at);
        }
        self.place(match style {
            ScalarStyle::Plain => plain(&text, at),
            _ => Node::text(at, &text),
        })
    }

    /// Counts one more value, if there may be one.
    fn has_room(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    fn refuse_more(&mut self, at: Position) -> Proceed {
        self.refuse(at, YAML_VALUES.exceeded(Counted::Values.name(), self.bytes));
        Proceed::Stop
    }

    /// Bytes of the keys on the way to what comes next.
    fn way_bytes(&self) -> usize {
        let keys = self.open.iter().map(|open| match open {
            Open::Mapping {
                key: Some((key, _)),
                ..
            } => key.len(),
            _ => 0,
        });
        keys.sum()
    }

    fn enter(&mut self, open: Open, at: Position) -> Proceed {
        if let Some(Open::Mapping { key: None, .. }) = self.open.last() {
            self.refuse(
                at,
                "a key must be text, not a mapping or a list: write `key: value`",
            );
            return Proceed::Stop;
        }
        if self.open.len() >= MAX_DEPTH {
            self.refuse(at, format!("nested deeper than {MAX_DEPTH} levels"));
            return Proceed::Stop;
        }
        if !self.has_room() {
            return self.refuse_more(at);
        }
        self.open.push(open);
        Proceed::Continue
    }

    fn leave(&mut self) -> Proceed {
        let node = match self.open.pop() {
            Some(Open::Sequence { at, items }) => Node::sequence(at, items),
            Some(Open::Mapping { at, entries, .. }) => {
                self.refuse_twins(&entries);
                Node::mapping(at, entries)
            }
            None => return Proceed::Stop,
        };
        self.place(node)
    }

    /// Puts a finished node where it belongs: into the innermost open mapping or list, else at the root.
    fn place(&mut self, node: Node) -> Proceed {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => match key.take() {
                Some((key, key_at)) => entries.push(Entry::new(&key, key_at, node)),
                // An alias as a key; refused already.
                None => return Proceed::Stop,
            },
        }
        Proceed::Continue
    }

    fn refuse_twins(&mut self, entries: &[Entry]) {
        let further = tell_twins(entries, |at, message| self.refuse(at, message));
        self.problems.count_further(further);
    }

    pub(super) fn refuse(&mut self, at: Position, message: impl Into<String>) {
        self.problems.extend([Problem {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            path: String::new(),
            message: message.into(),
        }]);
    }

    pub(super) fn finish(mut self) -> Result<Node, Problems> {
        // Where the text was given up.
        for open in std::mem::take(&mut self.open) {
            if let Open::Mapping { entries, .. } = open {
                self.refuse_twins(&entries);
            }
        }
        match self.root.take() {
            Some(root) if self.problems.is_empty() => Ok(root),
            Some(_) => Err(self.problems),
            None => {
                if self.problems.is_empty() {
                    let empty = Problem::of_file(self.file, "the file is empty");
                    self.problems.extend([empty]);
                }
                Err(self.problems)
            }
        }
    }
}

/// Meaning of a plain scalar under YAML 1.2's JSON schema (<https://yaml.org/spec/1.2.2/#102-json-schema>), with `~` and
/// nothing as null too. Whatever is none of these is text, so that `yes`, `0x10` and `007` are never silently converted.
fn plain(text: &str, at: Position) -> Node {
    match text {
        "" | "~" | "null" => Node::null(at),
        "true" => Node::boolean(at, true),
        "false" => Node::boolean(at, false),
        text => number(text, at).unwrap_or_else(|| Node::text(at, text)),
    }
}

fn number(text: &str, at: Position) -> Option<Node> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero =
        digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit());
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || leading_zero {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if let Ok(whole) = text.parse() {
            return Some(Node::integer_of(at, whole));
        }
        if let Ok(below_zero) = text.parse() {
            return Some(Node::negative(at, below_zero));
        }
    }
    let float: f64 = text.parse().ok()?;
    float.is_finite().then(|| Node::float(at, float))
}
