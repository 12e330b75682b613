//! YAML text to a tree, by the events of `saphyr-parser`.
//!
//! Built without recursion, so that depth is a limit and not a crash.

mod brackets;
mod builder;

use builder::{Builder, Proceed, position};

use brackets::Watched;
use saphyr_parser::Parser;

use super::problem::{Problem, Problems};
use super::tree::{Node, Position};
use super::{MAX_TEXT_BYTES, json};

/// Parses one document; problems carry `file`.
pub(super) fn parse(file: &str, text: &str) -> Result<Node, Problems> {
    parse_either(file, text).map(|(root, _)| root)
}

/// Which language a text was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    Yaml,
}

/// Parses a document of either language, and says whether it is JSON.
pub(super) fn parse_either(file: &str, text: &str) -> Result<(Node, Language), Problems> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!(
            "the file has {} bytes; at most {MAX_TEXT_BYTES} are read",
            text.len()
        );
        return Err(Problem::of_file(file, message).into());
    }
    let not_json = match as_json(file, text) {
        Some(Ok(root)) => return root.map(|root| (root, Language::Json)),
        Some(Err(problems)) => Some(problems),
        None => None,
    };
    let mut builder = Builder::new(file, text.len());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(bracket) = read(text, &mut builder) {
        builder.refuse(position_in(text, bracket), too_much_in_brackets());
        // Whoever meant to write JSON is told where it is none.
        builder.problems.extend(not_json.into_iter().flatten());
    }
    builder.finish().map(|root| (root, Language::Yaml))
}

/// Reads the text; where the brackets begin that hold too much, if any do.
fn read(text: &str, builder: &mut Builder<'_>) -> Option<usize> {
    let (watched, watch) = Watched::of(text);
    let mut parser = Parser::new_from_iter(watched);
    while let Some(next) = parser.next_event() {
        if watch.refused().is_some() {
            break;
        }
        let proceed = match next {
            Ok((event, span)) => {
                watch.tell(span.end.index());
                builder.take(event, span)
            }
            Err(error) => {
                builder.refuse(position(*error.marker()), syntax_message(error.info()));
                Proceed::Stop
            }
        };
        if matches!(proceed, Proceed::Stop) {
            break;
        }
    }
    watch.refused()
}

/// JSON, which is most of what begins with a bracket: a YAML parser may take little of it at once. Problems are those of text that is none.
fn as_json(file: &str, text: &str) -> Option<Result<Result<Node, Problems>, Problems>> {
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    let is_bracketed = begins.starts_with(['[', '{']);
    is_bracketed.then(|| json::read(file, text))
}

fn too_much_in_brackets() -> String {
    format!(
        "more YAML in brackets than {} of `[]{{}},:`: write it in lines, or all of the file as JSON",
        brackets::MOST_MARKS
    )
}

fn position_in(text: &str, at: usize) -> Position {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Position {
        source: 0,
        line: number(before.matches('\n').count() + 1),
        column: number(before[line..].chars().count() + 1),
    }
}

fn syntax_message(info: &str) -> String {
    if info.contains("tab") {
        return "a tab where YAML allows only spaces: indent with spaces".to_owned();
    }
    if info.contains("Unicode character escape") {
        return "an escape that stands for no character (YAML has no surrogate pairs): write the character itself"
            .to_owned();
    }
    format!("not valid YAML here: {info}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MAX_WAY_BYTES;
    use super::super::tree::Value;
    use super::*;

    fn check(text: &str, expected: &str) {
        let actual =
            parse("f.yaml", text).map_or_else(|problems| problems.to_string(), |node| show(&node));
        assert_eq!(actual, expected, "{text:?}");
    }

    fn show(node: &Node) -> String {
        match node.value() {
            Value::Sequence(items) => {
                format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" "))
            }
            Value::Mapping(entries) => {
                let shown = entries.iter().map(|entry| {
                    let at = entry.key_at();
                    format!(
                        "{}@{}:{}={}",
                        entry.key(),
                        at.line,
                        at.column,
                        show(entry.node())
                    )
                });
                format!("{{{}}}", shown.collect::<Vec<_>>().join(" "))
            }
            value => format!("{value:?}@{}:{}", node.at().line, node.at().column),
        }
    }

    #[test]
    fn scalars_are_typed_and_located() {
        check("a: 1", "{a@1:1=Integer(1)@1:4}");
        check("a: -1", "{a@1:1=Negative(-1)@1:4}");
        check("a: 1.5", "{a@1:1=Float(1.5)@1:4}");
        check("a: 99999999999999999999", "{a@1:1=Float(1e20)@1:4}");
        check("a: 007", "{a@1:1=Text(\"007\")@1:4}");
        check("a: 5000/s", "{a@1:1=Text(\"5000/s\")@1:4}");
        check("a: \"5\"", "{a@1:1=Text(\"5\")@1:4}");
        check("a: yes", "{a@1:1=Text(\"yes\")@1:4}");
        check(
            "a:\n  - true\n  - ~\n",
            "{a@1:1=[Boolean(true)@2:5 Null@3:5]}",
        );
        check("200: x", "{200@1:1=Text(\"x\")@1:6}");
        check(
            "{ \"a\": { b: [1, 2] } }",
            "{a@1:3={b@1:10=[Integer(1)@1:14 Integer(2)@1:17]}}",
        );
        check(
            "{\"a\":1,\n\t\"b\":\"\\u00e4\"}",
            "{a@1:2=Integer(1)@1:6 b@2:2=Text(\"ä\")@2:6}",
        );
    }

    #[test]
    fn json_is_the_same_by_either_way() {
        for text in [
            "{\"a\": [1, -1, 1.5, 1e3, 99999999999999999999, \"\\n\", true, false, null],\n \"b\": {\"\": []}}",
            " [\n\t{}\n]",
        ] {
            let spaced = format!("{text} # not JSON");
            let is_json = |text: &str| matches!(as_json("f.yaml", text), Some(Ok(_)));
            assert!(is_json(text) && !is_json(&spaced));
            check(&spaced, &show(&parse("f.yaml", text).unwrap()));
        }
    }

    #[test]
    fn brackets_may_hold_so_much_that_is_not_json() {
        let items = |count: usize| "{a: 0123456789012345}, ".repeat(count);
        let few = items(brackets::MOST_MARKS / 8);
        assert!(
            parse(
                "f.yaml",
                &format!("- [{few}0]\n- [{few}0]\n- {{a: [{few}]}}\n")
            )
            .is_ok()
        );
        let many = items(brackets::MOST_MARKS / 3);
        let refused = "more YAML in brackets than 16384 of `[]{},:`: write it in lines, or all of the file as JSON";
        check(
            &format!("# ä\n- ü\n- [{many}0]\n"),
            &format!("f.yaml:3:3: {refused}"),
        );
        check(
            &format!("[{many}0]"),
            &format!("f.yaml:1:1: {refused}\nf.yaml:1:3: not JSON: write a key in double quotes"),
        );
        check(
            &format!("[0, &a [{many}0]]"),
            &format!(
                "f.yaml:1:1: {refused}\nf.yaml:1:5: not JSON: a value is expected here, with text in double quotes"
            ),
        );
        // What cannot be a key is read as it comes, and so is a text, in brackets, too.
        let text = "[0], ".repeat(brackets::MOST_MARKS);
        for text in [
            format!("a: [{many}0]"),
            format!("a: {{b: [{many}], c: [{many}]}}"),
            format!("a: [\"{text}\", '{text}', 0]"),
            format!("- \"{text}\"\n- |\n  {text}\n- x\n  {text}\n"),
            format!("# {text}\n- [0]\n"),
        ] {
            let refused = parse("f.yaml", &text).err();
            assert!(refused.is_none(), "{refused:?}");
        }
    }

    #[test]
    fn values_are_counted() {
        let lines = |count: usize| "- 0\n".repeat(count);
        assert!(parse("f.yaml", &lines(20_000)).is_ok());
        assert!(parse("f.yaml", &"- 0123456789012345\n".repeat(300_000)).is_ok());
        let flow = |count: usize| format!("a: [{}]\n", "0,".repeat(count));
        let refused = parse("f.yaml", &flow(17_000)).err();
        assert!(refused.is_none(), "{refused:?}");
        check(
            &flow(100_000),
            "f.yaml:1:54223: more than 27111 values in 200006 bytes: leave out what is not needed, or write several files",
        );
    }

    #[test]
    fn an_anchor_counts_as_a_value() {
        let text: String = (0..20_000).map(|n| format!("k{n}: &a b\n")).collect();
        let refused = parse("f.yaml", &text).unwrap_err();
        assert!(refused.len() < 15_000, "{}", refused.len());
        assert!(parse("f.yaml", &text.replace("&a ", "")).is_ok());
    }

    #[test]
    fn what_is_refused_says_where_and_why() {
        check("", "f.yaml: the file is empty");
        check(
            "a: 1\nb: 2\na: 3\n",
            "f.yaml:3:1: the key `a` is written twice (before on line 1): keep one",
        );
        check(
            "a: 1\na: 2\nb: [",
            "f.yaml:2:1: the key `a` is written twice (before on line 1): keep one\n\
             f.yaml:4:1: not valid YAML here: while parsing a node, did not find expected node content",
        );
        check(
            "a: &x 1\nb: *x\n",
            "f.yaml:1:4: anchors (`&name`) are not supported: write the value out where it is needed\n\
             f.yaml:2:4: aliases (`*name`) are not supported: write the value out",
        );
        check(
            "a: !!str 5\n",
            "f.yaml:1:4: tags are not supported: remove `!str`",
        );
        check(
            "a: 1\n---\nb: 2\n",
            "f.yaml:2:1: a second document begins here: keep one document per file",
        );
        check(
            "a:\n\tb: 1\n",
            "f.yaml:2:2: a tab where YAML allows only spaces: indent with spaces",
        );
        check(
            "? [a]\n: 1\n",
            "f.yaml:1:3: a key must be text, not a mapping or a list: write `key: value`",
        );
        check(
            &"[".repeat(100),
            "f.yaml:1:65: nested deeper than 64 levels",
        );
        // A key has at most 1024 characters in YAML.
        let levels = (0..8).map(|level| format!("{}{}:\n", " ".repeat(level), "k".repeat(1000)));
        let way: String = levels.collect();
        let last = |length| format!("{way}{}{}: 1\n", " ".repeat(8), "k".repeat(length));
        assert!(parse("f.yaml", &last(MAX_WAY_BYTES - 8000)).is_ok());
        check(
            &last(MAX_WAY_BYTES - 7999),
            "f.yaml:9:9: the keys down to this one have more than 8192 bytes together: write shorter ones",
        );
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC*") {
            drop(parse("f.yaml", &text));
        }

        #[test]
        fn yaml_like_text_never_panics(text in "[-a: \\n\\t\\[\\]{}&*!|>'\"#%@,?~0-9.\\\\]{0,60}") {
            drop(parse("f.yaml", &text));
        }
    }
}
