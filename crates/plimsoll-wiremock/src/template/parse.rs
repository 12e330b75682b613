//! A template's text as parts: text, output, blocks. The expressions within braces are left to `expression`.
//!
//! Errors carry line and column of the braces that they are about.

use super::expression;
use super::helper;
use super::render::program::{Block, BlockHead, ProgramPiece, TemplatePlace};
use std::ops::Range;

/// Blocks within blocks.
const DEEPEST: usize = 64;

/// One pair of braces, or the text before it.
#[derive(Debug)]
enum Token<'a> {
    Text(&'a str),
    Tag(Tag<'a>),
}

#[derive(Debug, Clone, Copy)]
struct Tag<'a> {
    /// `#`, `/`, `^`, `>` or none.
    sigil: Option<char>,
    /// Without braces, sigil and marks of white space.
    inner: &'a str,
    place: TemplatePlace,
}

/// The parts of a template.
pub fn parts(text: &str) -> Result<Vec<ProgramPiece>, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        next: 0,
    };
    let (parts, end) = parser.sequence(0)?;
    match end {
        None => Ok(parts),
        Some(tag) => Err(at(
            tag.place,
            &format!("{{{{{}}}}} has no beginning", shown(&tag)),
        )),
    }
}

/// A message with its place.
pub fn at(place: TemplatePlace, message: &str) -> String {
    format!("{}:{}: {message}", place.line, place.column)
}

fn shown(tag: &Tag<'_>) -> String {
    format!(
        "{}{}",
        tag.sigil.map_or(String::new(), String::from),
        tag.inner
    )
}

/// Cuts a text at its braces. `{{` that no `}}` follows is text, as is `}}` alone. As in WireMock, `~` takes no white space from what
/// stands before the first braces and after the last.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut from = 0;
    let mut trim_next = false;
    while let Some(found) = find_tag(text, from) {
        let place = place_of(text, found.whole.start);
        let mut before = &text[from..found.whole.start];
        if trim_next {
            before = before.trim_start();
        }
        if found.trims_before && from > 0 {
            before = before.trim_end();
        }
        if !before.is_empty() {
            tokens.push(Token::Text(before));
        }
        trim_next = found.trims_after;
        from = found.whole.end;
        if let Some((sigil, inner)) = meaning(&text[found.inner], place)? {
            tokens.push(Token::Tag(Tag {
                sigil,
                inner,
                place,
            }));
        }
    }
    let rest = &text[from..];
    if !rest.is_empty() {
        tokens.push(Token::Text(rest));
    }
    Ok(tokens)
}

/// Braces in a text.
struct Braces {
    whole: Range<usize>,
    inner: Range<usize>,
    trims_before: bool,
    trims_after: bool,
}

fn find_tag(text: &str, from: usize) -> Option<Braces> {
    let start = from + text[from..].find("{{")?;
    let after = &text[start..];
    let (open, close) = if after.starts_with("{{!--") || after.starts_with("{{~!--") {
        (2, "--}}")
    } else if after.starts_with("{{{") {
        (3, "}}}")
    } else {
        (2, "}}")
    };
    let end = start + open + closing(&after[open..], close)?;
    let (mut inner, whole_end) = (start + open..end, end + close.len());
    let trims_before = text[inner.clone()].starts_with('~');
    inner.start += usize::from(trims_before);
    let trims_after = inner.end > inner.start && text[inner.clone()].ends_with('~');
    inner.end -= usize::from(trims_after);
    Some(Braces {
        whole: start..whole_end,
        inner,
        trims_before,
        trims_after,
    })
}

/// Where `close` begins, outside quotes; a comment has none.
fn closing(text: &str, close: &str) -> Option<usize> {
    if text.trim_start_matches('~').starts_with('!') {
        return text.find(close);
    }
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, _) if text[at..].starts_with(close) => return Some(at),
            _ => {}
        }
    }
    // A quote that does not end is an apostrophe.
    quote.and_then(|_| text.find(close))
}

/// The sigil of a tag and the rest; `None` for a comment.
fn meaning(inner: &str, place: TemplatePlace) -> Result<Option<(Option<char>, &str)>, String> {
    let inner = inner.trim();
    Ok(match inner.chars().next() {
        None => return Err(at(place, "nothing stands between the braces")),
        Some('!') => None,
        Some('&') => Some((None, inner[1..].trim())),
        Some(sigil @ ('#' | '/' | '^')) => Some((Some(sigil), inner[1..].trim())),
        Some('>') => return Err(at(place, "partials are not available in this version")),
        Some(_) => Some((None, inner)),
    })
}

fn place_of(text: &str, at: usize) -> TemplatePlace {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    TemplatePlace {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// Builds parts from tokens.
struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    next: usize,
}

impl<'a> Parser<'_, 'a> {
    /// Parts up to a tag that ends them: `else`, `^` or `/`.
    fn sequence(&mut self, depth: usize) -> Result<(Vec<ProgramPiece>, Option<Tag<'a>>), String> {
        let mut parts = Vec::new();
        while let Some(token) = self.tokens.get(self.next) {
            self.next += 1;
            let tag = match token {
                Token::Text(text) => {
                    parts.push(ProgramPiece::Text((*text).to_owned()));
                    continue;
                }
                Token::Tag(tag) => *tag,
            };
            if depth == DEEPEST {
                return Err(at(
                    tag.place,
                    &format!("more than {DEEPEST} blocks within each other"),
                ));
            }
            match tag.sigil {
                Some('#') => parts.push(self.block(tag, depth)?),
                Some('^') if !tag.inner.is_empty() => parts.push(self.inverted(tag, depth)?),
                Some(_) => return Ok((parts, Some(tag))),
                None if else_of(tag.inner).is_some() => return Ok((parts, Some(tag))),
                None => parts.push(ProgramPiece::Output(
                    expression::output(tag.inner, tag.place).map_err(|e| at(tag.place, &e))?,
                )),
            }
        }
        Ok((parts, None))
    }

    fn block(&mut self, tag: Tag<'a>, depth: usize) -> Result<ProgramPiece, String> {
        let (head, names) = block_head(tag.inner, tag.place)?;
        let (body, otherwise) = self.rest(tag, depth)?;
        Ok(ProgramPiece::Block(Box::new(Block {
            head,
            names,
            body,
            otherwise,
        })))
    }

    /// `{{^value}}…{{/value}}`.
    fn inverted(&mut self, tag: Tag<'a>, depth: usize) -> Result<ProgramPiece, String> {
        let (head, names) = block_head(tag.inner, tag.place)?;
        let (otherwise, body) = self.rest(tag, depth)?;
        Ok(ProgramPiece::Block(Box::new(Block {
            head,
            names,
            body,
            otherwise,
        })))
    }

    /// The rest of a block, up to its end: the body and the part behind `else`.
    fn rest(
        &mut self,
        tag: Tag<'a>,
        depth: usize,
    ) -> Result<(Vec<ProgramPiece>, Vec<ProgramPiece>), String> {
        let (body, end) = self.sequence(depth + 1)?;
        let end = end.ok_or_else(|| unclosed(&tag))?;
        if end.sigil == Some('/') {
            check_end(&tag, &end)?;
            return Ok((body, Vec::new()));
        }
        let chained = match end.sigil {
            None => else_of(end.inner).unwrap_or_default(),
            Some(_) => "",
        };
        if chained.is_empty() {
            let (otherwise, end) = self.sequence(depth + 1)?;
            let end = end.ok_or_else(|| unclosed(&tag))?;
            check_end(&tag, &end)?;
            return Ok((body, otherwise));
        }
        // `{{else if …}}` is a block of its own whose end is that of the whole.
        let (head, names) = block_head(chained, end.place)?;
        let (inner, otherwise) = self.rest(tag, depth + 1)?;
        let block = Block {
            head,
            names,
            body: inner,
            otherwise,
        };
        Ok((body, vec![ProgramPiece::Block(Box::new(block))]))
    }
}

fn unclosed(tag: &Tag<'_>) -> String {
    at(tag.place, &format!("{{{{{}}}}} has no end", shown(tag)))
}

fn check_end(start: &Tag<'_>, end: &Tag<'_>) -> Result<(), String> {
    let name = start.inner.split_whitespace().next().unwrap_or_default();
    if end.sigil == Some('/') && end.inner == name {
        return Ok(());
    }
    Err(at(
        end.place,
        &format!(
            "{{{{{}}}}} does not end {{{{{}}}}}",
            shown(end),
            shown(start)
        ),
    ))
}

/// The text behind `else`, empty if there is none.
fn else_of(inner: &str) -> Option<&str> {
    let rest = inner.strip_prefix("else")?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest.trim())
}

fn block_head(inner: &str, place: TemplatePlace) -> Result<(BlockHead, Vec<String>), String> {
    let with_place = |message: String| at(place, &message);
    let (inner, names) = block_names(inner).map_err(with_place)?;
    let name = inner.split_whitespace().next().unwrap_or_default();
    let head = match helper::find(name) {
        Some(helper) => BlockHead::Helper(
            expression::call(helper, inner[name.len()..].trim(), place).map_err(with_place)?,
        ),
        None => BlockHead::Section(expression::output(inner, place).map_err(with_place)?),
    };
    Ok((head, names))
}

/// Splits `… as |a b|`.
fn block_names(inner: &str) -> Result<(&str, Vec<String>), String> {
    let Some(before) = inner.strip_suffix('|') else {
        return Ok((inner, Vec::new()));
    };
    let (head, names) = before
        .rsplit_once('|')
        .ok_or("names stand between two `|`")?;
    let head = head.trim_end().strip_suffix("as");
    let head = head.ok_or("`as` stands before names")?;
    Ok((
        head.trim_end(),
        names.split_whitespace().map(str::to_owned).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, expected) in [
            ("a\n {{#if x}}", "2:2: {{#if x}} has no end"),
            ("{{/if}}", "1:1: {{/if}} has no beginning"),
            (
                "{{#if x}}{{/each}}",
                "1:10: {{/each}} does not end {{#if x}}",
            ),
            ("{{}}", "1:1: nothing stands between the braces"),
            ("{{> x}}", "1:1: partials are not available in this version"),
            ("{{nothing 1}}", "1:1: there is no helper `nothing`"),
            ("{{now (}}", "1:1: `(` has no end"),
            ("{{now 'x}}", "1:1: a quote has no end"),
            ("{{#each x as |y}}{{/each}}", "1:1: `|y` is not a path"),
            ("{{now a=}}", "1:1: a value is missing"),
            ("{{'x'}}", "1:1: "),
        ] {
            let error = parts(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn braces_that_do_not_end_are_text() {
        for text in ["{{request.url", "}} stray", "{ {a} }"] {
            assert!(matches!(&*parts(text).unwrap(), [ProgramPiece::Text(own)] if own == text));
        }
    }
}
