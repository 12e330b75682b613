//! The forms in which a record is written. An open set, one file each: [`own`], a line of JSON, and [`tyk`], Tyk's record as JSON or as
//! MessagePack.

pub(super) mod own;
pub(super) mod tyk;

use super::entry::Entry;
use crate::config::LineForm;

/// Appends a record as one line.
pub(super) type WriteLine = fn(&mut Vec<u8>, &Entry<'_>);

/// How lines of this form are written.
pub(super) fn lines(form: LineForm) -> WriteLine {
    match form {
        LineForm::Own => own::write_line,
        LineForm::Tyk => tyk::write_line,
    }
}
