//! Which fields of one request or response do not pass, in heads and in trailers, besides those that are of a kind that never does: that is
//! [`crate::messages::fields`]'.

use crate::config::Underscores;
use crate::messages::edits::FieldEdits;
use crate::messages::fields::are_twins;
use crate::routing::service::KeyField;

/// Predicate on fields that do not pass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Withheld<'a> {
    /// Fields that a rule removes or sets.
    pub(crate) edits: Option<&'a FieldEdits>,
    /// The field in which keys travel, if it is not forwarded; its twins never are.
    pub(crate) key_field: Option<&'a KeyField>,
    pub(crate) underscores: Underscores,
}

impl Withheld<'_> {
    /// Whether a field of this name is withheld.
    pub(crate) fn holds(&self, name: &str) -> bool {
        if self.edits.is_some_and(|edits| edits.drops(name)) {
            return true;
        }
        match self.key_field {
            Some(field) if field.name.eq_ignore_ascii_case(name) => field.hide,
            Some(field) if are_twins(&field.name, name) => true,
            _ => self.underscores == Underscores::Drop && name.as_bytes().contains(&b'_'),
        }
    }
}
