//! `{"contains": "text"}`: the value has the text in it.

use super::Matcher;
use crate::reader::{Node, Object, Problems};
use memchr::memmem::Finder;

/// A search for one text, prepared.
#[derive(Debug, Clone)]
pub struct Contains(Box<Finder<'static>>);

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let text = operand.string(problems)?;
    Some(Matcher::Contains(Contains(Box::new(
        Finder::new(&text).into_owned(),
    ))))
}

impl Contains {
    pub(super) fn holds(&self, value: &[u8]) -> bool {
        self.0.find(value).is_some()
    }
}
