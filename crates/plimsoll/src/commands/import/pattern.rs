//! Patterns by which requests are chosen: `*` stands for anything.

/// Whether the whole text is what the pattern describes.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        };
        check("/a", "/a", true);
        check("/a", "/ab", false);
        check("*.css", "/x/y.css", true);
        check("*.css", "/x/y.css.map", false);
        check("*/api/*", "http://h/api/v1", true);
        check("GET /pets*", "GET /pets/{id}", true);
        check("a*b*c", "abc", true);
        check("a*bc*c", "abc", false);
        check("*", "", true);
    }
}
