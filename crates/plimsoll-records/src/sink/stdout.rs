//! Standard output, one line a record: an access log.

use super::file::Pages;
use crate::entry::Entry;
use crate::output::Output;
use crate::settings::LineForm;
use crate::sink::Failed;
use crate::sink::lines::Lines;

/// Where lines for the operator go.
pub(super) struct Sink(Pages<Output>);

impl Sink {
    pub(super) fn new(output: Output, form: LineForm) -> Self {
        Self(Pages::new(Lines::of(output), form))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        self.0.write(entries)
    }
}
