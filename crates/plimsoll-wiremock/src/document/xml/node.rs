//! A document as `xpath_eval` walks it.

use super::naming::Naming;
use super::{Declaration, Document, ItemId, Kind};
use crate::budget::Budget;
use roxmltree::NodeType;
use std::cmp::Ordering;
use xpath_eval::{ExpandedName, Node, NodeKind};

/// A node of a document, on a walk that may take so many steps: once they are spent, there is nothing more to be found.
#[derive(Debug, Clone, Copy)]
pub struct Here<'d> {
    walk: &'d Walk<'d>,
    pub place: ItemId,
    /// For a namespace of the element at `place`: who declares it, and which of its declarations it is.
    namespace: Option<Declaration>,
}

/// A walk over a document, as far as it has come.
#[derive(Debug)]
pub struct Walk<'d> {
    pub document: &'d Document,
    pub naming: &'d Naming,
    pub budget: Budget,
    /// Steps for each element, and for each thing else that stands in another.
    pub element: usize,
    pub weight: usize,
}

/// How much of a text is read in one step.
const BYTES_A_STEP: usize = 16;

impl<'d> Here<'d> {
    /// The root of a document.
    pub fn root(walk: &'d Walk<'d>) -> Self {
        Self {
            walk,
            place: ItemId::ROOT,
            namespace: None,
        }
    }

    fn at(self, place: ItemId) -> Self {
        Self {
            place,
            namespace: None,
            ..self
        }
    }

    /// Whether one may go on to something that stands in this.
    fn may_enter(self, place: ItemId) -> bool {
        self.may_go(match self.walk.document.is_element(place) {
            true => self.walk.element,
            false => self.walk.weight,
        })
    }

    /// Whether so many more steps may be taken.
    fn may_go(self, steps: usize) -> bool {
        self.walk.budget.spend(steps).is_ok()
    }

    fn order(&self) -> (ItemId, Option<Declaration>) {
        (self.place, self.namespace)
    }
}

impl PartialEq for Here<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Here<'_> {}

impl<'d> Node<'d> for Here<'d> {
    fn kind(self) -> NodeKind {
        if self.namespace.is_some() {
            return NodeKind::Namespace;
        }
        if self.place.attribute > 0 {
            return NodeKind::Attribute;
        }
        match self.walk.document.node(self.place).node_type() {
            NodeType::Root => NodeKind::Root,
            NodeType::Element => NodeKind::Element,
            NodeType::Text => NodeKind::Text,
            NodeType::Comment => NodeKind::Comment,
            NodeType::PI => NodeKind::ProcessingInstruction,
        }
    }

    fn parent(self) -> Option<Self> {
        if !self.may_go(1) {
            return None;
        }
        if self.namespace.is_some() {
            return Some(self.at(self.place));
        }
        Some(self.at(self.walk.document.parent(self.place)?))
    }

    fn children(self) -> impl Iterator<Item = Self> + 'd {
        let own = self
            .namespace
            .is_none()
            .then(|| self.walk.document.children(self.place));
        own.into_iter()
            .flatten()
            .take_while(move |place| self.may_enter(*place))
            .map(move |place| self.at(place))
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'd {
        let own = self
            .namespace
            .is_none()
            .then(|| self.walk.document.attributes(self.place));
        own.into_iter()
            .flatten()
            .take_while(move |_| self.may_go(self.walk.weight))
            .map(move |place| self.at(place))
    }

    fn namespaces(self) -> impl Iterator<Item = Self> + 'd {
        let all = match self.kind() {
            // All elements around are asked.
            NodeKind::Element if self.may_go(self.walk.document.depth(self.place)) => {
                self.walk.document.namespaces(self.place)
            }
            _ => Vec::new(),
        };
        all.into_iter().map(move |declared| Self {
            namespace: Some(declared),
            ..self
        })
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        if let Some(declaration) = self.namespace {
            let (prefix, _) = self.walk.document.declared(declaration);
            return Some(ExpandedName {
                namespace_uri: None,
                local_name: prefix.to_owned(),
            });
        }
        match self.walk.document.kind(self.place) {
            Kind::Element(name) | Kind::Attribute(name, _) => Some(ExpandedName {
                namespace_uri: name.namespace.map(str::to_owned),
                local_name: name.local().to_owned(),
            }),
            Kind::Instruction(target, _) => Some(ExpandedName {
                namespace_uri: None,
                local_name: target.to_owned(),
            }),
            Kind::Root | Kind::Text(_) | Kind::Comment(_) => None,
        }
    }

    fn string_value(self) -> String {
        match self.namespace {
            Some(declaration) => self.walk.document.declared(declaration).1.to_owned(),
            None if self.may_go(self.walk.document.bytes(self.place) / BYTES_A_STEP) => {
                self.walk.document.text(self.place)
            }
            None => String::new(),
        }
    }

    fn document_order(self, other: Self) -> Ordering {
        self.order().cmp(&other.order())
    }

    fn has_expanded_name(self, namespace: Option<&str>, local: &str) -> bool {
        match self.walk.document.kind(self.place) {
            Kind::Element(name) | Kind::Attribute(name, _) if self.namespace.is_none() => {
                match self.walk.naming {
                    Naming::Written => namespace.is_none() && name.qualified == local,
                    Naming::Local => namespace.is_none() && name.local() == local,
                    Naming::Expanded(_) => name.namespace == namespace && name.local() == local,
                }
            }
            _ => self.expanded_name().is_some_and(|name| {
                name.namespace_uri.as_deref() == namespace && name.local_name == local
            }),
        }
    }

    fn with_string_value<R>(self, f: impl FnOnce(&str) -> R) -> R {
        match self.walk.document.kind(self.place) {
            Kind::Attribute(_, text) | Kind::Text(text) if self.namespace.is_none() => f(text),
            _ => f(&self.string_value()),
        }
    }
}
