//! Header fields as received: in order, in their spelling, looked up without regard to case.

use std::ops::Range;

/// Header or trailer fields. Names and values are slices of one text, which keeps its memory from message to message.
#[derive(Debug, Default)]
pub struct Fields {
    text: Text,
    entries: Vec<Entry>,
}

/// Text of a section. Looked at once as a whole: most are UTF-8, and a name in one that is needs no further look.
#[derive(Debug)]
enum Text {
    Utf8(String),
    /// A value has other bytes (`obs-text`, RFC 9110, section 5.5).
    Other(Vec<u8>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Utf8(String::new())
    }
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Utf8(text) => text.as_bytes(),
            Self::Other(bytes) => bytes,
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Utf8(text) => text.capacity(),
            Self::Other(bytes) => bytes.capacity(),
        }
    }

    /// Takes these bytes over into the memory that there is.
    fn set(&mut self, bytes: &[u8]) {
        let mut memory = match std::mem::take(self) {
            Self::Utf8(text) => text.into_bytes(),
            Self::Other(memory) => memory,
        };
        memory.clear();
        memory.extend_from_slice(bytes);
        *self = match String::from_utf8(memory) {
            Ok(text) => Self::Utf8(text),
            Err(error) => Self::Other(error.into_bytes()),
        };
    }
}

impl Clone for Fields {
    fn clone(&self) -> Self {
        let mut fields = Self::default();
        fields.clone_from(self);
        fields
    }

    /// Reuses the memory of what is overwritten.
    fn clone_from(&mut self, source: &Self) {
        self.text.set(source.text.bytes());
        self.entries.clone_from(&source.entries);
    }
}

/// Where a field lies in the text.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
}

impl Fields {
    /// Every field in order: its name as spelled, and its value without surrounding white space.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries
            .iter()
            .map(|entry| (self.name(entry), &self.text.bytes()[entry.value.clone()]))
    }

    /// The value of the first field of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The values of all fields of that name, in order.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let is_named = move |entry: &&Entry| {
            self.text.bytes()[entry.name.clone()].eq_ignore_ascii_case(name.as_bytes())
        };
        let entries = self.entries.iter().filter(is_named);
        entries.map(|entry| &self.text.bytes()[entry.value.clone()])
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of memory that they keep from message to message.
    pub(crate) fn memory(&self) -> usize {
        self.text.memory() + self.entries.capacity() * size_of::<Entry>()
    }

    pub(crate) fn clear(&mut self) {
        self.text.set(&[]);
        self.entries.clear();
    }

    /// Notes a field whose ranges refer to the text that [`Self::set_text`] will bring.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Takes over the bytes to which the entries refer.
    pub(crate) fn set_text(&mut self, text: &[u8]) {
        self.text.set(text);
    }

    /// The text that the entries refer to, with the bytes between them.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.bytes()
    }

    /// A part of the text that was checked to be ASCII.
    pub(crate) fn ascii(&self, range: Range<usize>) -> &str {
        match &self.text {
            Text::Utf8(text) => &text[range],
            Text::Other(bytes) => std::str::from_utf8(&bytes[range])
                .expect("invariant: names and targets are checked to be ASCII"),
        }
    }

    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.text.bytes()[range]
    }

    fn name(&self, entry: &Entry) -> &str {
        self.ascii(entry.name.clone())
    }
}

/// The elements of a comma-separated list in all fields of a name, without empty ones and surrounding white space.
pub fn list<'a>(fields: &'a Fields, name: &str) -> impl Iterator<Item = &'a [u8]> {
    fields
        .get_all(name)
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_whatever_stands_in_values_and_what_was_there_before() {
        let mut fields = Fields::default();
        for value in [&b"plain"[..], b"\xff\xfe", b"m\xc3\xbcde", b"\xc3"] {
            fields.clear();
            fields.push(Entry {
                name: 0..4,
                value: 6..6 + value.len(),
            });
            fields.set_text(&[b"Name: ", value].concat());
            let read: Vec<_> = fields.iter().collect();
            assert_eq!(read, [("Name", value)]);
            let mut copy = Fields::default();
            copy.clone_from(&fields);
            assert_eq!(copy.get("name"), Some(value));
            assert_eq!(copy.text(), fields.text());
        }
    }
}
