//! `{"absent": true}`: there is no value. As in WireMock the operand does not matter.

use super::Matcher;
use crate::reader::{Node, Object, Problems};

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every operator has in the table"
)]
pub(super) fn read(_: &Node<'_>, _: &mut Object<'_>, _: &mut Problems) -> Option<Matcher> {
    Some(Matcher::Absent)
}
