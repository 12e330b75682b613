//! Java's date patterns (`DateTimeFormatter`) as the directives of `strptime` and `strftime` that jiff has.

/// Letters with their least and greatest count, and the directive.
const LETTERS: &[(char, usize, usize, &str)] = &[
    ('y', 4, 4, "%Y"),
    ('y', 2, 2, "%y"),
    ('y', 1, 1, "%Y"),
    ('u', 1, 4, "%Y"),
    ('M', 2, 2, "%m"),
    ('M', 1, 1, "%-m"),
    ('M', 3, 3, "%b"),
    ('M', 4, 4, "%B"),
    ('L', 1, 2, "%m"),
    ('d', 2, 2, "%d"),
    ('d', 1, 1, "%-d"),
    ('D', 1, 3, "%j"),
    ('E', 1, 3, "%a"),
    ('E', 4, 4, "%A"),
    ('a', 1, 1, "%p"),
    ('H', 2, 2, "%H"),
    ('H', 1, 1, "%-H"),
    ('h', 2, 2, "%I"),
    ('h', 1, 1, "%-I"),
    ('m', 1, 2, "%M"),
    ('s', 1, 2, "%S"),
    ('S', 3, 3, "%3f"),
    ('S', 6, 6, "%6f"),
    ('S', 9, 9, "%9f"),
    ('n', 9, 9, "%f"),
    ('Z', 1, 3, "%z"),
    ('X', 3, 3, "%:z"),
    ('x', 3, 3, "%:z"),
    ('X', 1, 2, "%z"),
    ('x', 1, 2, "%z"),
    ('V', 2, 2, "%Q"),
];

/// The directives of a Java pattern; the error names the letters that have none.
pub fn directives(pattern: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('\'') {
            rest = quoted(after, &mut out)?;
            continue;
        }
        let run = rest.find(|c| c != first).unwrap_or(rest.len());
        let count = run / first.len_utf8();
        let known = LETTERS
            .iter()
            .find(|(letter, least, most, _)| *letter == first && (*least..=*most).contains(&count));
        match known {
            Some((_, _, _, directive)) => out.push_str(directive),
            None if first.is_ascii_alphabetic() || "[]{}#".contains(first) => {
                return Err(format!(
                    "`{}` in a date pattern is not available in this version",
                    &rest[..run]
                ));
            }
            None => literal(&rest[..run], &mut out),
        }
        rest = &rest[run..];
    }
    Ok(out)
}

/// Copies a quoted text; returns what follows it. Two quotes are one.
fn quoted<'a>(text: &'a str, out: &mut String) -> Result<&'a str, String> {
    let Some(end) = text.find('\'') else {
        return Err("a quote in a date pattern does not end".to_owned());
    };
    literal(if end == 0 { "'" } else { &text[..end] }, out);
    Ok(&text[end + 1..])
}

fn literal(text: &str, out: &mut String) {
    out.push_str(&text.replace('%', "%%"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_translated() {
        let check = |pattern: &str, expected: &str| {
            assert_eq!(directives(pattern).as_deref(), Ok(expected), "{pattern}");
        };
        check("yyyy-MM-dd'T'HH:mm:ss.SSSxxx", "%Y-%m-%dT%H:%M:%S.%3f%:z");
        check("EEE, dd MMM yy hh:mm a", "%a, %d %b %y %I:%M %p");
        check("d/M/yyyy", "%-d/%-m/%Y");
        check("HH 'uhr' ''%", "%H uhr '%%");
        assert!(directives("GGGG").is_err() && directives("'x").is_err());
    }
}
