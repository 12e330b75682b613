//! Whether two documents are the same, as XMLUnit compares for WireMock: comments, white space around texts and the order of elements with different
//! names do not count. Each kind of difference can be exempted by XMLUnit's name for it.
//!
//! Parts that the expected document does not have are not compared: no namespace is any namespace.

pub use super::placeholder::Placeholders;
use super::placeholder::Wanted;
use super::{Document, ItemId, Kind, Name};
use crate::budget::{Budget, TooCostly};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Meaning of names of elements and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Awareness {
    /// Namespace and local name.
    #[default]
    Strict,
    /// Of elements the local name and a default namespace, of attributes the name as it is written.
    Legacy,
    /// The name as it is written; declarations of namespaces are attributes.
    None,
}

/// How documents are compared.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub awareness: Awareness,
    /// XMLUnit's names of the differences that do not count.
    pub exempted: Vec<String>,
    /// Whether elements of one name may stand in any order of their texts.
    pub by_text: bool,
    pub placeholders: Option<Placeholders>,
}

/// A document that is expected, prepared.
#[derive(Debug)]
pub struct Expected {
    document: Document,
    rules: Rules,
    /// Expectations of texts and attributes, by their places.
    wanted: HashMap<ItemId, Wanted>,
}

/// XMLUnit's names of comparisons.
pub const COMPARISONS: &[&str] = &[
    "ATTR_NAME_LOOKUP",
    "ATTR_VALUE",
    "ATTR_VALUE_EXPLICITLY_SPECIFIED",
    "CHILD_LOOKUP",
    "CHILD_NODELIST_LENGTH",
    "CHILD_NODELIST_SEQUENCE",
    "DOCTYPE_NAME",
    "DOCTYPE_PUBLIC_ID",
    "DOCTYPE_SYSTEM_ID",
    "ELEMENT_NUM_ATTRIBUTES",
    "ELEMENT_TAG_NAME",
    "HAS_DOCTYPE_DECLARATION",
    "NAMESPACE_PREFIX",
    "NAMESPACE_URI",
    "NODE_TYPE",
    "NO_NAMESPACE_SCHEMA_LOCATION",
    "PROCESSING_INSTRUCTION_DATA",
    "PROCESSING_INSTRUCTION_TARGET",
    "SCHEMA_LOCATION",
    "TEXT_VALUE",
    "XML_ENCODING",
    "XML_STANDALONE",
    "XML_VERSION",
];

/// The namespace of attributes that say where schemas are; these are compared apart.
const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

impl Expected {
    /// Prepares a document; the error says what is wrong with a placeholder or a prefix.
    pub fn prepare(document: Document, rules: Rules) -> Result<Self, String> {
        if rules.awareness == Awareness::Strict && !document.is_declared() {
            return Err("a prefix is not declared".to_owned());
        }
        let mut wanted = HashMap::new();
        if let Some(placeholders) = &rules.placeholders {
            for place in document.texts() {
                if let Kind::Text(text) | Kind::Attribute(_, text) = document.kind(place) {
                    wanted.insert(place, placeholders.read(text)?);
                }
            }
        }
        Ok(Self {
            document,
            rules,
            wanted,
        })
    }

    /// Whether a document is the same.
    pub fn holds(&self, actual: &Document) -> Result<bool, TooCostly> {
        if self.rules.awareness == Awareness::Strict && !actual.is_declared() {
            return Ok(false);
        }
        let comparison = Comparison {
            expected: self,
            actual,
            budget: Budget::for_bytes(self.document.byte_count() + actual.byte_count()),
        };
        // A list instead of calls, so that a deep document takes no stack.
        let mut pairs = vec![(ItemId::ROOT, ItemId::ROOT)];
        while let Some((one, other)) = pairs.pop() {
            if !comparison.holds(one, other, &mut pairs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn counts(&self, difference: &str) -> bool {
        !self
            .rules
            .exempted
            .iter()
            .any(|exempted| exempted == difference)
    }

    /// Whether the text at a place of the expected document is there.
    fn wants(&self, place: ItemId, text: Option<&str>) -> Result<bool, TooCostly> {
        match self.wanted.get(&place) {
            Some(wanted) => wanted.holds(text),
            None => Ok(text.is_some_and(|text| text.trim() == self.document.text(place).trim())),
        }
    }
}

struct Comparison<'c> {
    expected: &'c Expected,
    actual: &'c Document,
    /// For the texts that elements are put in order by.
    budget: Budget,
}

impl Comparison<'_> {
    /// Compares two items; what they contain is left in `pairs`.
    fn holds(
        &self,
        one: ItemId,
        other: ItemId,
        pairs: &mut Vec<(ItemId, ItemId)>,
    ) -> Result<bool, TooCostly> {
        let (expected, actual) = (self.expected.document.kind(one), self.actual.kind(other));
        match (expected, actual) {
            (Kind::Root, Kind::Root) => self.contents_hold(one, other, pairs),
            (Kind::Element(own), Kind::Element(theirs)) => Ok(self.names_hold(own, theirs)
                && self.attributes_hold(one, other)?
                && self.contents_hold(one, other, pairs)?),
            (Kind::Text(_), Kind::Text(text)) => {
                Ok(!self.expected.counts("TEXT_VALUE") || self.expected.wants(one, Some(text))?)
            }
            (Kind::Instruction(own, text), Kind::Instruction(target, data)) => {
                let counts = |difference| self.expected.counts(difference);
                Ok((own == target || !counts("PROCESSING_INSTRUCTION_TARGET"))
                    && (text.trim() == data.trim() || !counts("PROCESSING_INSTRUCTION_DATA")))
            }
            _ => Ok(!self.expected.counts("NODE_TYPE")),
        }
    }

    fn names_hold<'d>(&self, own: Name<'d>, theirs: Name<'d>) -> bool {
        let awareness = self.expected.rules.awareness;
        let namespace = |name: Name<'d>| match awareness {
            Awareness::Strict => name.namespace,
            Awareness::Legacy => name.namespace.filter(|_| !name.qualified.contains(':')),
            Awareness::None => None,
        };
        let wanted = namespace(own);
        if wanted.is_some() && wanted != namespace(theirs) && self.expected.counts("NAMESPACE_URI")
        {
            return false;
        }
        let same = match awareness {
            Awareness::None => own.qualified == theirs.qualified,
            Awareness::Strict | Awareness::Legacy => own.local() == theirs.local(),
        };
        same || !self.expected.counts("ELEMENT_TAG_NAME")
    }

    fn attributes_hold(&self, one: ItemId, other: ItemId) -> Result<bool, TooCostly> {
        let awareness = self.expected.rules.awareness;
        let own = attributes(&self.expected.document, one, awareness);
        let theirs = attributes(self.actual, other, awareness);
        let by_name: HashMap<_, _> = theirs
            .iter()
            .rev()
            .map(|other| (other.name(awareness), other))
            .collect();
        let ignores_missing = |attribute: &Attribute<'_>| {
            let wanted = attribute
                .place
                .and_then(|place| self.expected.wanted.get(&place));
            matches!(wanted, Some(Wanted::Anything))
        };
        let mut missing = 0;
        for attribute in &own {
            let Some(found) = by_name.get(&attribute.name(awareness)) else {
                if !ignores_missing(attribute) && self.expected.counts("ATTR_NAME_LOOKUP") {
                    return Ok(false);
                }
                missing += usize::from(ignores_missing(attribute));
                continue;
            };
            let same = match attribute.place {
                Some(place) => self.expected.wants(place, Some(found.value))?,
                None => attribute.value == found.value,
            };
            if !same && self.expected.counts(attribute.difference()) {
                return Ok(false);
            }
        }
        let counted = |all: &[Attribute<'_>]| {
            let counted = all
                .iter()
                .filter(|attribute| attribute.difference() == "ATTR_VALUE");
            counted.count()
        };
        Ok(counted(&own) - missing == counted(&theirs)
            || !self.expected.counts("ELEMENT_NUM_ATTRIBUTES"))
    }

    fn contents_hold(
        &self,
        one: ItemId,
        other: ItemId,
        pairs: &mut Vec<(ItemId, ItemId)>,
    ) -> Result<bool, TooCostly> {
        let own = self.contents(&self.expected.document, one)?;
        let theirs = self.contents(self.actual, other)?;
        if let ([text], []) = (own.as_slice(), theirs.as_slice())
            && self.expected.wanted.contains_key(text)
        {
            return self.expected.wants(*text, None);
        }
        if own.len() != theirs.len() && self.expected.counts("CHILD_NODELIST_LENGTH") {
            return Ok(false);
        }
        let mut by_kind: HashMap<_, VecDeque<ItemId>> = HashMap::new();
        for place in theirs {
            let kind = std::mem::discriminant(&self.actual.kind(place));
            by_kind.entry(kind).or_default().push_back(place);
        }
        for place in own {
            let kind = std::mem::discriminant(&self.expected.document.kind(place));
            match by_kind.get_mut(&kind).and_then(VecDeque::pop_front) {
                Some(found) => pairs.push((place, found)),
                None if self.expected.counts("CHILD_LOOKUP") => return Ok(false),
                None => {}
            }
        }
        Ok(true)
    }

    /// Content of an item, without comments and white space, in the order of names; one name in document order or in that of its texts.
    fn contents(&self, document: &Document, place: ItemId) -> Result<Vec<ItemId>, TooCostly> {
        let counts = |place: &ItemId| match document.kind(*place) {
            Kind::Comment(_) => false,
            Kind::Text(text) => !text.trim().is_empty(),
            _ => true,
        };
        let mut places: Vec<ItemId> = document.children(place).filter(counts).collect();
        if places.len() < 2 {
            return Ok(places);
        }
        let name = |place: ItemId| match document.kind(place) {
            Kind::Element(name) => name.local(),
            _ => "",
        };
        if self.expected.rules.by_text {
            for place in &places {
                self.budget.spend(document.bytes(*place) / BYTES_A_STEP)?;
            }
            places.sort_by_cached_key(|place| (name(*place), document.text(*place)));
            return Ok(places);
        }
        Ok(in_order_of_names(places, name))
    }
}

/// Puts places in the order of their names, one name in document order. Most documents have few names: their places are only dealt out.
fn in_order_of_names<'d>(places: Vec<ItemId>, name: impl Fn(ItemId) -> &'d str) -> Vec<ItemId> {
    let mut by_name: Vec<(&str, Vec<ItemId>)> = Vec::new();
    for place in &places {
        let own = name(*place);
        match by_name.iter().position(|(name, _)| *name == own) {
            Some(found) => by_name[found].1.push(*place),
            None if by_name.len() < FEW => by_name.push((own, vec![*place])),
            None => return sorted(places, name),
        }
    }
    by_name.sort_by_key(|(name, _)| *name);
    by_name.into_iter().flat_map(|(_, same)| same).collect()
}

fn sorted<'d>(mut places: Vec<ItemId>, name: impl Fn(ItemId) -> &'d str) -> Vec<ItemId> {
    places.sort_by_cached_key(|place| name(*place));
    places
}

/// So many names are looked for one by one.
const FEW: usize = 16;

/// How much of a text is put in order in one step.
const BYTES_A_STEP: usize = 16;

/// An attribute as it is compared.
#[derive(Debug)]
struct Attribute<'d> {
    /// `None` for a declaration of a namespace.
    place: Option<ItemId>,
    qualified: Cow<'d, str>,
    namespace: Option<&'d str>,
    local: &'d str,
    value: &'d str,
}

impl Attribute<'_> {
    /// Name that it is found by.
    fn name(&self, awareness: Awareness) -> (Option<&str>, &str) {
        match awareness {
            Awareness::Strict => (self.namespace, self.local),
            Awareness::Legacy | Awareness::None => (None, &self.qualified),
        }
    }

    /// XMLUnit's name for a difference of its values.
    fn difference(&self) -> &'static str {
        match (self.namespace, self.local) {
            (Some(SCHEMA_INSTANCE), "schemaLocation") => "SCHEMA_LOCATION",
            (Some(SCHEMA_INSTANCE), "noNamespaceSchemaLocation") => "NO_NAMESPACE_SCHEMA_LOCATION",
            _ => "ATTR_VALUE",
        }
    }
}

fn attributes(document: &Document, place: ItemId, awareness: Awareness) -> Vec<Attribute<'_>> {
    let own = document
        .attributes(place)
        .filter_map(|place| match document.kind(place) {
            Kind::Attribute(name, value) => Some(Attribute {
                place: Some(place),
                qualified: Cow::Borrowed(name.qualified),
                namespace: name.namespace,
                local: name.local(),
                value,
            }),
            _ => None,
        });
    let mut all: Vec<_> = own.collect();
    if awareness == Awareness::None {
        let declared = document.declarations(place).into_iter();
        all.extend(declared.map(|(prefix, uri)| Attribute {
            place: None,
            qualified: Cow::Owned(format!("xmlns:{prefix}")),
            namespace: None,
            local: prefix,
            value: uri,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_names_is_the_same_for_few_and_many() {
        let check = |names: usize| {
            let items: String = (0..60)
                .map(|n| format!("<b{0}>{n}</b{0}>", n % names))
                .collect();
            let document = Document::parse(&format!("<a>{items}</a>")).unwrap();
            let name = |place| match document.kind(place) {
                Kind::Element(name) => name.local(),
                _ => "",
            };
            let places: Vec<ItemId> = document.children(document.top()).collect();
            let expected = sorted(places.clone(), name);
            assert_eq!(in_order_of_names(places, name), expected, "{names}");
        };
        for names in [1, 2, FEW, FEW + 1, 60] {
            check(names);
        }
    }

    fn check_by(rules: Rules, expected: &str, actual: &str, same: bool) {
        let shown = format!("{rules:?}: {expected} and {actual}");
        let expected = Expected::prepare(Document::parse(expected).unwrap(), rules).unwrap();
        assert_eq!(
            expected.holds(&Document::parse(actual).unwrap()),
            Ok(same),
            "{shown}"
        );
    }

    fn check(expected: &str, actual: &str, same: bool) {
        check_by(Rules::default(), expected, actual, same);
    }

    #[test]
    fn what_counts() {
        check(
            "<a><b/> <c>x</c></a>",
            "<a>\n<c> x </c><!-- n --><b></b></a>",
            true,
        );
        check("<a b='1' c='2'/>", "<a c='2' b='1'/>", true);
        check("<a b='1'/>", "<a b='2'/>", false);
        check("<a b='1'/>", "<a/>", false);
        check("<a/>", "<a b='1'/>", false);
        check("<a>x</a>", "<a>y</a>", false);
        check("<a><b/></a>", "<a><b/><b/></a>", false);
        check("<a><b>1</b><b>2</b></a>", "<a><b>2</b><b>1</b></a>", false);
        check("<a/>", "<b/>", false);
        check("<a>x</a>", "<a><![CDATA[x]]></a>", true);
        check("<a>x</a>", "<a><b/></a>", false);
        check("<?p x?><a/>", "<?p y?><a/>", false);
    }

    #[test]
    fn namespaces() {
        check("<a xmlns='u'/>", "<n:a xmlns:n='u'/>", true);
        check("<a xmlns='u'/>", "<a/>", false);
        check("<a/>", "<a xmlns='u'/>", true);
        let none = || Rules {
            awareness: Awareness::None,
            ..Rules::default()
        };
        check_by(none(), "<n:a xmlns:n='u'/>", "<n:a xmlns:n='v'/>", false);
        check_by(none(), "<n:a xmlns:n='u'/>", "<m:a xmlns:m='u'/>", false);
        let legacy = Rules {
            awareness: Awareness::Legacy,
            ..Rules::default()
        };
        check_by(legacy, "<n:a xmlns:n='u'/>", "<m:a xmlns:m='v'/>", true);
    }

    #[test]
    fn exemptions_orders_and_placeholders() {
        let exempted = |names: &[&str]| Rules {
            exempted: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Rules::default()
        };
        check_by(exempted(&["TEXT_VALUE"]), "<a>x</a>", "<a>y</a>", true);
        check_by(exempted(&["ATTR_VALUE"]), "<a b='1'/>", "<a b='2'/>", true);
        check_by(
            exempted(&["NAMESPACE_URI"]),
            "<a xmlns='u'/>",
            "<a xmlns='v'/>",
            true,
        );
        check_by(
            exempted(&["CHILD_NODELIST_LENGTH"]),
            "<a><b/></a>",
            "<a><b/><c/></a>",
            true,
        );
        let by_text = Rules {
            by_text: true,
            ..Rules::default()
        };
        check_by(
            by_text,
            "<a><b>1</b><b>2</b></a>",
            "<a><b>2</b><b>1</b></a>",
            true,
        );
        let placeholders = || Rules {
            placeholders: Some(Placeholders::between("", "").unwrap()),
            ..Rules::default()
        };
        check_by(placeholders(), "<a>${xmlunit.ignore}</a>", "<a>x</a>", true);
        check_by(placeholders(), "<a>${xmlunit.ignore}</a>", "<a/>", true);
        check_by(
            placeholders(),
            "<a b='${xmlunit.isNumber}'/>",
            "<a b='7'/>",
            true,
        );
        check_by(
            placeholders(),
            "<a b='${xmlunit.isNumber}'/>",
            "<a b='x'/>",
            false,
        );
        check_by(placeholders(), "<a b='${xmlunit.ignore}'/>", "<a/>", true);
    }
}
