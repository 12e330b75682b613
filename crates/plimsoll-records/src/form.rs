//! The forms in which a record is written. An open set, one file each: [`own`], a line of JSON, and [`tyk`], Tyk's record as JSON or as
//! MessagePack.

pub(crate) mod own;
pub(crate) mod tyk;

use crate::entry::Entry;
use crate::settings::LineForm;

/// Appends a record as one line.
pub(crate) type WriteLine = fn(&mut Vec<u8>, &Entry<'_>);

/// How lines of this form are written.
pub(crate) fn lines(form: LineForm) -> WriteLine {
    match form {
        LineForm::Own => own::write_line,
        LineForm::Tyk => tyk::write_line,
    }
}
