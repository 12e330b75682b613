//! JSON text to a tree (RFC 8259, strictly): for formats whose files are JSON and nothing else.
//!
//! The words of a string and the value of a number are `serde_json`'s; structure and positions are found here.

use super::allowance::{Counted, JSON_VALUES};
use super::problem::{Problem, Problems};
use super::tree::{Entry, Node, Position};
use super::twins::tell_twins;
use super::{MAX_DEPTH, MAX_TEXT_BYTES, MAX_WAY_BYTES, too_long_a_way};

/// Parses one value; problems carry `file`.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, Problems> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!(
            "the file has {} bytes; at most {MAX_TEXT_BYTES} are read",
            text.len()
        );
        return Err(Problem::of_file(file, message).into());
    }
    read(file, text)?
}

/// Text that is short enough. The inner result is of text that is JSON as far as it is read, the outer one's problems are of other text.
pub(super) fn read(file: &str, text: &str) -> Result<Result<Node, Problems>, Problems> {
    let start = Position {
        source: 0,
        line: 1,
        column: 1,
    };
    let mut reader = Reader {
        file,
        text: text.strip_prefix('\u{feff}').unwrap_or(text),
        at: 0,
        known: (0, start),
        way: 0,
        left: JSON_VALUES.of(text.len()),
        problems: Problems::default(),
    };
    let root = reader.document();
    match root {
        Ok(root) => Ok(reader.problems.or_ok(root)),
        Err(Stop::Limit) => Ok(Err(reader.problems)),
        Err(Stop::Syntax) => Err(reader.problems),
    }
}

/// How many values a text has at the most, if it is JSON: each but the first follows a comma or opens something.
#[must_use]
pub fn values_in(bytes: &[u8]) -> usize {
    let (mut values, mut rest) = (1, bytes);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b',' | b'[' | b'{' => values += 1,
            b'"' => rest = after_string(rest),
            _ => {}
        }
    }
    values
}

/// The text behind a string that has begun.
fn after_string(mut bytes: &[u8]) -> &[u8] {
    while let Some(place) = bytes.iter().position(|byte| b"\"\\".contains(byte)) {
        if bytes[place] == b'"' {
            return &bytes[place + 1..];
        }
        bytes = bytes.get(place + 2..).unwrap_or_default();
    }
    &[]
}

/// Parsing cannot go on; the problem is noted.
enum Stop {
    /// It is not JSON.
    Syntax,
    /// It is beyond a limit.
    Limit,
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    at: usize,
    /// An offset whose position was asked for, and that position: counting goes on from there.
    known: (usize, Position),
    /// Bytes of the keys on the way to what is read.
    way: usize,
    /// How many values there may still be.
    left: usize,
    problems: Problems,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Stop> {
        let root = self.value(MAX_DEPTH)?;
        self.skip_space();
        if self.at < self.text.len() {
            return self.refuse("not JSON: the value has ended before this");
        }
        Ok(root)
    }

    fn value(&mut self, depth: usize) -> Result<Node, Stop> {
        self.skip_space();
        let Some(left) = self.left.checked_sub(1) else {
            return self
                .refuse_beyond(JSON_VALUES.exceeded(Counted::Values.name(), self.text.len()));
        };
        self.left = left;
        let at = self.position();
        match self.peek() {
            Some(b'{' | b'[') if depth == 0 => {
                let message = format!("nested deeper than {MAX_DEPTH} levels");
                self.refuse_beyond(message)
            }
            Some(b'{') => self.mapping(depth - 1, at),
            Some(b'[') => Ok(Node::sequence(at, self.items(depth - 1)?)),
            Some(b'"') => Ok(Node::text(at, &self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(at),
            Some(_) => self.word(at),
            None => self.refuse("not JSON: the text ends where a value is expected"),
        }
    }

    fn mapping(&mut self, depth: usize, at: Position) -> Result<Node, Stop> {
        let mut entries = Vec::new();
        let read = self.entries(depth, &mut entries);
        let further = tell_twins(&entries, |at, message| self.note(at, message));
        self.problems.count_further(further);
        read.map(|()| Node::mapping(at, entries))
    }

    fn entries(&mut self, depth: usize, entries: &mut Vec<Entry>) -> Result<(), Stop> {
        self.at += 1;
        self.skip_space();
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            self.skip_space();
            let key_at = self.position();
            if self.peek() != Some(b'"') {
                return self.refuse("not JSON: write a key in double quotes");
            }
            let key = self.string()?;
            self.way += key.len();
            if self.way > MAX_WAY_BYTES {
                self.note(key_at, too_long_a_way());
                return Err(Stop::Limit);
            }
            self.skip_space();
            if !self.takes(b':') {
                return self.refuse("not JSON: write `:` between a key and its value");
            }
            let node = self.value(depth)?;
            self.way -= key.len();
            entries.push(Entry::new(&key, key_at, node));
            if self.ends(b'}')? {
                return Ok(());
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Stop> {
        self.at += 1;
        self.skip_space();
        if self.takes(b']') {
            return Ok(Vec::new());
        }
        // Room for four, cut to one, would leave holes that lists within each other cannot use.
        let mut items = Vec::with_capacity(1);
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']')? {
                return Ok(items);
            }
        }
    }

    /// After an item: whether the collection ends here; otherwise a comma is taken.
    fn ends(&mut self, close: u8) -> Result<bool, Stop> {
        self.skip_space();
        if self.takes(close) {
            return Ok(true);
        }
        if !self.takes(b',') {
            let close = char::from(close);
            return self.refuse(&format!("not JSON: write `,` or `{close}` here"));
        }
        Ok(false)
    }

    fn string(&mut self) -> Result<String, Stop> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => {
                    let raw = &self.text[self.at..=end];
                    let Ok(text) = serde_json::from_str(raw) else {
                        let message =
                            "not JSON: this text holds a control character or a wrong escape";
                        return self.refuse(message);
                    };
                    self.at = end + 1;
                    return Ok(text);
                }
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.refuse("not JSON: this text has no closing quote")
    }

    fn number(&mut self, at: Position) -> Result<Node, Stop> {
        let rest = &self.text[self.at..];
        let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        let Ok(number) = serde_json::from_str::<serde_json::Number>(&rest[..length]) else {
            return self.refuse("not JSON: write a number such as `10` or `-0.5`");
        };
        self.at += length;
        Ok(match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(whole), _, _) => Node::integer_of(at, whole),
            (None, Some(below_zero), _) => Node::negative(at, below_zero),
            (None, None, float) => Node::float(at, float.unwrap_or_default()),
        })
    }

    fn word(&mut self, at: Position) -> Result<Node, Stop> {
        let words = [
            ("true", Node::boolean(at, true)),
            ("false", Node::boolean(at, false)),
            ("null", Node::null(at)),
        ];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.refuse("not JSON: a value is expected here, with text in double quotes")
    }

    fn skip_space(&mut self) {
        let rest = self.text[self.at..].bytes();
        self.at += rest
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
            .count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Where the reader is.
    fn position(&mut self) -> Position {
        let (from, mut position) = self.known;
        for character in self.text[from..self.at].chars() {
            if character == '\n' {
                position.line = position.line.saturating_add(1);
                position.column = 1;
            } else {
                position.column = position.column.saturating_add(1);
            }
        }
        self.known = (self.at, position);
        position
    }

    fn refuse<T>(&mut self, message: &str) -> Result<T, Stop> {
        let at = self.position();
        self.note(at, message.to_owned());
        Err(Stop::Syntax)
    }

    fn refuse_beyond<T>(&mut self, message: String) -> Result<T, Stop> {
        let at = self.position();
        self.note(at, message);
        Err(Stop::Limit)
    }

    fn note(&mut self, at: Position, message: String) {
        self.problems.extend([Problem {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            path: String::new(),
            message,
        }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn what_is_not_json_is_refused_at_its_place() {
        let check = |text: &str, expected: &str| {
            let problems = parse("f.json", text).unwrap_err().to_string();
            assert_eq!(problems, expected, "{text:?}");
        };
        check(
            "",
            "f.json:1:1: not JSON: the text ends where a value is expected",
        );
        check(
            "a: 1",
            "f.json:1:1: not JSON: a value is expected here, with text in double quotes",
        );
        check(
            "{\n  a: 1}",
            "f.json:2:3: not JSON: write a key in double quotes",
        );
        check(
            "{\"ä\" 1}",
            "f.json:1:6: not JSON: write `:` between a key and its value",
        );
        check("[1 2]", "f.json:1:4: not JSON: write `,` or `]` here");
        check(
            "[1,]",
            "f.json:1:4: not JSON: a value is expected here, with text in double quotes",
        );
        check(
            "[01]",
            "f.json:1:2: not JSON: write a number such as `10` or `-0.5`",
        );
        check(
            "[\"\\x\"]",
            "f.json:1:2: not JSON: this text holds a control character or a wrong escape",
        );
        check(
            "\"a\\\"",
            "f.json:1:1: not JSON: this text has no closing quote",
        );
        check(
            "{} {}",
            "f.json:1:4: not JSON: the value has ended before this",
        );
        check(
            "{\"a\": 1,\n\t\"a\": 2}",
            "f.json:2:2: the key `a` is written twice (before on line 1): keep one",
        );
        let deep = "[".repeat(MAX_DEPTH + 1);
        check(&deep, "f.json:1:65: nested deeper than 64 levels");
        let long = "k".repeat(MAX_WAY_BYTES);
        check(
            &format!("{{\"{long}\": 1,\n\"a\": {{\"{long}\": 1}}}}"),
            "f.json:2:7: the keys down to this one have more than 8192 bytes together: write shorter ones",
        );
    }

    #[test]
    fn values_are_counted() {
        let list = |item: &str, count: usize| format!("[{}0]", item.repeat(count));
        assert!(parse("f.json", &list("0,", 90_000)).is_ok());
        assert!(parse("f.json", &list("10000,", 1_000_000)).is_ok());
        let problems = parse("f.json", &list("0,\n", 300_000)).unwrap_err();
        assert_eq!(
            problems.to_string(),
            "f.json:214000:1: more than 214000 values in 900003 bytes: leave out what is not needed, or write several files"
        );
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_read_as_it_was_written(value in json(), pretty in any::<bool>()) {
            let text = if pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let node = parse("f.json", &text).map_err(|problems| problems.to_string());
            let written = node.as_ref().map(|node| serde_json::to_value(node).unwrap());
            prop_assert_eq!(written, Ok(value.clone()));
            prop_assert_eq!(node.map(|node| node.to_json()), Ok(value));
        }

        #[test]
        fn any_text_is_json_here_if_it_is_elsewhere(text in "[\\[\\]{}\",: 0-9eE.+\\-\\\\ntrufalse]{0,24}") {
            let here = parse("f.json", &text);
            let elsewhere = serde_json::from_str::<Value>(&text);
            let twice = here.as_ref().err().is_some_and(|p| p.to_string().contains("twice"));
            prop_assert!(here.is_ok() == elsewhere.is_ok() || twice, "{:?}", text);
        }
    }
}
