//! `/xml`: a small document about slides.

use super::{Call, Reply};
use plimsoll_wiremock::response::answer::AnswerBuilder;

/// About as long as the document that go-bench-suite sends.
const DOCUMENT: &str = r#"<?xml version="1.0" encoding="us-ascii"?>
<!-- A small deck of slides -->
<slideshow title="Load lines" date="1876" author="S. Plimsoll">
  <slide type="all">
    <title>Why ships need a mark</title>
  </slide>
  <slide type="all">
    <title>How deep may she be loaded?</title>
    <item>In <em>summer</em>, in salt water</item>
    <item/>
    <item>In <em>winter</em>, on the North Atlantic, less</item>
  </slide>
</slideshow>"#;

pub(super) fn reply(_: &Call<'_, '_>) -> Reply {
    AnswerBuilder::new(200, None)
        .field("Content-Type", "application/xml")
        .body(DOCUMENT.as_bytes())
        .into()
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;

    #[test]
    fn the_document_is_xml() {
        let (answer, _) = get("/xml");
        assert!(answer.contains("Content-Type: application/xml\n"));
        assert!(answer.ends_with("</slideshow>"));
    }
}
