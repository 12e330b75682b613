//! A document as text: indented by two, as WireMock hands elements on.
//!
//! An element that holds elements has each on a line of its own; one that holds text stands on one line. Text of white space alone between elements is
//! left out.
//!
//! Indentation of a deep document is as long as the square of its depth. So there is only so much of it: behind that, lines begin at the left.

use super::{Document, ItemId, Kind};

/// Spaces of indentation in any text, and for each byte of what is printed.
const SPACES: usize = 256 << 10;
const SPACES_A_BYTE: usize = 4;

/// A piece of indentation.
const BLANK: &str = "                                                                ";

/// The item at a place and what it contains.
pub fn indented(document: &Document, place: ItemId) -> String {
    print(document, place, Layout::Lines, usize::MAX)
}

/// The first part of the same, of about so many bytes.
pub fn beginning(document: &Document, place: ItemId, bytes: usize) -> String {
    print(document, place, Layout::Lines, bytes)
}

/// The document without lines and indentation.
pub fn compact(document: &Document, place: ItemId) -> String {
    print(document, place, Layout::Compact, usize::MAX)
}

fn print(document: &Document, place: ItemId, layout: Layout, most: usize) -> String {
    let printer = Printer {
        document,
        layout,
        spaces: match layout {
            Layout::Lines => SPACES + SPACES_A_BYTE * document.bytes(place),
            Layout::Compact => 0,
        },
        out: String::new(),
    };
    printer.print(place, most)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    Compact,
}

struct Printer<'d> {
    document: &'d Document,
    layout: Layout,
    /// Spaces that lines may still begin with.
    spaces: usize,
    out: String,
}

/// A step that is left to print.
enum Step<'d> {
    Item(ItemId, usize),
    Close(&'d str, usize),
}

impl<'d> Printer<'d> {
    /// Goes through the items with a list of its own, so that a deep document takes no stack.
    fn print(mut self, place: ItemId, most: usize) -> String {
        let mut steps = vec![Step::Item(place, 0)];
        while let Some(step) = steps.pop().filter(|_| self.out.len() <= most) {
            match step {
                Step::Item(place, depth) => self.item(place, depth, &mut steps),
                Step::Close(name, depth) => {
                    self.indent(depth);
                    self.close(name);
                    self.end_line();
                }
            }
        }
        self.out
    }

    fn item(&mut self, place: ItemId, depth: usize, steps: &mut Vec<Step<'d>>) {
        match self.document.kind(place) {
            Kind::Root => {
                let children = self.document.children(place).rev();
                steps.extend(children.map(|child| Step::Item(child, depth)));
            }
            Kind::Element(name) => self.element(place, name.qualified, depth, steps),
            Kind::Text(text) if text.trim().is_empty() => {}
            _ => {
                self.indent(depth);
                self.leaf(place);
                self.end_line();
            }
        }
    }

    fn element(&mut self, place: ItemId, name: &'d str, depth: usize, steps: &mut Vec<Step<'d>>) {
        let document = self.document;
        let is_text = |child| matches!(document.kind(child), Kind::Text(_));
        let is_empty = document.children(place).next().is_none();
        self.indent(depth);
        if is_empty {
            self.open(place, name, "/>");
            self.end_line();
        } else if document.children(place).all(is_text) {
            self.open(place, name, ">");
            for child in document.children(place) {
                self.leaf(child);
            }
            self.close(name);
            self.end_line();
        } else {
            self.open(place, name, ">");
            self.end_line();
            steps.push(Step::Close(name, depth));
            let children = document.children(place).rev();
            steps.extend(children.map(|child| Step::Item(child, depth + 1)));
        }
    }

    fn open(&mut self, place: ItemId, name: &str, end: &str) {
        self.out.push('<');
        self.out.push_str(name);
        for (prefix, uri) in self.document.declarations(place) {
            let colon = if prefix.is_empty() { "" } else { ":" };
            self.out.push_str(&format!(" xmlns{colon}{prefix}=\""));
            self.escaped(uri, "&quot;");
            self.out.push('"');
        }
        for attribute in self.document.attributes(place) {
            if let Kind::Attribute(name, value) = self.document.kind(attribute) {
                self.out.push(' ');
                self.out.push_str(name.qualified);
                self.out.push_str("=\"");
                self.escaped(value, "&quot;");
                self.out.push('"');
            }
        }
        self.out.push_str(end);
    }

    fn close(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    fn leaf(&mut self, place: ItemId) {
        match self.document.kind(place) {
            Kind::Text(text) => self.escaped(text, "\""),
            Kind::Comment(text) => self.out.push_str(&format!("<!--{text}-->")),
            Kind::Instruction(target, text) => self.out.push_str(&format!("<?{target} {text}?>")),
            _ => {}
        }
    }

    /// A text without the characters that XML gives a meaning.
    fn escaped(&mut self, text: &str, quote: &str) {
        let mut rest = text;
        while let Some(place) = rest.find(['&', '<', '>', '"']) {
            self.out.push_str(&rest[..place]);
            self.out.push_str(match rest.as_bytes()[place] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                _ => quote,
            });
            rest = &rest[place + 1..];
        }
        self.out.push_str(rest);
    }

    fn indent(&mut self, depth: usize) {
        let spaces = 2 * depth;
        if let Some(left) = self.spaces.checked_sub(spaces) {
            self.spaces = left;
            for start in (0..spaces).step_by(BLANK.len()) {
                self.out.push_str(&BLANK[..BLANK.len().min(spaces - start)]);
            }
        } else {
            self.spaces = 0;
        }
    }

    fn end_line(&mut self) {
        if self.layout == Layout::Lines {
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = Document::parse(text).unwrap();
        assert_eq!(indented(&document, document.top()), expected);
    }

    #[test]
    fn elements_stand_on_lines() {
        check("<a/>", "<a/>\n");
        check("<a>x &lt; \"y\"</a>", "<a>x &lt; \"y\"</a>\n");
        check(
            "<a b='&quot;&amp;'><c>x</c>\n<d/><!--n--></a>",
            "<a b=\"&quot;&amp;\">\n  <c>x</c>\n  <d/>\n  <!--n-->\n</a>\n",
        );
        check(
            "<n:a xmlns:n='urn:n' xmlns='urn:d'><b/></n:a>",
            "<n:a xmlns:n=\"urn:n\" xmlns=\"urn:d\">\n  <b/>\n</n:a>\n",
        );
    }

    #[test]
    fn a_deep_document_is_not_indented_to_its_end() {
        let depth = 20_000;
        let text = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let document = Document::parse(&text).unwrap();
        let lines = indented(&document, ItemId::ROOT);
        assert_eq!(lines.lines().count(), 2 * depth - 1);
        assert!(lines.starts_with("<a>\n  <a>\n    <a>\n"));
        assert!(lines.ends_with("\n</a>\n</a>\n"));
        assert!(lines.len() <= 2 * text.len() + SPACES + SPACES_A_BYTE * text.len());
    }
}
