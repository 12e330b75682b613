//! Reads a JSON document into an arena, and counts its values meanwhile.
//!
//! A document is one by RFC 8259, and as deep as serde_json permits; tests hold the reader against that.

use super::number::Number;
use super::{FEW, Json, Member, mark};
use crate::budget::TooCostly;
use bumpalo::Bump;
use plimsoll_base::words;
use std::collections::HashMap;

/// How many arrays and objects may stand in each other.
const DEPTH: usize = 127;

/// So many digits always have room in 64 bits.
const SURE_DIGITS: usize = 19;

/// The document that a text begins with, if it begins with one that is not a number or a word, whose end depends on what follows.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    arena: &'a Bump,
    left: usize,
) -> Result<Option<Json<'a>>, TooCostly> {
    // What is not UTF-8 does not matter behind the document, and makes it none before its end.
    let text = std::str::from_utf8(bytes).unwrap_or_else(|_| {
        let first = bytes.utf8_chunks().next();
        first.map_or("", |chunk| chunk.valid())
    });
    let mut reader = Reader {
        text,
        rest: text.as_bytes(),
        depth: 0,
        left,
        arena,
        items: Vec::with_capacity(32),
        members: Vec::with_capacity(32),
        unescaped: String::new(),
    };
    let value = reader.value();
    if reader.left == 0 {
        return Err(TooCostly::Parts);
    }
    Ok(value)
}

/// A text that is being read. `None` from any of its methods: the text is not JSON, or has too many values.
struct Reader<'a> {
    text: &'a str,
    /// The part that has not been read.
    rest: &'a [u8],
    /// Arrays and objects that have begun.
    depth: usize,
    /// How many values there may still be. None is left where there were too many.
    left: usize,
    arena: &'a Bump,
    /// Parts of what has begun; each takes its own at its end, when it is known how many they are.
    items: Vec<Json<'a>>,
    members: Vec<Member<'a>>,
    /// Room for a text with escapes.
    unescaped: String,
}

impl<'a> Reader<'a> {
    /// How many bytes have been read.
    fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let [first, rest @ ..] = self.rest {
            // Nearly every byte is beyond all of them.
            if *first > b' ' || !matches!(first, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(*first);
            }
            self.rest = rest;
        }
        None
    }

    /// Goes beyond this byte, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        if self.peek() != Some(byte) {
            return false;
        }
        self.rest = &self.rest[1..];
        true
    }

    fn value(&mut self) -> Option<Json<'a>> {
        match self.peek()? {
            b'"' => self.string().map(Json::String),
            b'{' => self.object(),
            b'[' => self.array(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        self.rest = self.rest.strip_prefix(word.as_bytes())?;
        Some(value)
    }

    /// A number that begins here.
    fn number(&mut self) -> Option<Json<'a>> {
        let start = self.at();
        let unsigned = self.rest.strip_prefix(b"-").unwrap_or(self.rest);
        let is_negative = unsigned.len() < self.rest.len();
        let (whole, mut behind) = digits(unsigned)?;
        let mut is_whole = true;
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        if let [b'.', rest @ ..] = behind {
            (_, behind) = digits(rest)?;
            is_whole = false;
        }
        if let [b'e' | b'E', rest @ ..] = behind {
            let sign = usize::from(matches!(rest, [b'+' | b'-', ..]));
            (_, behind) = digits(&rest[sign..])?;
            is_whole = false;
        }
        self.rest = behind;
        if is_whole && !is_negative && whole.len() <= SURE_DIGITS {
            let sum = |sum: u64, digit: &u8| 10 * sum + u64::from(digit - b'0');
            let number = Number::Natural(whole.iter().fold(0, sum));
            return Some(Json::Number(number));
        }
        let text = self.text.get(start..self.at())?;
        if is_whole && let Ok(number) = text.parse() {
            return Some(Json::Number(Number::Natural(number)));
        }
        // A zero with a sign is a double.
        if is_whole && let Ok(number @ ..0) = text.parse() {
            return Some(Json::Number(Number::Negative(number)));
        }
        Number::double(text.parse().ok()?).map(Json::Number)
    }

    /// A string that begins here.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at() + 1;
        let inner = &self.rest[1..];
        let length = plain(inner);
        match inner[length..] {
            [b'"', ref rest @ ..] => {
                self.rest = rest;
                self.text.get(start..start + length)
            }
            [b'\\', ..] => self.escaped(),
            _ => None,
        }
    }

    /// A string that begins here and has escapes (RFC 8259, section 7).
    fn escaped(&mut self) -> Option<&'a str> {
        self.unescaped.clear();
        self.rest = &self.rest[1..];
        loop {
            let start = self.at();
            let length = plain(self.rest);
            let text = self.text.get(start..start + length)?;
            self.unescaped.push_str(text);
            match self.rest[length..] {
                [b'"', ref rest @ ..] => {
                    self.rest = rest;
                    break;
                }
                [b'\\', letter, ref rest @ ..] => {
                    self.rest = rest;
                    let char = self.escape(letter)?;
                    self.unescaped.push(char);
                }
                _ => return None,
            }
        }
        Some(self.arena.alloc_str(&self.unescaped))
    }

    /// The character that an escape of this letter stands for.
    fn escape(&mut self, letter: u8) -> Option<char> {
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.utf16_unit()?;
                if let Some(char) = char::from_u32(unit.into()) {
                    return Some(char);
                }
                self.rest = self.rest.strip_prefix(b"\\u")?;
                let pair = [unit, self.utf16_unit()?];
                char::decode_utf16(pair).next()?.ok()?
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn utf16_unit(&mut self) -> Option<u16> {
        let (digits, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        digits.iter().try_fold(0, |unit, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            Some(16 * unit + u16::try_from(digit).ok()?)
        })
    }

    fn array(&mut self) -> Option<Json<'a>> {
        self.begin()?;
        let start = self.items.len();
        if !self.takes(b']') {
            loop {
                let item = self.value()?;
                self.count()?;
                self.items.push(item);
                if !self.takes(b',') {
                    break;
                }
            }
            self.expect(b']')?;
        }
        self.depth -= 1;
        let items = self.arena.alloc_slice_copy(&self.items[start..]);
        self.items.truncate(start);
        Some(Json::Array(items))
    }

    fn object(&mut self) -> Option<Json<'a>> {
        self.begin()?;
        let start = self.members.len();
        let (mut marks, mut may_repeat) = (0, false);
        if !self.takes(b'}') {
            loop {
                let name = self.peek().filter(|byte| *byte == b'"');
                let name = name.and_then(|_| self.string())?;
                let mark = mark(name);
                may_repeat |= marks & mark != 0;
                marks |= mark;
                self.expect(b':')?;
                let value = self.value()?;
                self.count()?;
                self.members.push((name, value));
                if !self.takes(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.depth -= 1;
        if may_repeat {
            drop_repeated(&mut self.members, start);
        }
        let members = self.arena.alloc_slice_copy(&self.members[start..]);
        self.members.truncate(start);
        Some(Json::object_of(members, self.arena))
    }

    /// Goes into an array or an object.
    fn begin(&mut self) -> Option<()> {
        self.rest = &self.rest[1..];
        self.depth += 1;
        (self.depth <= DEPTH).then_some(())
    }

    /// Goes beyond this byte, which must be next.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.takes(byte).then_some(())
    }

    /// Counts a value.
    fn count(&mut self) -> Option<()> {
        self.left = self.left.saturating_sub(1);
        (self.left > 0).then_some(())
    }
}

/// The digits that a text begins with, of which there must be one, and the text behind them.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

/// How many bytes stand before the first that does not mean itself in a string: a quote, a backslash, a control character.
fn plain(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        let special =
            words::less(word, b' ') | words::equal(word, b'"') | words::equal(word, b'\\');
        if let Some(place) = words::first(special) {
            return bytes.len() - rest.len() + place;
        }
        rest = behind;
    }
    let special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    let end = rest.iter().position(special).unwrap_or(rest.len());
    bytes.len() - rest.len() + end
}

/// Leaves one member of each name from `start` on: the first, with the value of the last.
fn drop_repeated(members: &mut Vec<Member<'_>>, start: usize) {
    let are_few = members.len() - start <= FEW;
    let mut places = HashMap::new();
    let mut end = start;
    for index in start..members.len() {
        let name = members[index].0;
        let first = if are_few {
            (start..end).find(|place| members[*place].0 == name)
        } else {
            places.get(name).copied()
        };
        match first {
            Some(first) => members.swap(first, index),
            None => {
                if !are_few {
                    places.insert(name, end);
                }
                members.swap(end, index);
                end += 1;
            }
        }
    }
    members.truncate(end);
}
