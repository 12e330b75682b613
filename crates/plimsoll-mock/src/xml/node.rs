//! A document as `xpath_eval` walks it.

use super::path::Naming;
use super::{Document, Kind};
use std::cmp::Ordering;
use xpath_eval::{ExpandedName, Node, NodeKind};

/// A node of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here<'d> {
    document: &'d Document,
    naming: &'d Naming,
    pub(crate) place: usize,
    /// For a namespace of the element at `place`: who declares it, and which of its declarations it is.
    namespace: Option<(usize, usize)>,
}

impl<'d> Here<'d> {
    /// The root of a document.
    pub(crate) fn root(document: &'d Document, naming: &'d Naming) -> Self {
        Self {
            document,
            naming,
            place: 0,
            namespace: None,
        }
    }

    fn at(self, place: usize) -> Self {
        Self {
            place,
            namespace: None,
            ..self
        }
    }

    fn order(&self) -> (usize, Option<(usize, usize)>) {
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
        match self.document.item(self.place).kind {
            Kind::Root => NodeKind::Root,
            Kind::Element(..) => NodeKind::Element,
            Kind::Attribute(..) => NodeKind::Attribute,
            Kind::Text(_) => NodeKind::Text,
            Kind::Comment(_) => NodeKind::Comment,
            Kind::Instruction(..) => NodeKind::ProcessingInstruction,
        }
    }

    fn parent(self) -> Option<Self> {
        if self.namespace.is_some() {
            return Some(self.at(self.place));
        }
        Some(self.at(self.document.parent(self.place)?))
    }

    fn children(self) -> impl Iterator<Item = Self> + 'd {
        let own = self
            .namespace
            .is_none()
            .then(|| self.document.children(self.place));
        own.into_iter().flatten().map(move |place| self.at(place))
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'd {
        let own = self
            .namespace
            .is_none()
            .then(|| self.document.attributes(self.place));
        own.into_iter().flatten().map(move |place| self.at(place))
    }

    fn namespaces(self) -> impl Iterator<Item = Self> + 'd {
        let all = match self.kind() {
            NodeKind::Element => self.document.namespaces(self.place),
            _ => Vec::new(),
        };
        all.into_iter().map(move |declared| Self {
            namespace: Some(declared),
            ..self
        })
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        if let Some((place, slot)) = self.namespace {
            let (prefix, _) = self.document.declared(place, slot);
            return Some(ExpandedName {
                namespace_uri: None,
                local_name: prefix.to_owned(),
            });
        }
        match &self.document.item(self.place).kind {
            Kind::Element(name, _) | Kind::Attribute(name, _) => Some(ExpandedName {
                namespace_uri: name.namespace.clone(),
                local_name: name.local().to_owned(),
            }),
            Kind::Instruction(target, _) => Some(ExpandedName {
                namespace_uri: None,
                local_name: target.clone(),
            }),
            Kind::Root | Kind::Text(_) | Kind::Comment(_) => None,
        }
    }

    fn string_value(self) -> String {
        match self.namespace {
            Some((place, slot)) => self.document.declared(place, slot).1.to_owned(),
            None => self.document.text(self.place),
        }
    }

    fn document_order(self, other: Self) -> Ordering {
        self.order().cmp(&other.order())
    }

    fn has_expanded_name(self, namespace: Option<&str>, local: &str) -> bool {
        match &self.document.item(self.place).kind {
            Kind::Element(name, _) | Kind::Attribute(name, _) if self.namespace.is_none() => {
                match self.naming {
                    Naming::Written => namespace.is_none() && name.qualified == local,
                    Naming::Local => namespace.is_none() && name.local() == local,
                    Naming::Expanded(_) => {
                        name.namespace.as_deref() == namespace && name.local() == local
                    }
                }
            }
            _ => self.expanded_name().is_some_and(|name| {
                name.namespace_uri.as_deref() == namespace && name.local_name == local
            }),
        }
    }

    fn with_string_value<R>(self, f: impl FnOnce(&str) -> R) -> R {
        match &self.document.item(self.place).kind {
            Kind::Attribute(_, text) | Kind::Text(text) if self.namespace.is_none() => f(text),
            _ => f(&self.string_value()),
        }
    }
}
