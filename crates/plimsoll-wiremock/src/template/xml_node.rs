//! A node of XML as templates have it: prints itself, and has a name, a text and attributes.

use crate::document::xml::path::shown;
use crate::document::xml::{Document, ItemId, Kind};

/// A node that `xPath` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlNode {
    /// As it prints: an element as XML, anything else as its text.
    pub shown: String,
    pub name: String,
    pub text: String,
    pub attributes: Vec<(String, String)>,
}

impl XmlNode {
    /// The node at a place of a document.
    pub fn at(document: &Document, place: ItemId) -> Self {
        let name = match document.kind(place) {
            Kind::Element(name) | Kind::Attribute(name, _) => name.qualified.to_owned(),
            Kind::Instruction(target, _) => target.to_owned(),
            Kind::Text(_) => "#text".to_owned(),
            Kind::Comment(_) => "#comment".to_owned(),
            Kind::Root => "#document".to_owned(),
        };
        let attribute = |place: ItemId| match document.kind(place) {
            Kind::Attribute(name, value) => Some((name.qualified.to_owned(), value.to_owned())),
            _ => None,
        };
        Self {
            shown: shown(document, place),
            name,
            text: document.text(place),
            attributes: document.attributes(place).filter_map(attribute).collect(),
        }
    }
}
