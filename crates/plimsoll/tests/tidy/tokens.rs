//! Rust's text as tokens, as far as paths need it: without comments, and without what only tests compile.

/// The tokens of `source`. A literal is an empty token, `::` is one token, other punctuation comes sign by sign.
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let characters: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let next = characters.get(at + 1).copied();
        let end = match character {
            '/' if next == Some('/') => line_end(&characters, at),
            '/' if next == Some('*') => comment_end(&characters, at),
            '"' => quoted_end(&characters, at),
            '\'' => apostrophe_end(&characters, at),
            ':' if next == Some(':') => at + 2,
            _ if is_word(character) => word_end(&characters, at),
            _ => at + 1,
        };
        match character {
            '/' if matches!(next, Some('/' | '*')) => {}
            '"' | '\'' => found.push(String::new()),
            _ if character.is_whitespace() => {}
            _ => found.push(token(&characters[at..end])),
        }
        at = end;
    }
    without_tests(&found)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A word or a sign; a literal with letters before its quotes (`b"…"`, `r#"…"#`) is empty like others.
fn token(characters: &[char]) -> String {
    match characters {
        [_, .., '"' | '#' | '\''] => String::new(),
        _ => characters.iter().collect(),
    }
}

fn line_end(characters: &[char], at: usize) -> usize {
    let rest = characters[at..].iter();
    rest.take_while(|character| **character != '\n').count() + at
}

fn comment_end(characters: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < characters.len() {
        match (characters[at], characters.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Past the quotation mark that closes the one at `start`.
fn quoted_end(characters: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < characters.len() && characters[at] != characters[start] {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Past a character literal or a lifetime.
fn apostrophe_end(characters: &[char], start: usize) -> usize {
    let lifetime = characters
        .get(start + 1)
        .is_some_and(|next| is_word(*next) && characters.get(start + 2) != Some(&'\''));
    if lifetime {
        word_end(characters, start + 1)
    } else {
        quoted_end(characters, start)
    }
}

/// Past a word, and past the literal that it is the prefix of.
fn word_end(characters: &[char], start: usize) -> usize {
    let rest = characters[start..].iter();
    let end = rest.take_while(|character| is_word(**character)).count() + start;
    let word: String = characters[start..end].iter().collect();
    match (word.as_str(), characters.get(end)) {
        ("b" | "c", Some('"')) | ("b", Some('\'')) => quoted_end(characters, end),
        ("r" | "br" | "cr", Some('"' | '#')) => raw_end(characters, end),
        _ => end,
    }
}

/// Past a raw string whose signs begin at `start`; a raw identifier is none.
fn raw_end(characters: &[char], start: usize) -> usize {
    let signs = characters[start..].iter();
    let signs = signs.take_while(|character| **character == '#').count();
    if characters.get(start + signs) != Some(&'"') {
        return start;
    }
    let mut at = start + signs + 1;
    while at < characters.len() {
        let closing = characters[at + 1..].iter().take(signs);
        if characters[at] == '"' && closing.filter(|sign| **sign == '#').count() == signs {
            return at + 1 + signs;
        }
        at += 1;
    }
    at
}

const FOR_TESTS: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with_words(&FOR_TESTS) {
            at = item_end(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

trait StartsWithWords {
    fn starts_with_words(&self, words: &[&str]) -> bool;
}

impl StartsWithWords for [String] {
    fn starts_with_words(&self, words: &[&str]) -> bool {
        self.len() >= words.len() && self.iter().zip(words).all(|(token, word)| token == word)
    }
}

/// Past the item, or the field, whose attributes begin at `start`.
fn item_end(tokens: &[String], start: usize) -> usize {
    let mut at = start;
    while tokens.get(at).is_some_and(|token| token == "#") {
        at = group_end(tokens, at + 1);
    }
    let items = [
        "pub", "use", "mod", "fn", "async", "struct", "enum", "impl", "const", "static", "type",
        "trait", "unsafe", "extern", "let",
    ];
    let item = tokens
        .get(at)
        .is_some_and(|token| items.contains(&token.as_str()));
    if tokens.get(at).is_some_and(|token| token == "pub") {
        at += 1;
        if tokens.get(at).is_some_and(|token| token == "(") {
            at = group_end(tokens, at);
        }
    }
    let imports = tokens.get(at).is_some_and(|token| token == "use");
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            ";" => return at + 1,
            "," if !item => return at + 1,
            "}" => return at,
            "{" if item && !imports => return group_end(tokens, at),
            "{" | "(" | "[" => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Past the bracket that closes the one at `start`.
pub(crate) fn group_end(tokens: &[String], start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, token) in tokens[start..].iter().enumerate() {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return start + offset + 1;
        }
    }
    tokens.len()
}

#[test]
fn tokens_leave_out_comments_literals_and_tests() {
    let source = r##"
        //! crate::a
        use crate::b::{C, d}; /* crate::e /* x */ */
        const S: &str = r#"crate::f "quoted""#; const T: u8 = b'"'; fn g<'a>(x: &'a str) { '\'' }
        #[cfg(test)]
        #[expect(clippy::unwrap_used, reason = "a test")]
        mod tests { use super::*; }
        struct H { #[cfg(test)] i: Vec<u8>, j: u8 }
        #[cfg(test)]
        use crate::k::{l, m};
    "##;
    assert_eq!(
        tokens(source).join(" "),
        "use crate :: b :: { C , d } ; const S : & str =  ; const T : u8 =  ; \
         fn g <  > ( x : &  str ) {  } struct H { j : u8 }"
    );
}
