//! Options of curl by name: which are passed over, which are short for others, which take a value.

/// Options that change what curl shows or how it goes about it, and not the request.
pub(super) const PASSED_OVER: [&str; 16] = [
    "--silent",
    "--output",
    "--write-out",
    "--dump-header",
    "--basic",
    "--show-error",
    "--verbose",
    "--include",
    "--no-progress-meter",
    "--progress-bar",
    "--no-buffer",
    "--fail",
    "--globoff",
    "--http1.1",
    "--path-as-is",
    "--no-keepalive",
];

/// The short options and what they stand for.
const SHORT: [(char, &str); 25] = [
    ('o', "--output"),
    ('w', "--write-out"),
    ('D', "--dump-header"),
    ('F', "--form"),
    ('X', "--request"),
    ('H', "--header"),
    ('d', "--data"),
    ('u', "--user"),
    ('b', "--cookie"),
    ('A', "--user-agent"),
    ('e', "--referer"),
    ('k', "--insecure"),
    ('L', "--location"),
    ('G', "--get"),
    ('I', "--head"),
    ('m', "--max-time"),
    ('E', "--cert"),
    ('s', "--silent"),
    ('S', "--show-error"),
    ('v', "--verbose"),
    ('i', "--include"),
    ('#', "--progress-bar"),
    ('N', "--no-buffer"),
    ('f', "--fail"),
    ('g', "--globoff"),
];

/// The options that take a value.
pub(super) const WITH_VALUE: [&str; 23] = [
    "--output",
    "--write-out",
    "--dump-header",
    "--form",
    "--form-string",
    "--request",
    "--header",
    "--data",
    "--data-ascii",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "--user",
    "--cookie",
    "--user-agent",
    "--referer",
    "--url",
    "--max-time",
    "--cert",
    "--key",
    "--cacert",
    "--oauth2-bearer",
];

/// The options in one word, in their long form, each with a value that is attached to it. A word that is no option is a URL.
pub(super) fn options(word: &str) -> Result<Vec<(String, Option<String>)>, String> {
    if word.starts_with("--") {
        return Ok(vec![(word.to_owned(), None)]);
    }
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
        return Ok(vec![("--url".to_owned(), Some(word.to_owned()))]);
    };
    let mut found = Vec::new();
    for (at, letter) in letters.char_indices() {
        let long = SHORT.iter().find(|(short, _)| *short == letter);
        let (_, long) = long.ok_or_else(|| unknown(&format!("-{letter}")))?;
        if !WITH_VALUE.contains(long) {
            found.push(((*long).to_owned(), None));
            continue;
        }
        let attached = &letters[at + letter.len_utf8()..];
        let attached = (!attached.is_empty()).then(|| attached.to_owned());
        found.push(((*long).to_owned(), attached));
        break;
    }
    Ok(found)
}

pub(super) fn unknown(option: &str) -> String {
    format!(
        "curl's `{option}` has no equivalent here: leave it out, or say the same with options of `plimsoll load`"
    )
}
