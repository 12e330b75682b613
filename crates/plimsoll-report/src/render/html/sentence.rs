//! Sentences that every renderer shows, in which code stands between backticks.

use maud::{Markup, html};

/// A sentence with its code set as such; a backtick without a partner is a character like any other.
pub(super) fn sentence(text: &str) -> Markup {
    let code = text.split_once('`').and_then(|(before, rest)| {
        let (code, after) = rest.split_once('`')?;
        Some((before, code, after))
    });
    html! {
        @if let Some((before, code, after)) = code {
            (before) code { (code) } (sentence(after))
        } @else {
            (text)
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
    }
}
