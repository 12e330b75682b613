//! `formatXml xml format='pretty' or 'compact'`, or a block of it: XML with each element on a line of its own, or all on one.

use super::{Helper, Invocation, Outcome, error_text};
use crate::document::xml::{Document, ItemId, print};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("formatXml", format_xml)];

fn format_xml<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    let text = subject.print();
    let Ok(document) = Document::parse(text.trim()) else {
        return Ok(error_text("Input is not valid XML"));
    };
    let format = invocation
        .option("format")
        .map(|format| format.print().into_owned());
    Ok(Value::text(match format.as_deref() {
        Some("compact") => print::compact(&document, ItemId::ROOT),
        _ => print::indented(&document, ItemId::ROOT),
    }))
}
