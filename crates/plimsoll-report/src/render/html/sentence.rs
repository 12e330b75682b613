//! Sentences that every renderer shows, in which code stands between backticks.

use maud::{Markup, html};

/// A sentence with its code set as such; a backtick without a partner is a character like any other.
pub(crate) fn sentence(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 0 {
                (part)
            } @else if index + 1 == parts.len() {
                "`" (part)
            } @else if part.is_empty() {
                "``"
            } @else {
                code { (part) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_set_as_code_and_escaped() {
        let set = |text| sentence(text).into_string();
        assert_eq!(
            set("raise `ulimit -n`, or use `a<b`."),
            "raise <code>ulimit -n</code>, or use <code>a&lt;b</code>."
        );
        assert_eq!(set("no code & none"), "no code &amp; none");
        assert_eq!(set("`a` and a lone `"), "<code>a</code> and a lone `");
        assert_eq!(set("a`b"), "a`b");
        assert_eq!(set("``, an empty one"), "``, an empty one");
    }

    #[test]
    fn a_long_run_of_backticks_is_itself() {
        let run = "`".repeat(1_000_001);
        assert!(sentence(&run).into_string() == run);
    }
}
