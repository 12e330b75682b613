//! `{"anything": "(always)"}`: every value, and none. As in WireMock any text will do.

use super::Matcher;
use crate::reader::{Node, Object, Problems};

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    operand.string(problems).map(|_| Matcher::Anything)
}
