//! Texts that XMLUnit's `isDateTime` takes for dates: those that Java's `SimpleDateFormat` can read, which is lenient. A month may be the 13th, numbers
//! may have any length, and what follows the date is not looked at; so a pattern of its letters is a regular expression here.

use crate::java::regex::JavaRegex;

/// Date texts where no pattern is given: XMLUnit tries a dozen ISO patterns and those of the machine's language, which all begin like this (in US English).
const ANY: &str = r"^[ \t]*-?[0-9]+(?:-[ \t]*-?[0-9]+-|/[ \t]*-?[0-9]+/)[ \t]*-?[0-9]+";

/// Letters that stand for numbers.
const NUMBERS: &str = "yYMLdDFwWukKhHmsS";

const MONTHS: &str = "(?i:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const DAYS: &str =
    "(?i:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const ZONES: &str = "(?:GMT(?:[+-][0-9]{1,2}:[0-9]{2})?|UTC|[A-Z]{2,4}T|[+-][0-9]{1,2}:?[0-9]{2})";

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    /// So many of a letter.
    Letters(char, usize),
    Literal(String),
}

/// The dates of a pattern, or those of any that XMLUnit tries; the error names what of the pattern there is not.
pub(super) fn regex(arguments: &str) -> Result<JavaRegex, String> {
    // With several arguments XMLUnit looks at none.
    if arguments.is_empty() || arguments.contains(',') {
        return JavaRegex::searching(ANY);
    }
    let parts = parts(arguments)?;
    let mut regex = "^".to_owned();
    for (index, part) in parts.iter().enumerate() {
        regex.push_str(&expression(part, parts.get(index + 1))?);
    }
    JavaRegex::searching(&regex)
}

fn parts(pattern: &str) -> Result<Vec<PatternPart>, String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('\'') {
            let (text, after) = quoted(after)?;
            parts.push(PatternPart::Literal(text));
            rest = after;
            continue;
        }
        let run = rest.find(|c| c != first).unwrap_or(rest.len());
        parts.push(if first.is_ascii_alphabetic() {
            PatternPart::Letters(first, run)
        } else {
            PatternPart::Literal(rest[..run].to_owned())
        });
        rest = &rest[run..];
    }
    Ok(parts)
}

/// A text up to the quote that ends it, and what follows. Two quotes are one, alone or within a text.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let (mut out, mut rest) = (String::new(), text);
    loop {
        let end = rest
            .find('\'')
            .ok_or("a quote in a date pattern does not end")?;
        out.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => rest = after,
            None if out.is_empty() => return Ok(("'".to_owned(), rest)),
            None => return Ok((out, rest)),
        }
        out.push('\'');
    }
}

fn expression(part: &PatternPart, next: Option<&PatternPart>) -> Result<String, String> {
    Ok(match part {
        PatternPart::Literal(text) => regex_syntax::escape(text),
        PatternPart::Letters('M' | 'L', 3..) => MONTHS.to_owned(),
        PatternPart::Letters(letter, count) if NUMBERS.contains(*letter) => match next {
            Some(next) if is_number(next) => digits(*count),
            _ => r"[ \t]*-?[0-9]+".to_owned(),
        },
        PatternPart::Letters('E', _) => DAYS.to_owned(),
        PatternPart::Letters('a', _) => "(?i:AM|PM)".to_owned(),
        PatternPart::Letters('G', _) => "(?i:AD|BC)".to_owned(),
        PatternPart::Letters('z' | 'Z', _) => ZONES.to_owned(),
        PatternPart::Letters('X', 1) => "(?:Z|[+-][0-9]{2})".to_owned(),
        PatternPart::Letters('X', 2) => "(?:Z|[+-][0-9]{4})".to_owned(),
        PatternPart::Letters('X', 3) => "(?:Z|[+-][0-9]{2}:[0-9]{2})".to_owned(),
        PatternPart::Letters(letter, count) => {
            let letters = letter.to_string().repeat(*count);
            return Err(format!("`{letters}` is no part of a date pattern"));
        }
    })
}

/// A number that another one follows at once: no longer than it has letters, its sign included, where there are so many characters at all.
fn digits(count: usize) -> String {
    let negative = match count {
        1 => String::new(),
        count => format!("-[0-9]{{1,{}}}|", count - 1),
    };
    format!("(?>(?=(?s:.{{{count}}}))(?:{negative}[0-9]{{1,{count}}}))")
}

fn is_number(part: &PatternPart) -> bool {
    match part {
        PatternPart::Letters('M' | 'L', count) => *count < 3,
        PatternPart::Letters(letter, _) => NUMBERS.contains(*letter),
        PatternPart::Literal(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, dates: &[&str], others: &[&str]) {
        let regex = regex(arguments).unwrap();
        let holds = |text: &&str| regex.find(text).unwrap().is_some();
        assert!(dates.iter().all(holds), "{arguments}");
        assert!(!others.iter().any(holds), "{arguments}");
    }

    #[test]
    fn dates_are_what_java_can_read() {
        let dates = ["2026-11-22T10:00:00Z", "2026-13-45", "1/2/26", "1-2-3 and"];
        check("", &dates, &["soon", "2026", "10:00", "22.11.2026", ""]);
        check("a,b", &dates, &["soon"]);
        check(
            "dd.MM.yyyy",
            &["22.11.2026", "1.1.1 or so"],
            &["2026-11-22"],
        );
        let dates = ["20261122", "2026112", "2026-11-22"];
        check("yyyyMMdd", &dates, &["202", "202611", "x"]);
        check("Mdd", &["122"], &["1"]);
        check(
            "EEE d MMM yyyy HH:mm:ss Z",
            &["Sun 22 Nov 2026 10:00:00 +0100"],
            &["Son 22 Nov 2026 10:00:00 +0100"],
        );
        check("HH 'o''clock'", &["10 o'clock"], &["10 clock"]);
        check(
            concat!("HH:mm", "X", "XX"),
            &["10:00Z", "10:00+01:00"],
            &["10:00", "10:00+01"],
        );
        for unknown in ["QQ", "'x", concat!("XX", "XX")] {
            assert!(regex(unknown).is_err(), "{unknown}");
        }
    }
}
