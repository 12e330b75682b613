//! The summary itself, as `summary.json` holds it.

use crate::render::view::RunView;

/// Renders the summary as indented JSON with a newline at its end.
#[must_use]
pub fn render(view: &RunView) -> String {
    let mut text = serde_json::to_string_pretty(&view.summary)
        .expect("invariant: a summary is representable as JSON");
    text.push('\n');
    text
}
