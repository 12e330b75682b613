//! Whether two documents are the same, as XMLUnit compares for WireMock: comments, white space around texts and the order of elements with different
//! names do not count. Each kind of difference can be exempted by XMLUnit's name for it.
//!
//! What the expected document does not say is not compared: no namespace is any namespace.

pub(crate) use super::placeholder::Placeholders;
use super::placeholder::Wanted;
use super::{Document, Kind, Name};
use crate::java_regex::TooCostly;
use std::collections::HashMap;

/// What names of elements and attributes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Awareness {
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
pub(crate) struct Rules {
    pub(crate) awareness: Awareness,
    /// XMLUnit's names of the differences that do not count.
    pub(crate) exempted: Vec<String>,
    /// Whether elements of one name may stand in any order of their texts.
    pub(crate) by_text: bool,
    pub(crate) placeholders: Option<Placeholders>,
}

/// A document that is expected, prepared.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    document: Document,
    rules: Rules,
    /// What texts and attributes ask for, by their places.
    wanted: HashMap<usize, Wanted>,
}

/// XMLUnit's names of comparisons.
pub(crate) const COMPARISONS: &[&str] = &[
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
    pub(crate) fn prepare(document: Document, rules: Rules) -> Result<Self, String> {
        if rules.awareness == Awareness::Strict && !document.is_declared() {
            return Err("a prefix is not declared".to_owned());
        }
        let mut wanted = HashMap::new();
        if let Some(placeholders) = &rules.placeholders {
            for (place, item) in document.items.iter().enumerate() {
                if let Kind::Text(text) | Kind::Attribute(_, text) = &item.kind {
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
    pub(crate) fn holds(&self, actual: &Document) -> Result<bool, TooCostly> {
        if self.rules.awareness == Awareness::Strict && !actual.is_declared() {
            return Ok(false);
        }
        let comparison = Comparison {
            expected: self,
            actual,
        };
        // A list instead of calls, so that a deep document takes no stack.
        let mut pairs = vec![(0, 0)];
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
    fn wants(&self, place: usize, text: Option<&str>) -> Result<bool, TooCostly> {
        match self.wanted.get(&place) {
            Some(wanted) => wanted.holds(text),
            None => Ok(text.is_some_and(|text| text.trim() == self.document.text(place).trim())),
        }
    }
}

struct Comparison<'c> {
    expected: &'c Expected,
    actual: &'c Document,
}

impl Comparison<'_> {
    /// Compares two items; what they contain is left in `pairs`.
    fn holds(
        &self,
        one: usize,
        other: usize,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<bool, TooCostly> {
        let (expected, actual) = (
            &self.expected.document.item(one).kind,
            &self.actual.item(other).kind,
        );
        match (expected, actual) {
            (Kind::Root, Kind::Root) => self.contents_hold(one, other, pairs),
            (Kind::Element(own, _), Kind::Element(theirs, _)) => Ok(self.names_hold(own, theirs)
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

    fn names_hold(&self, own: &Name, theirs: &Name) -> bool {
        let awareness = self.expected.rules.awareness;
        let namespace = |name: &Name| match awareness {
            Awareness::Strict => name.namespace.clone(),
            Awareness::Legacy => name
                .namespace
                .clone()
                .filter(|_| !name.qualified.contains(':')),
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

    fn attributes_hold(&self, one: usize, other: usize) -> Result<bool, TooCostly> {
        let awareness = self.expected.rules.awareness;
        let own = attributes(&self.expected.document, one, awareness);
        let theirs = attributes(self.actual, other, awareness);
        let ignores_missing = |attribute: &Attribute<'_>| {
            let wanted = attribute
                .place
                .and_then(|place| self.expected.wanted.get(&place));
            matches!(wanted, Some(Wanted::Anything))
        };
        let mut missing = 0;
        for attribute in &own {
            let found = theirs
                .iter()
                .find(|other| attribute.is_named_as(other, awareness));
            let Some(found) = found else {
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
        one: usize,
        other: usize,
        pairs: &mut Vec<(usize, usize)>,
    ) -> Result<bool, TooCostly> {
        let by_text = self.expected.rules.by_text;
        let own = contents(&self.expected.document, one, by_text);
        let mut theirs = contents(self.actual, other, by_text);
        if let ([text], []) = (own.as_slice(), theirs.as_slice())
            && self.expected.wanted.contains_key(text)
        {
            return self.expected.wants(*text, None);
        }
        if own.len() != theirs.len() && self.expected.counts("CHILD_NODELIST_LENGTH") {
            return Ok(false);
        }
        for place in own {
            let kind = std::mem::discriminant(&self.expected.document.item(place).kind);
            let same =
                |other: &usize| std::mem::discriminant(&self.actual.item(*other).kind) == kind;
            match theirs.iter().position(same) {
                Some(found) => pairs.push((place, theirs.remove(found))),
                None if self.expected.counts("CHILD_LOOKUP") => return Ok(false),
                None => {}
            }
        }
        Ok(true)
    }
}

/// An attribute as it is compared.
#[derive(Debug)]
struct Attribute<'d> {
    /// `None` for a declaration of a namespace.
    place: Option<usize>,
    qualified: String,
    namespace: Option<&'d str>,
    local: &'d str,
    value: &'d str,
}

impl Attribute<'_> {
    fn is_named_as(&self, other: &Self, awareness: Awareness) -> bool {
        match awareness {
            Awareness::Strict => (self.namespace, self.local) == (other.namespace, other.local),
            Awareness::Legacy | Awareness::None => self.qualified == other.qualified,
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

fn attributes(document: &Document, place: usize, awareness: Awareness) -> Vec<Attribute<'_>> {
    let own = document
        .attributes(place)
        .filter_map(|place| match &document.item(place).kind {
            Kind::Attribute(name, value) => Some(Attribute {
                place: Some(place),
                qualified: name.qualified.clone(),
                namespace: name.namespace.as_deref(),
                local: name.local(),
                value,
            }),
            _ => None,
        });
    let mut all: Vec<_> = own.collect();
    if let (Awareness::None, Kind::Element(_, declared)) = (awareness, &document.item(place).kind) {
        all.extend(declared.iter().map(|(prefix, uri)| Attribute {
            place: None,
            qualified: format!("xmlns:{prefix}"),
            namespace: None,
            local: prefix,
            value: uri,
        }));
    }
    all
}

/// What an item contains, without comments and white space, in the order of names; one name in document order or in that of its texts.
fn contents(document: &Document, place: usize, by_text: bool) -> Vec<usize> {
    let counts = |place: &usize| match &document.item(*place).kind {
        Kind::Comment(_) => false,
        Kind::Text(text) => !text.trim().is_empty(),
        _ => true,
    };
    let mut places: Vec<usize> = document.children(place).filter(counts).collect();
    if places.len() > 1 {
        places.sort_by_cached_key(|place| {
            let name = match &document.item(*place).kind {
                Kind::Element(name, _) => name.local().to_owned(),
                _ => String::new(),
            };
            let text = if by_text {
                document.text(*place)
            } else {
                String::new()
            };
            (name, text)
        });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

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
