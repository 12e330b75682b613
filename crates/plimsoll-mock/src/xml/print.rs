//! A document as text: indented by two, as WireMock hands elements on.
//!
//! An element that holds elements has each on a line of its own; one that holds text stands on one line. Text of white space alone between elements is
//! left out.

use super::{Document, Kind};

/// The item at a place and what it contains.
pub(crate) fn indented(document: &Document, place: usize) -> String {
    print(document, place, Layout::Lines)
}

/// The same without lines and indentation.
pub(crate) fn compact(document: &Document, place: usize) -> String {
    print(document, place, Layout::Compact)
}

fn print(document: &Document, place: usize, layout: Layout) -> String {
    let printer = Printer {
        document,
        layout,
        out: String::new(),
    };
    printer.print(place)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    Compact,
}

struct Printer<'d> {
    document: &'d Document,
    layout: Layout,
    out: String,
}

/// What is left to print.
enum Step {
    Item(usize, usize),
    Close(usize, usize),
}

impl Printer<'_> {
    /// Goes through the items with a list of its own, so that a deep document takes no stack.
    fn print(mut self, place: usize) -> String {
        let mut steps = vec![Step::Item(place, 0)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Item(place, depth) => self.item(place, depth, &mut steps),
                Step::Close(place, depth) => {
                    self.indent(depth);
                    self.close(place);
                    self.end_line();
                }
            }
        }
        self.out
    }

    fn item(&mut self, place: usize, depth: usize, steps: &mut Vec<Step>) {
        match &self.document.item(place).kind {
            Kind::Root => {
                let children: Vec<_> = self.document.children(place).collect();
                steps.extend(
                    children
                        .into_iter()
                        .rev()
                        .map(|child| Step::Item(child, depth)),
                );
            }
            Kind::Element(..) => self.element(place, depth, steps),
            Kind::Text(text) if text.trim().is_empty() => {}
            _ => {
                self.indent(depth);
                self.leaf(place);
                self.end_line();
            }
        }
    }

    fn element(&mut self, place: usize, depth: usize, steps: &mut Vec<Step>) {
        let mut children: Vec<_> = self.document.children(place).collect();
        let is_text = |child: &usize| matches!(self.document.item(*child).kind, Kind::Text(_));
        let has_elements = !children.iter().all(is_text);
        self.indent(depth);
        if children.is_empty() {
            self.open(place, "/>");
            self.end_line();
        } else if has_elements {
            self.open(place, ">");
            self.end_line();
            steps.push(Step::Close(place, depth));
            children.reverse();
            steps.extend(
                children
                    .into_iter()
                    .map(|child| Step::Item(child, depth + 1)),
            );
        } else {
            self.open(place, ">");
            for child in children {
                self.leaf(child);
            }
            self.close(place);
            self.end_line();
        }
    }

    fn open(&mut self, place: usize, end: &str) {
        let Kind::Element(name, declared) = &self.document.item(place).kind else {
            return;
        };
        self.out.push('<');
        self.out.push_str(&name.qualified);
        for (prefix, uri) in declared {
            let colon = if prefix.is_empty() { "" } else { ":" };
            self.out
                .push_str(&format!(" xmlns{colon}{prefix}=\"{}\"", escaped(uri)));
        }
        for attribute in self.document.attributes(place) {
            if let Kind::Attribute(name, value) = &self.document.item(attribute).kind {
                self.out
                    .push_str(&format!(" {}=\"{}\"", name.qualified, escaped(value)));
            }
        }
        self.out.push_str(end);
    }

    fn close(&mut self, place: usize) {
        if let Kind::Element(name, _) = &self.document.item(place).kind {
            self.out.push_str(&format!("</{}>", name.qualified));
        }
    }

    fn leaf(&mut self, place: usize) {
        match &self.document.item(place).kind {
            Kind::Text(text) => self.out.push_str(&escaped(text).replace("&quot;", "\"")),
            Kind::Comment(text) => self.out.push_str(&format!("<!--{text}-->")),
            Kind::Instruction(target, text) => self.out.push_str(&format!("<?{target} {text}?>")),
            _ => {}
        }
    }

    fn indent(&mut self, depth: usize) {
        if self.layout == Layout::Lines {
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    fn end_line(&mut self) {
        if self.layout == Layout::Lines {
            self.out.push('\n');
        }
    }
}

/// A text without the characters that XML gives a meaning.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
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
}
