//! XML documents that own their text, so that a request's body is read once for however many stubs ask.
//!
//! What is well-formed, entities and namespaces are roxmltree's; it keeps no references to anything outside and stops at entities that grow.
//! Paths are left to `xml/path.rs`, comparing to `xml/equality.rs`, printing to `xml/print.rs`.

mod date_text;
pub(crate) mod equality;
mod node;
pub(crate) mod path;
mod placeholder;
pub(crate) mod print;

use roxmltree::{NodeType, ParsingOptions};
use std::borrow::Cow;

/// Nodes of one document at most.
const MOST_NODES: u32 = 500_000;

/// Prefixes of one document that nothing declares, at most.
const MOST_UNDECLARED: usize = 8;
/// What the namespaces of such prefixes begin with.
const UNDECLARED: &str = "urn:plimsoll:undeclared:";

/// A document: its items in document order, the root first. An element is followed by its attributes, then by what it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    items: Vec<Item>,
    /// Whether every prefix is declared.
    declared: bool,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    parent: Option<usize>,
    /// Where the first item after this one and all that it contains stands.
    end: usize,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Root,
    /// With the namespaces that it declares: prefix, empty for the default, and URI.
    Element(Name, Vec<(String, String)>),
    Attribute(Name, String),
    /// Text; CDATA is text, too.
    Text(String),
    Comment(String),
    Instruction(String, String),
}

/// A name as it is written, and the namespace that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) qualified: String,
    pub(crate) namespace: Option<String>,
}

impl Name {
    /// What stands after the prefix.
    pub(crate) fn local(&self) -> &str {
        self.qualified
            .split_once(':')
            .map_or(&self.qualified, |(_, local)| local)
    }
}

impl Document {
    /// Reads a document; the error says where and why there is none. Prefixes that nothing declares are taken as they are, as WireMock's parser
    /// does.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..=MOST_UNDECLARED {
            let options = ParsingOptions {
                allow_dtd: true,
                nodes_limit: MOST_NODES,
                ..ParsingOptions::default()
            };
            match roxmltree::Document::parse_with_options(&text, options) {
                Ok(read) => return Ok(Self::copy(&read, &text)),
                Err(roxmltree::Error::UnknownNamespace(prefix, _)) => {
                    text = Cow::Owned(declaring(&text, &prefix)?);
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!(
            "more than {MOST_UNDECLARED} prefixes are not declared"
        ))
    }

    /// Whether every prefix is declared.
    pub(crate) fn is_declared(&self) -> bool {
        self.declared
    }

    fn copy(read: &roxmltree::Document<'_>, text: &str) -> Self {
        let mut items: Vec<Item> = Vec::new();
        // Where the nodes of the other tree stand in this one.
        let mut places: Vec<usize> = Vec::new();
        for node in read.descendants() {
            let place = items.len();
            let own = node.id().get_usize();
            places.resize(own + 1, usize::MAX);
            places[own] = place;
            let parent = node.parent().map(|parent| places[parent.id().get_usize()]);
            items.push(Item {
                kind: kind_of(node, text),
                parent,
                end: place + 1,
            });
            items.extend(node.attributes().map(|attribute| {
                let name = Name {
                    qualified: text[attribute.range_qname()].to_owned(),
                    namespace: attribute.namespace().map(str::to_owned),
                };
                Item {
                    kind: Kind::Attribute(name, attribute.value().to_owned()),
                    parent: Some(place),
                    // Set below.
                    end: 0,
                }
            }));
        }
        // Backwards, so that what an item contains knows its end before it does.
        for place in (0..items.len()).rev() {
            let end = items[place].end.max(place + 1);
            items[place].end = end;
            if let Some(parent) = items[place].parent {
                items[parent].end = items[parent].end.max(end);
            }
        }
        Self {
            items,
            declared: !text.contains(UNDECLARED),
        }
    }

    /// The item at a place.
    pub(crate) fn item(&self, place: usize) -> &Item {
        &self.items[place]
    }

    /// The place of the element that holds all others.
    #[cfg(test)]
    pub(crate) fn top(&self) -> usize {
        let mut children = self.children(0);
        let element = children.find(|place| matches!(self.items[*place].kind, Kind::Element(..)));
        element.unwrap_or(0)
    }

    /// The place of what contains an item.
    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        self.items[place].parent
    }

    /// The places of an element's attributes.
    pub(crate) fn attributes(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        (place + 1..self.items[place].end)
            .take_while(|place| matches!(self.items[*place].kind, Kind::Attribute(..)))
    }

    /// The places of what an item contains, without attributes.
    pub(crate) fn children(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.items[place].end;
        let first = place + 1 + self.attributes(place).count();
        let next = move |place: &usize| self.items.get(*place).map(|item| item.end);
        std::iter::successors(Some(first), next).take_while(move |place| *place < end)
    }

    /// All text within an item, one after the other.
    pub(crate) fn text(&self, place: usize) -> String {
        let item = &self.items[place];
        match &item.kind {
            Kind::Root | Kind::Element(..) => {
                let within = &self.items[place + 1..item.end];
                let texts = within.iter().filter_map(|item| match &item.kind {
                    Kind::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                texts.collect()
            }
            Kind::Attribute(_, text)
            | Kind::Text(text)
            | Kind::Comment(text)
            | Kind::Instruction(_, text) => text.clone(),
        }
    }

    /// The namespaces that are declared where an element stands: the element that declares each, and which of its declarations it is.
    fn namespaces(&self, place: usize) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut next = Some(place);
        while let Some(place) = next {
            if let Kind::Element(_, declared) = &self.items[place].kind {
                for (slot, (prefix, _)) in declared.iter().enumerate() {
                    let shadowed =
                        |(at, slot): &(usize, usize)| self.declared(*at, *slot).0 == *prefix;
                    if !found.iter().any(shadowed) {
                        found.push((place, slot));
                    }
                }
            }
            next = self.items[place].parent;
        }
        found
    }

    /// A declaration of an element: prefix and URI.
    fn declared(&self, place: usize, slot: usize) -> (&str, &str) {
        match &self.items[place].kind {
            Kind::Element(_, declared) => declared
                .get(slot)
                .map_or(("", ""), |(prefix, uri)| (prefix, uri)),
            _ => ("", ""),
        }
    }
}

fn kind_of(node: roxmltree::Node<'_, '_>, text: &str) -> Kind {
    let own = || node.text().unwrap_or_default().to_owned();
    match node.node_type() {
        NodeType::Root => Kind::Root,
        NodeType::Element => {
            let name = Name {
                qualified: qualified_name(node, text),
                namespace: node.tag_name().namespace().map(str::to_owned),
            };
            Kind::Element(name, declarations(node))
        }
        NodeType::PI => {
            let (target, value) = node.pi().map_or(("", None), |instruction| {
                (instruction.target, instruction.value)
            });
            Kind::Instruction(target.to_owned(), value.unwrap_or_default().to_owned())
        }
        NodeType::Comment => Kind::Comment(own()),
        NodeType::Text => Kind::Text(own()),
    }
}

/// An element's name with its prefix, as it stands in the source; one out of an entity has none.
fn qualified_name(node: roxmltree::Node<'_, '_>, text: &str) -> String {
    let local = node.tag_name().name();
    let source = text.get(node.range().start + 1..).unwrap_or_default();
    let end = source.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    let written = &source[..end.unwrap_or(source.len())];
    match written.split_once(':') {
        Some((_, own)) if own == local => written.to_owned(),
        _ => local.to_owned(),
    }
}

/// The text with a prefix declared by its outermost element.
fn declaring(text: &str, prefix: &str) -> Result<String, String> {
    let mut rest = text;
    loop {
        let start = rest.find('<').ok_or("no element")?;
        rest = &rest[start..];
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!") {
            return Err(format!("the prefix {prefix} is not declared"));
        } else {
            break;
        };
        rest = &rest[rest.find(end).ok_or("no element")?..];
    }
    let name = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    let place = text.len() - rest.len() + name.ok_or("no element")?;
    let (before, after) = text.split_at(place);
    Ok(format!(
        "{before} xmlns:{prefix}=\"{UNDECLARED}{prefix}\"{after}"
    ))
}

/// The namespaces that an element declares itself.
fn declarations(node: roxmltree::Node<'_, '_>) -> Vec<(String, String)> {
    let above = |namespace: &roxmltree::Namespace<'_>| {
        node.parent().is_some_and(|parent| {
            let mut all = parent.namespaces();
            all.any(|other| other.name() == namespace.name() && other.uri() == namespace.uri())
        })
    };
    let own = node.namespaces().filter(|namespace| !above(namespace));
    own.filter(|namespace| namespace.name() != Some("xml"))
        .filter(|namespace| !namespace.uri().starts_with(UNDECLARED))
        .map(|namespace| {
            (
                namespace.name().unwrap_or_default().to_owned(),
                namespace.uri().to_owned(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_kept_in_their_order() {
        let document = Document::parse(
            "<?p q?><a:x xmlns:a='urn:a' a:b='1' c='2'>t<!-- n --><y/><![CDATA[<]]>&amp;</a:x>",
        )
        .unwrap();
        let top = document.top();
        let Kind::Element(name, declared) = &document.item(top).kind else {
            panic!("{document:?}");
        };
        assert_eq!((name.qualified.as_str(), name.local()), ("a:x", "x"));
        assert_eq!(name.namespace.as_deref(), Some("urn:a"));
        assert_eq!(*declared, [("a".to_owned(), "urn:a".to_owned())]);
        assert_eq!(document.attributes(top).count(), 2);
        assert_eq!(document.children(top).count(), 4);
        assert_eq!(document.text(top), "t<&");
        assert_eq!(document.children(0).count(), 2);
    }

    #[test]
    fn what_is_no_document_says_why() {
        for text in ["", "text", "<a>", "<a/><b/>", "<!DOCTYPE a><n:a/>"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn prefixes_need_no_declaration() {
        let document = Document::parse("<?x?><!-- <a --><n:a m:b='1'><m:c/></n:a>").unwrap();
        assert!(!document.is_declared());
        let Kind::Element(name, declared) = &document.item(document.top()).kind else {
            panic!("{document:?}");
        };
        assert_eq!(name.qualified, "n:a");
        assert!(declared.is_empty());
    }

    #[test]
    fn depth_and_entities_do_no_harm() {
        let deep = format!("{}{}", "<a>".repeat(50_000), "</a>".repeat(50_000));
        let document = Document::parse(&deep).unwrap();
        assert_eq!(document.text(0), "");
        let mut laughs = "<!DOCTYPE l [<!ENTITY e0 'ha'>".to_owned();
        for level in 1..20 {
            let previous = level - 1;
            laughs.push_str(&format!("<!ENTITY e{level} '&e{previous};&e{previous};'>"));
        }
        laughs.push_str("]><l>&e19;</l>");
        assert!(Document::parse(&laughs).is_err());
        let file = "<!DOCTYPE l [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><l>&f;</l>";
        assert!(Document::parse(file).is_err());
    }
}
