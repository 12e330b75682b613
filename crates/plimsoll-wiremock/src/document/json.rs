//! A JSON document to compare and to search. Its texts stand in the text that it was read from, all else in an arena: a tree of [`serde_json::Value`]
//! allocates every part and hashes every name, which costs several times as much as all else about a request.

pub(crate) mod equality;
pub(crate) mod number;
pub(crate) mod path;
mod read;

use crate::budget::{Budget, TooCostly};
use bumpalo::Bump;
use number::Number;
use plimsoll_base::document::values_in;
use read::read;
use serde_json::Value;

/// Values of any document, and for how many bytes there may be one more.
const VALUES: usize = 64_000;
const BYTES_A_VALUE: usize = 4;
/// Values of a tree of serde_json's, whose parts are larger.
const TREE_VALUES: usize = 16_000;
const BYTES_A_TREE_VALUE: usize = 20;

/// Up to so many members are looked for one by one.
const FEW: usize = 16;

/// A value, its parts in the order in which they were written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(&'a str),
    Array(&'a [Json<'a>]),
    Object(&'a Members<'a>),
}

/// The members of an object. Of several with one name the last counts, in the place of the first.
#[derive(Debug)]
pub struct Members<'a> {
    entries: &'a [Member<'a>],
    /// The places of all members, by their names, if there are more than [`FEW`].
    by_name: &'a [usize],
}

/// Name and value.
type Member<'a> = (&'a str, Json<'a>);

impl<'a> Json<'a> {
    /// The first document of a text, if there is one; what follows it does not matter.
    pub fn first_of(bytes: &'a [u8], arena: &'a Bump) -> Result<Option<Self>, TooCostly> {
        let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(start, Some(b'{' | b'[' | b'"')) {
            // Whatever follows must not make a number or a word longer, which serde_json looks after where no arena is.
            let value = first_document(bytes)?;
            return Ok(value.map(|value| Self::of(arena.alloc(value), arena)));
        }
        read(bytes, arena, VALUES + bytes.len() / BYTES_A_VALUE)
    }

    /// A value of serde_json's.
    pub fn of(value: &'a Value, arena: &'a Bump) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.into()),
            Value::String(text) => Self::String(text),
            Value::Array(items) => {
                let items = items.iter().map(|item| Self::of(item, arena));
                Self::Array(arena.alloc_slice_fill_iter(items))
            }
            Value::Object(map) => {
                let members = map.iter();
                let members = members.map(|(name, value)| (&**name, Self::of(value, arena)));
                Self::object(members, arena)
            }
        }
    }

    /// An object of members whose names differ.
    pub fn object<I>(members: I, arena: &'a Bump) -> Self
    where
        I: IntoIterator<Item = Member<'a>, IntoIter: ExactSizeIterator>,
    {
        Self::object_of(arena.alloc_slice_fill_iter(members), arena)
    }

    /// An object of members that stand in the arena; their names differ.
    fn object_of(entries: &'a [Member<'a>], arena: &'a Bump) -> Self {
        let mut by_name: &mut [usize] = &mut [];
        if entries.len() > FEW {
            by_name = arena.alloc_slice_fill_with(entries.len(), |place| place);
            by_name.sort_unstable_by_key(|place| entries[*place].0);
        }
        Self::Object(arena.alloc(Members { entries, by_name }))
    }

    /// As serde_json has it, for those who work with that.
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => number.into(),
            Self::String(text) => Value::String(text.to_owned()),
            Self::Array(items) => items.iter().map(|item| item.to_value()).collect(),
            Self::Object(members) => {
                let entries = members.iter();
                Value::Object(
                    entries
                        .map(|(name, value)| (name.to_owned(), value.to_value()))
                        .collect(),
                )
            }
        }
    }

    /// A tree of serde_json's, if there are not more values than are left; [`tree_budget`] says how many a tree may have.
    pub fn to_value_within(self, values: &Budget) -> Result<Value, TooCostly> {
        self.charge(values)?;
        Ok(self.to_value())
    }

    /// Takes a step for each value and 32 bytes of text.
    pub fn charge(&self, budget: &Budget) -> Result<(), TooCostly> {
        budget.spend(1)?;
        match self {
            Self::String(text) => budget.spend(text.len() / 32),
            Self::Array(items) => items.iter().try_for_each(|item| item.charge(budget)),
            Self::Object(members) => members
                .iter()
                .try_for_each(|(_, value)| value.charge(budget)),
            _ => Ok(()),
        }
    }

    /// A number, or `null` for what JSON has no number for.
    pub fn number(number: f64) -> Self {
        Number::double(number).map_or(Self::Null, Self::Number)
    }

    /// A count.
    pub fn count(count: usize) -> Self {
        Self::Number(Number::Natural(count as u64))
    }

    pub fn as_object(&self) -> Option<&'a Members<'a>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&'a [Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.as_f64()),
            _ => None,
        }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(Number::Natural(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

/// The first document of a text, if there is one, as serde_json has it.
pub fn first_document(bytes: &[u8]) -> Result<Option<Value>, TooCostly> {
    may_be_tree(bytes)?;
    // Texts need not be looked at one by one when all of it is UTF-8.
    let first = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::Deserializer::from_str(text).into_iter().next(),
        Err(_) => serde_json::Deserializer::from_slice(bytes)
            .into_iter()
            .next(),
    };
    Ok(first.and_then(Result::ok))
}

/// Whether a text may be read as a tree of serde_json's.
pub fn may_be_tree(bytes: &[u8]) -> Result<(), TooCostly> {
    let values = tree_budget(bytes.len()).spend(values_in(bytes));
    values.map_err(|_| TooCostly::Parts)
}

/// How many values a tree may have that is made of so many bytes.
pub fn tree_budget(bytes: usize) -> Budget {
    Budget::of(TREE_VALUES + bytes / BYTES_A_TREE_VALUE)
}

impl<'a> Members<'a> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a Json<'a>)> + use<'a> {
        self.entries.iter().map(|(name, value)| (*name, value))
    }

    pub fn get(&self, name: &str) -> Option<&'a Json<'a>> {
        if self.by_name.is_empty() {
            let found = self.entries.iter().find(|(own, _)| *own == name);
            return found.map(|(_, value)| value);
        }
        let found = self
            .by_name
            .binary_search_by_key(&name, |place| self.entries[*place].0);
        Some(&self.entries[self.by_name[found.ok()?]].1)
    }

    /// The member of a name whose place is probably known.
    pub fn get_near(&self, place: usize, name: &str) -> Option<&'a Json<'a>> {
        match self.entries.get(place) {
            Some((own, value)) if *own == name => Some(value),
            _ => self.get(name),
        }
    }
}

/// Whatever their order.
impl PartialEq for Members<'_> {
    fn eq(&self, other: &Self) -> bool {
        let has = |(name, value)| other.get(name).is_some_and(|theirs| theirs == value);
        self.len() == other.len() && self.iter().all(has)
    }
}

/// One bit of 64, seldom that of another name of the same object.
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let first = bytes.first().copied().unwrap_or_default();
    let last = bytes.last().copied().unwrap_or_default();
    1 << ((usize::from(first) * 5 + usize::from(last) * 13 + bytes.len()) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The document that is read, printed: values may be equal although their members have another order, or a zero another sign.
    fn read(text: &[u8]) -> Option<String> {
        let arena = Bump::new();
        let read = Json::first_of(text, &arena).unwrap();
        read.map(|json| json.to_value().to_string())
    }

    /// Likewise, as serde_json reads it.
    fn by_serde_json(text: &[u8]) -> Option<String> {
        let read = first_document(text).unwrap();
        read.map(|value| value.to_string())
    }

    /// Any document, with texts that need escapes; names that repeat have a test of their own.
    fn documents() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-c\"\\\\\n\u{e4}]{0,30}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
                prop::collection::vec(("[a-c\"\u{e4}]{0,4}", inner), 0..24)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_reads(document in documents(), other in documents()) {
            let text = document.to_string();
            let arena = Bump::new();
            let read = Json::first_of(text.as_bytes(), &arena).unwrap().unwrap();
            prop_assert_eq!(read.to_value().to_string(), &*text);
            prop_assert_eq!(&read, &Json::of(&document, &arena));
            prop_assert_eq!(read == Json::of(&other, &arena), document == other);
        }
    }

    /// A text that is nearly a document: some of its bytes are others, or missing, or there is more.
    fn nearly_documents() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"".to_vec()),
            "[\\[\\]{}:,\" \t\n\r\u{c}]".prop_map(String::into_bytes),
            "-?[0-9]{0,21}[.]?[0-9]{0,3}([eE][+-]?[0-9]{0,3})?".prop_map(String::into_bytes),
            "\\\\(u[0-9a-dA-D]{0,4}|[\"\\\\/bfnrtx])?".prop_map(String::into_bytes),
            "(true|fals|nul)l?e?".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 1..3),
        ];
        let change = (any::<prop::sample::Index>(), 0..3_usize, piece);
        let changes = prop::collection::vec(change, 0..4);
        (documents(), any::<bool>(), changes).prop_map(|(document, spaced, changes)| {
            let mut text = match spaced {
                true => serde_json::to_vec_pretty(&document).unwrap(),
                false => serde_json::to_vec(&document).unwrap(),
            };
            for (place, removed, piece) in changes {
                let at = place.index(text.len() + 1);
                let end = (at + removed).min(text.len());
                text.splice(at..end, piece);
            }
            // A text that begins with something else is not for the reader.
            if !matches!(text.first(), Some(b'[' | b'{' | b'"')) {
                text.insert(0, b'[');
                text.push(b']');
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_document_is_what_serde_json_takes_for_one(text in nearly_documents()) {
            prop_assert_eq!(read(&text), by_serde_json(&text));
        }
    }

    /// Corners of the grammar, with their first text on each place of the words in which texts are searched.
    #[test]
    fn the_grammar_is_serde_jsons() {
        let items = [
            "01",
            "-01",
            "-0",
            "0",
            "1.",
            ".5",
            "0.5",
            "1e5",
            "1e400",
            "-",
            "+1",
            "1-2",
            "1 2",
            "9999999999999999999",
            "18446744073709551616",
            "-9223372036854775809",
            "",
            "\x0c1",
            "1\x0c",
            "\t\r\n 1 ",
            "1,",
            "true",
            "tru",
            "truex",
            "null",
            "nul",
            "NaN",
            "\"\x1f\"",
            "\"\t\"",
            "\"\x7f\"",
            "\"\\\"\"",
            "\"\\",
            "\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\u{e4}\"",
            "\"\\\u{e4}\"",
            "{\"a\" : 1}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":}",
            "{\"a\"}",
            "{1:1}",
            "{",
            "}",
            "[",
            "]",
            ":",
        ];
        for item in items {
            for before in 0..8 {
                let item = item.replacen('"', &format!("\"{}", "x".repeat(before)), 1);
                for text in [
                    format!("[{item}]"),
                    format!("[{item},\"xxxxxxxx\"]"),
                    format!("{{\"a\":{item},\"a\":\"xxxxxxxx\"}}"),
                    format!("{{\"b\":1,\"a\":{item},\"b\":\"xxxxxxxx\"}}"),
                ] {
                    let expected = by_serde_json(text.as_bytes());
                    assert_eq!(read(text.as_bytes()), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn documents_may_be_as_deep_as_in_serde_json() {
        for depth in 126..130 {
            let (array, object) = ("[".repeat(depth), "{\"a\":".repeat(depth));
            let array = format!("{array}{}", "]".repeat(depth));
            let object = format!("{object}1{}", "}".repeat(depth));
            for text in [array, object] {
                let expected = by_serde_json(text.as_bytes());
                assert_eq!(expected.is_some(), depth < 128, "{depth}");
                assert_eq!(read(text.as_bytes()), expected, "{depth}");
            }
        }
        for many in ["[]", "[0]", "{}", "{\"a\":0}"] {
            let text = format!("[{}0]", format!("{many},").repeat(300));
            assert_eq!(read(text.as_bytes()).as_deref(), Some(&*text));
        }
    }

    #[test]
    fn of_several_members_with_one_name_the_last_counts() {
        let check = |others: usize| {
            let others: String = (0..others).map(|n| format!("\"m{n}\": {n}, ")).collect();
            let text = format!("{{\"a\": 1, {others}\"b\": 2, \"\\u0061\": 3}}");
            let expected: Value = serde_json::from_str(&text).unwrap();
            let arena = Bump::new();
            let read = Json::first_of(text.as_bytes(), &arena).unwrap().unwrap();
            assert_eq!(read.to_value().to_string(), expected.to_string());
            let members = read.as_object().unwrap();
            assert_eq!(members.get("a"), Some(&Json::count(3)));
            assert_eq!(members.get("z"), None);
        };
        check(0);
        check(FEW - 2);
        check(FEW - 1);
        check(3 * FEW);
    }

    #[test]
    fn a_document_of_too_many_values_is_not_read() {
        let check = |text: String, reads: bool, is_tree: bool| {
            let read = Json::first_of(text.as_bytes(), &Bump::new()).map(|json| json.is_some());
            let expected = if reads {
                Ok(true)
            } else {
                Err(TooCostly::Parts)
            };
            assert_eq!(read, expected, "{}", &text[..30]);
            assert_eq!(
                may_be_tree(text.as_bytes()).is_ok(),
                is_tree,
                "{}",
                &text[..30]
            );
        };
        let list =
            |count: usize, item: &str| format!("[{}{item}]", format!("{item},").repeat(count));
        check(list(10_000, "0"), true, true);
        check(list(100_000, "0"), true, false);
        check(list(200_000, "0"), false, false);
        check(list(200_000, "\",[{,\\\",,\""), true, false);
        check(list(20_000, "\",[{,\\\",,,,,,,,,,,,,,,\""), true, true);
        check(list(1, &format!("\"{}\"", ",".repeat(100_000))), true, true);
    }

    #[test]
    fn only_the_first_document_matters() {
        assert_eq!(read(b"{} x").as_deref(), Some("{}"));
        assert_eq!(read(b"[1] \xff").as_deref(), Some("[1]"));
        assert_eq!(read(b"[\"\xff\"]"), None);
        assert_eq!(read(b" 1 x").as_deref(), Some("1"));
        assert_eq!(read(b"1x"), None);
        assert_eq!(read(b"["), None);
        assert_eq!(read(b""), None);
        assert_eq!(read("[".repeat(100_000).as_bytes()), None);
    }
}
