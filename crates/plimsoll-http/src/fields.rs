//! Header fields as received: in order, in their spelling, looked up without regard to case.

use std::ops::Range;

/// Header or trailer fields. Names and values are slices of one text, which keeps its memory from message to message.
#[derive(Debug, Default)]
pub struct Fields {
    text: Vec<u8>,
    entries: Vec<Entry>,
}

impl Clone for Fields {
    fn clone(&self) -> Self {
        Self {
            text: self.text.clone(),
            entries: self.entries.clone(),
        }
    }

    /// Reuses the memory of what is overwritten.
    fn clone_from(&mut self, source: &Self) {
        self.text.clone_from(&source.text);
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
            .map(|entry| (self.name(entry), &self.text[entry.value.clone()]))
    }

    /// The value of the first field of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The values of all fields of that name, in order.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let is_named = move |entry: &&Entry| {
            self.text[entry.name.clone()].eq_ignore_ascii_case(name.as_bytes())
        };
        let entries = self.entries.iter().filter(is_named);
        entries.map(|entry| &self.text[entry.value.clone()])
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

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }

    /// Notes a field whose ranges refer to the text that [`Self::set_text`] will bring.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Takes over the bytes to which the entries refer.
    pub(crate) fn set_text(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
    }

    /// What the entries refer to, and what stands between.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// A part of the text that was checked to be ASCII.
    pub(crate) fn ascii(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(&self.text[range])
            .expect("invariant: names and targets are checked to be ASCII")
    }

    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.text[range]
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
