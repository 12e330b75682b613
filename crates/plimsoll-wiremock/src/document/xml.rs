//! XML documents that own their text, so that a request's body is read once for however many stubs ask.
//!
//! Well-formedness, entities and namespaces are roxmltree's, and so is the tree; it keeps no references to anything outside. Documents that would cost it
//! more than a text's length allows is refused by `xml/limits.rs`. Paths are left to `xml/path.rs`, comparing to `xml/equality.rs`, printing to
//! `xml/print.rs`.

mod date_text;
pub(crate) mod equality;
mod external;
mod limits;
pub(crate) mod naming;
mod node;
pub(crate) mod path;
mod placeholder;
pub(crate) mod print;

use roxmltree::{NodeId, NodeType, ParsingOptions};
use self_cell::self_cell;
use std::num::NonZeroU32;

/// Prefixes of one document that nothing declares, at most.
const MOST_UNDECLARED: usize = 8;
/// Prefix of the namespaces of such prefixes.
const UNDECLARED: &str = "urn:plimsoll:undeclared:";

self_cell! {
    /// A text and the tree that was read from it.
    struct Parsed {
        owner: String,

        #[covariant]
        dependent: Tree,
    }

    impl {Debug}
}

type Tree<'t> = roxmltree::Document<'t>;

/// A document.
#[derive(Debug)]
pub struct Document {
    parsed: Parsed,
    /// Whether every prefix is declared.
    declared: bool,
}

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is no XML.
    #[error("{0}")]
    Malformed(String),
    /// It may be, and would cost more than its length allows.
    #[error("{0}")]
    TooCostly(String),
}

/// Where an item stands: in document order, an element before its attributes, and those before what it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    node: u32,
    /// 0 for the node itself, otherwise which of its attributes it is, from 1.
    attribute: u32,
}

/// A namespace that an element declares: where the element stands, and which of its declarations it is, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Declaration {
    node: u32,
    number: NonZeroU32,
}

impl ItemId {
    /// That of the root, which holds all else.
    pub const ROOT: Self = Self {
        node: 0,
        attribute: 0,
    };

    fn of(node: roxmltree::Node<'_, '_>) -> Self {
        Self {
            node: node.id().get(),
            attribute: 0,
        }
    }
}

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'d> {
    /// The document.
    Root,
    /// An element.
    Element(Name<'d>),
    /// An attribute and its value.
    Attribute(Name<'d>, &'d str),
    /// Text; CDATA is text, too.
    Text(&'d str),
    /// A comment.
    Comment(&'d str),
    /// A processing instruction: target and data.
    Instruction(&'d str, &'d str),
}

/// A name as it is written, and the namespace that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'d> {
    /// With its prefix.
    pub qualified: &'d str,
    /// The URI of its namespace.
    pub namespace: Option<&'d str>,
}

impl<'d> Name<'d> {
    /// The name behind the prefix.
    pub fn local(&self) -> &'d str {
        let colon = memchr::memchr(b':', self.qualified.as_bytes());
        colon.map_or(self.qualified, |at| &self.qualified[at + 1..])
    }
}

impl Document {
    /// Reads a document; the error says where and why there is none. Prefixes that nothing declares are taken as they are, as WireMock's parser
    /// does.
    pub fn parse(text: &str) -> Result<Self, Unread> {
        limits::check(text).map_err(Unread::TooCostly)?;
        let mut text = external::left_out(text).into_owned();
        for _ in 0..=MOST_UNDECLARED {
            let declared = !text.contains(UNDECLARED);
            match Parsed::try_new_or_recover(text, |text| read(text)) {
                Ok(parsed) => return Ok(Self { parsed, declared }),
                Err((read, roxmltree::Error::UnknownNamespace(prefix, _))) => {
                    text = declaring(&read, &prefix).map_err(Unread::Malformed)?;
                }
                Err((_, error @ roxmltree::Error::NodesLimitReached)) => {
                    return Err(Unread::TooCostly(error.to_string()));
                }
                Err((_, error)) => return Err(Unread::Malformed(error.to_string())),
            }
        }
        Err(Unread::Malformed(format!(
            "more than {MOST_UNDECLARED} prefixes are not declared"
        )))
    }

    /// Whether every prefix is declared.
    pub fn is_declared(&self) -> bool {
        self.declared
    }

    /// Bytes of its text.
    pub fn byte_count(&self) -> usize {
        self.parsed.borrow_owner().len()
    }

    fn source(&self) -> &str {
        self.parsed.borrow_owner()
    }

    fn node(&self, place: ItemId) -> roxmltree::Node<'_, '_> {
        let node = self
            .parsed
            .borrow_dependent()
            .get_node(NodeId::new(place.node));
        node.expect("invariant: a place is that of a node of this document")
    }

    fn is_element(&self, place: ItemId) -> bool {
        place.attribute == 0 && self.node(place).is_element()
    }

    fn attribute(&self, place: ItemId) -> Option<roxmltree::Attribute<'_, '_>> {
        let index = usize::try_from(place.attribute.checked_sub(1)?).ok()?;
        self.node(place).attributes().nth(index)
    }

    /// The item at a place.
    pub fn kind(&self, place: ItemId) -> Kind<'_> {
        if let Some(attribute) = self.attribute(place) {
            let name = Name {
                qualified: &self.source()[attribute.range_qname()],
                namespace: attribute.namespace(),
            };
            return Kind::Attribute(name, attribute.value());
        }
        let node = self.node(place);
        let text = node.text().unwrap_or_default();
        match node.node_type() {
            NodeType::Root => Kind::Root,
            NodeType::Element => Kind::Element(Name {
                qualified: qualified_name(node, self.source()),
                namespace: node.tag_name().namespace(),
            }),
            NodeType::PI => {
                let instruction = node.pi();
                let (target, value) = instruction.map_or(("", None), |own| (own.target, own.value));
                Kind::Instruction(target, value.unwrap_or_default())
            }
            NodeType::Comment => Kind::Comment(text),
            NodeType::Text => Kind::Text(text),
        }
    }

    /// The place of the element that holds all others.
    #[cfg(test)]
    pub fn top(&self) -> ItemId {
        ItemId::of(self.parsed.borrow_dependent().root_element())
    }

    /// The places of all texts and attributes.
    fn texts(&self) -> impl Iterator<Item = ItemId> + '_ {
        let nodes = self.parsed.borrow_dependent().descendants().map(ItemId::of);
        let each = nodes.flat_map(|place| std::iter::once(place).chain(self.attributes(place)));
        each.filter(|place| matches!(self.kind(*place), Kind::Text(_) | Kind::Attribute(..)))
    }

    /// The place of what contains an item.
    pub fn parent(&self, place: ItemId) -> Option<ItemId> {
        if place.attribute > 0 {
            return Some(ItemId {
                attribute: 0,
                ..place
            });
        }
        self.node(place).parent().map(ItemId::of)
    }

    /// The places of an element's attributes.
    pub fn attributes(&self, place: ItemId) -> impl Iterator<Item = ItemId> + use<> {
        let count = match place.attribute {
            0 => u32::try_from(self.node(place).attributes().len()).unwrap_or(u32::MAX),
            _ => 0,
        };
        (1..=count).map(move |attribute| ItemId { attribute, ..place })
    }

    /// The places of what an item contains, without attributes.
    pub fn children(&self, place: ItemId) -> impl DoubleEndedIterator<Item = ItemId> + '_ {
        let own = (place.attribute == 0).then(|| self.node(place));
        own.into_iter()
            .flat_map(|node| node.children())
            .map(ItemId::of)
    }

    /// How many items an item stands in.
    fn depth(&self, place: ItemId) -> usize {
        self.node(place).ancestors().count()
    }

    /// How many bytes an item has in the text, with all that it contains.
    pub fn bytes(&self, place: ItemId) -> usize {
        self.attribute(place)
            .map_or_else(|| self.node(place).range().len(), |own| own.range().len())
    }

    /// All text within an item, one after the other.
    pub fn text(&self, place: ItemId) -> String {
        match self.kind(place) {
            Kind::Root | Kind::Element(..) => {
                let within = self.node(place).descendants();
                let texts = within.filter(roxmltree::Node::is_text);
                texts.filter_map(|node| node.text()).collect()
            }
            Kind::Attribute(_, text)
            | Kind::Text(text)
            | Kind::Comment(text)
            | Kind::Instruction(_, text) => text.to_owned(),
        }
    }

    /// The namespaces that an element declares itself: prefix, empty for the default, and URI.
    pub fn declarations(&self, place: ItemId) -> Vec<(&str, &str)> {
        declarations(self.node(place))
    }

    /// The namespaces that are declared where an element stands.
    fn namespaces(&self, place: ItemId) -> Vec<Declaration> {
        let mut found: Vec<Declaration> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut next = Some(place);
        while let Some(place) = next {
            for (number, (prefix, _)) in (1..).zip(self.declarations(place)) {
                if !names.contains(&prefix) {
                    names.push(prefix);
                    let number = NonZeroU32::new(number);
                    found.extend(number.map(|number| Declaration {
                        node: place.node,
                        number,
                    }));
                }
            }
            next = self.parent(place);
        }
        found
    }

    /// A declaration: prefix and URI.
    fn declared(&self, declaration: Declaration) -> (&str, &str) {
        let place = ItemId {
            node: declaration.node,
            attribute: 0,
        };
        let mut declared = (1..).zip(self.declarations(place));
        let own = declared.find(|(number, _)| *number == declaration.number.get());
        own.map(|(_, declared)| declared).unwrap_or_default()
    }
}

fn read(text: &str) -> Result<Tree<'_>, roxmltree::Error> {
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: u32::try_from(limits::most_parts(text.len())).unwrap_or(u32::MAX),
        ..ParsingOptions::default()
    };
    Tree::parse_with_options(text, options)
}

/// An element's name with its prefix, as it stands in the source; one out of an entity has none.
fn qualified_name<'d>(node: roxmltree::Node<'d, '_>, text: &'d str) -> &'d str {
    let local = node.tag_name().name();
    let source = text.get(node.range().start + 1..).unwrap_or_default();
    let end = source.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    let written = &source[..end.unwrap_or(source.len())];
    match written.split_once(':') {
        Some((_, own)) if own == local => written,
        _ => local,
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

fn declarations<'d>(node: roxmltree::Node<'d, '_>) -> Vec<(&'d str, &'d str)> {
    // An element without declarations of its own shares those of its parent.
    let above: Vec<_> = match node.parent() {
        Some(parent) => {
            let (own, theirs) = (node.namespaces(), parent.namespaces());
            if own
                .clone()
                .map(std::ptr::from_ref)
                .eq(theirs.clone().map(std::ptr::from_ref))
            {
                return Vec::new();
            }
            theirs.collect()
        }
        None => Vec::new(),
    };
    let is_above = |namespace: &roxmltree::Namespace<'_>| {
        let mut all = above.iter();
        all.any(|other| other.name() == namespace.name() && other.uri() == namespace.uri())
    };
    let own = node.namespaces().filter(|namespace| !is_above(namespace));
    own.filter(|namespace| namespace.name() != Some("xml"))
        .filter(|namespace| !namespace.uri().starts_with(UNDECLARED))
        .map(|namespace| (namespace.name().unwrap_or_default(), namespace.uri()))
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
        let Kind::Element(name) = document.kind(top) else {
            panic!("{document:?}");
        };
        assert_eq!((name.qualified, name.local()), ("a:x", "x"));
        assert_eq!(name.namespace, Some("urn:a"));
        assert_eq!(document.declarations(top), [("a", "urn:a")]);
        assert_eq!(document.attributes(top).count(), 2);
        assert_eq!(document.children(top).count(), 4);
        assert_eq!(document.text(top), "t<&");
        assert_eq!(document.children(ItemId::ROOT).count(), 2);
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
        let Kind::Element(name) = document.kind(document.top()) else {
            panic!("{document:?}");
        };
        assert_eq!(name.qualified, "n:a");
        assert!(document.declarations(document.top()).is_empty());
    }

    #[test]
    fn depth_and_entities_do_no_harm() {
        let deep = format!("{}{}", "<a>".repeat(50_000), "</a>".repeat(50_000));
        let document = Document::parse(&deep).unwrap();
        assert_eq!(document.text(ItemId::ROOT), "");
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
