//! Patterns of texts and wildcards, found without an automaton: compiled, one takes fifty times its length, and a file may hold thousands.
//!
//! They are written as regular expressions, of which this knows few; [`Wildcards::parse`] leaves the others to the `regex` crate, and what
//! it takes it reads as that does.

/// A pattern that is found anywhere in a path, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wildcards {
    pieces: Box<[Piece]>,
    /// Only where the path begins.
    begins: bool,
    ends: Ends,
    /// Letters match whatever their case; its texts are ASCII, then.
    any_case: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Just this.
    Text(Box<str>),
    /// One character or more, and no slash among them.
    Segment,
    /// Any characters of one line.
    Line,
}

/// End of an expression, behind the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Anywhere,
    /// The end of the path.
    Path,
    /// The end of the path, or a slash.
    Segment,
}

/// As patterns of Tyk's write a segment, and as they are translated.
const SEGMENTS: [&str; 4] = [r"([^\/]+)", "([^/]+)", r"[^\/]+", "[^/]+"];

impl Wildcards {
    /// The texts and wildcards of a regular expression, if it is made of these.
    pub(super) fn parse(expression: &str) -> Option<Self> {
        let any_case = expression.strip_prefix("(?i)");
        let rest = any_case.unwrap_or(expression);
        let beginning = rest.strip_prefix('^');
        let rest = beginning.unwrap_or(rest);
        let (rest, ends) = if let Some(rest) = rest.strip_suffix("(/|$)") {
            (rest, Ends::Segment)
        } else if let Some(rest) = rest.strip_suffix('$').filter(|rest| !is_escape(rest)) {
            (rest, Ends::Path)
        } else {
            (rest, Ends::Anywhere)
        };
        let pieces = pieces(rest)?;
        let is_known = |piece: &Piece| !matches!(piece, Piece::Text(text) if !text.is_ascii());
        let any_case = any_case.is_some();
        (!any_case || pieces.iter().all(is_known)).then(|| Self {
            pieces: pieces.into_boxed_slice(),
            begins: beginning.is_some(),
            ends,
            any_case,
        })
    }

    /// These segments from the beginning on, of which `None` is any, and what is below them.
    pub(super) fn below<'a>(segments: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut pieces = Pieces::default();
        for segment in segments {
            pieces.text.push('/');
            match segment {
                Some(text) => pieces.text.push_str(text),
                None => pieces.push(Piece::Segment),
            }
        }
        Self {
            pieces: pieces.finish().into_boxed_slice(),
            begins: true,
            ends: Ends::Segment,
            any_case: false,
        }
    }

    /// Whether it is found there. Time and memory are those of the path, for each piece.
    pub(super) fn is_in(&self, path: &str) -> bool {
        // Most patterns end here, and for most that do not a text is all there is.
        if !self.any_case && !self.texts().all(|text| path.contains(text)) {
            return false;
        }
        if let ([Piece::Text(_)], false, false, Ends::Anywhere) =
            (&*self.pieces, self.begins, self.any_case, self.ends)
        {
            return true;
        }
        let mut places: Vec<usize> = match self.begins {
            true => vec![0],
            false => boundaries(path).collect(),
        };
        for piece in &self.pieces {
            places = match piece {
                Piece::Text(text) => behind_text(path, &places, text, self.any_case),
                Piece::Segment => behind_segment(path, &places),
                Piece::Line => behind_line(path, &places),
            };
        }
        places.iter().any(|place| match self.ends {
            Ends::Anywhere => true,
            Ends::Path => *place == path.len(),
            Ends::Segment => matches!(path.as_bytes().get(*place), None | Some(b'/')),
        })
    }

    /// Whether this character stands in one of its texts.
    pub(super) fn speaks_of(&self, character: char) -> bool {
        self.texts().any(|text| text.contains(character))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(&**text),
            Piece::Segment | Piece::Line => None,
        })
    }
}

/// Whether what follows this is escaped by it.
fn is_escape(text: &str) -> bool {
    let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\');
    backslashes.count() % 2 == 1
}

fn pieces(mut rest: &str) -> Option<Vec<Piece>> {
    let mut pieces = Pieces::default();
    while !rest.is_empty() {
        if let Some((piece, after)) = wildcard(rest) {
            pieces.push(piece);
            rest = after;
        } else {
            let (letter, after) = letter(rest)?;
            pieces.text.push(letter);
            rest = after;
        }
    }
    Some(pieces.finish())
}

/// Pieces that are put together, of which the last one may be a text that goes on.
#[derive(Default)]
struct Pieces {
    all: Vec<Piece>,
    text: String,
}

impl Pieces {
    fn push(&mut self, piece: Piece) {
        self.end_text();
        self.all.push(piece);
    }

    fn finish(mut self) -> Vec<Piece> {
        self.end_text();
        self.all
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.all.push(Piece::Text(self.text.as_str().into()));
            self.text.clear();
        }
    }
}

/// The wildcard that an expression begins with, and what follows it.
fn wildcard(rest: &str) -> Option<(Piece, &str)> {
    match rest.as_bytes().first()? {
        b'(' | b'[' => {
            let after = SEGMENTS.iter().find_map(|it| rest.strip_prefix(it));
            after.map(|after| (Piece::Segment, after))
        }
        b'.' => rest.strip_prefix(".*").map(|after| (Piece::Line, after)),
        _ => None,
    }
}

/// The character that an expression begins with, and what follows it; nothing of one that begins with an operator.
fn letter(rest: &str) -> Option<(char, &str)> {
    const SPECIAL: &str = "\\.+*?()|[]{}^$";
    const ESCAPED: &str = "\\.+*?()|[]{}^$#&-~/";
    let mut letters = rest.chars();
    let letter = match letters.next()? {
        '\\' => letters.next().filter(|next| ESCAPED.contains(*next)),
        letter => Some(letter).filter(|letter| !SPECIAL.contains(*letter)),
    };
    Some((letter?, letters.as_str()))
}

/// Where a character begins, and the end.
fn boundaries(path: &str) -> impl Iterator<Item = usize> {
    let begins = path.char_indices().map(|(at, _)| at);
    begins.chain([path.len()])
}

/// Where one is who stood at one of these places and has read the text.
fn behind_text(path: &str, places: &[usize], text: &str, any_case: bool) -> Vec<usize> {
    let read = |place: &usize| {
        let rest = &path[*place..];
        let rest = match any_case {
            true => after_letters(rest, text),
            false => rest.strip_prefix(text),
        };
        rest.map(|rest| path.len() - rest.len())
    };
    places.iter().filter_map(read).collect()
}

/// The path behind the text, whatever its case.
fn after_letters<'a>(path: &'a str, text: &str) -> Option<&'a str> {
    let mut letters = path.chars();
    for letter in text.chars() {
        letters.next().filter(|it| folded(*it) == folded(letter))?;
    }
    Some(letters.as_str())
}

/// Two characters beyond ASCII are letters of ASCII in another case.
fn folded(letter: char) -> char {
    match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    }
}

fn behind_segment(path: &str, places: &[usize]) -> Vec<usize> {
    let mut places = places.iter().copied().peekable();
    let mut is_inside = false;
    let mut behind = Vec::new();
    for (at, letter) in path.char_indices() {
        is_inside |= places.next_if_eq(&at).is_some();
        is_inside &= letter != '/';
        if is_inside {
            behind.push(at + letter.len_utf8());
        }
    }
    behind
}

fn behind_line(path: &str, places: &[usize]) -> Vec<usize> {
    let mut places = places.iter().copied().peekable();
    let mut is_inside = false;
    let mut behind = Vec::new();
    for at in boundaries(path) {
        is_inside |= places.next_if_eq(&at).is_some();
        if is_inside {
            behind.push(at);
        }
        is_inside &= !path[at..].starts_with('\n');
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    #[test]
    fn what_is_more_than_texts_and_wildcards_is_left_to_others() {
        let check = |expression: &str, is_known: bool| {
            assert_eq!(
                Wildcards::parse(expression).is_some(),
                is_known,
                "{expression}"
            );
        };
        for known in [
            "",
            "^",
            "$",
            "/orders",
            r"/my\-orders/a\.b",
            "/é#~",
            "^/a",
            "/a$",
            "/a/[^/]+/b",
            r"/a/([^\/]+)/b",
            "^/a/[^/]+(/|$)",
            "/public/.*",
            "(?i)/Admin",
            r"/a\\$",
            r"/a\$",
        ] {
            check(known, true);
        }
        for other in [
            "/.", "/a?", "/[a]", "/(a)", "a|b", r"\d", r"\<", "\\", "a{2}", "[^/]+?", "[^/]+{2}",
            ".*?", "a^b", "a$b", "(?i)é", "(?s).*", "^^a", "a$$", "(/|$)?",
        ] {
            check(other, false);
        }
    }

    #[test]
    fn segments_may_be_any() {
        let check = |segments: &[Option<&str>], expression: &str| {
            let wildcards = Wildcards::below(segments.iter().copied());
            assert_eq!(Some(wildcards), Wildcards::parse(expression));
        };
        check(&[], "^(/|$)");
        check(&[Some("a.b"), None, Some("c")], r"^/a\.b/[^/]+/c(/|$)");
    }

    fn expression() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            "b",
            "k",
            "s",
            "ab",
            "/",
            "//",
            r"\.",
            "é",
            "[^/]+",
            r"([^\/]+)",
            ".*",
            "\n",
        ]);
        let pieces = proptest::collection::vec(piece, 0..7);
        let case = prop::sample::select(vec!["", "", "(?i)"]);
        let begin = prop::sample::select(vec!["", "^"]);
        let end = prop::sample::select(vec!["", "$", "(/|$)"]);
        (case, begin, pieces, end)
            .prop_map(|(case, begin, pieces, end)| format!("{case}{begin}{}{end}", pieces.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn they_are_found_where_regular_expressions_are(
            expression in expression(),
            path in "[abkAKs/.é\n\u{212a}\u{17f}]{0,12}",
        ) {
            if let Some(wildcards) = Wildcards::parse(&expression) {
                let expected = Regex::new(&expression).unwrap().is_match(&path);
                prop_assert_eq!(wildcards.is_in(&path), expected, "{:?} in {:?}", expression, path);
            } else {
                prop_assert!(expression.starts_with("(?i)") && expression.contains('é'));
            }
        }
    }
}
