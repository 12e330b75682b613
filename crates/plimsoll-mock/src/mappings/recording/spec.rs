//! Specification of a recording: the body of `POST /recordings/start` and `/recordings/snapshot`.

use crate::records::journal::Entry;
use plimsoll_wiremock::reader::{Node, Object, Problems};
use plimsoll_wiremock::stub::request_pattern::RequestPattern;
use plimsoll_wiremock::stub_id::StubId;
use serde_json::{Map, Value};

/// Specification of a recording.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spec {
    /// The server that is recorded, with its place; without one, whatever stubs send on is.
    pub(crate) target: Option<String>,
    pub(crate) filters: Filters,
    /// Fields of requests that patterns are made for, and whether case counts in them where that is said.
    pub(crate) capture: Vec<(String, Option<bool>)>,
    pub(crate) body_pattern: BodyPattern,
    pub(crate) extract: Option<Extract>,
    pub(crate) output: Output,
    pub(crate) keep: Keep,
    pub(crate) repeats: Repeats,
}

/// Which requests are recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filters {
    pattern: RequestPattern,
    ids: Option<Vec<StubId>>,
    stubs: Stubs,
}

/// Whose answers are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stubs {
    #[default]
    ThatProxy,
    All,
}

/// The pattern that is made for a request's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodyPattern {
    pub(crate) matcher: BodyMatcher,
    /// Flags of the patterns, `None` where none is said.
    pub(crate) ignore_array_order: Option<bool>,
    pub(crate) ignore_extra_elements: Option<bool>,
    pub(crate) case_insensitive: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyMatcher {
    /// By the request's content type.
    Auto,
    EqualTo,
    EqualToJson,
    EqualToXml,
}

/// Bodies longer than so many bytes go to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) text: u64,
    pub(crate) binary: u64,
}

/// Form of the answer about the mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Output {
    #[default]
    Full,
    Ids,
}

/// Whether mappings are written to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keep {
    #[default]
    InFiles,
    InMemory,
}

/// Treatment of requests that came several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Repeats {
    #[default]
    AsScenarios,
    /// The last answer counts.
    Skip,
}

impl Default for BodyPattern {
    fn default() -> Self {
        Self {
            matcher: BodyMatcher::Auto,
            ignore_array_order: Some(true),
            ignore_extra_elements: Some(true),
            case_insensitive: Some(false),
        }
    }
}

impl Spec {
    pub(crate) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let (target, filters) = (object.get("targetBaseUrl"), object.get("filters"));
        let capture = object.get("captureHeaders");
        // WireMock's Java client writes its second name, and Jackson reads it last.
        let body = object.get("requestBodyPattern");
        let body = object.get("requestBodyPatternFactory").or(body);
        let (extract, output) = (
            object.get("extractBodyCriteria"),
            object.get("outputFormat"),
        );
        let (persist, repeats) = (object.get("persist"), object.get("repeatsAsScenarios"));
        // They are for the transformers, of which there are none.
        object.ignore(&["transformerParameters"]);
        object.finish(&["transformers"], problems);
        let target = target.and_then(|node| node.text(problems));
        let mut flag = |node: Option<Node<'_>>| node.and_then(|node| node.boolean(problems));
        let (persist, repeats) = (flag(persist), flag(repeats));
        Some(Self {
            target: target.filter(|target| !target.is_empty()),
            filters: filters
                .and_then(|node| Filters::read(&node, problems))
                .unwrap_or_default(),
            capture: capture.map_or_else(Vec::new, |node| read_capture(&node, problems)),
            body_pattern: body
                .and_then(|node| BodyPattern::read(&node, problems))
                .unwrap_or_default(),
            extract: extract.and_then(|node| Extract::read(&node, problems)),
            output: output
                .and_then(|node| Output::read(&node, problems))
                .unwrap_or_default(),
            keep: match persist {
                Some(false) => Keep::InMemory,
                _ => Keep::InFiles,
            },
            repeats: match repeats {
                Some(false) => Repeats::Skip,
                _ => Repeats::AsScenarios,
            },
        })
    }

    /// Whether it writes files.
    pub(crate) fn needs_files(&self) -> bool {
        self.keep == Keep::InFiles || self.extract.is_some()
    }
}

impl Filters {
    /// A request pattern, with ids and a flag beside its properties.
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let (ids, all) = (object.get("ids"), object.get("allowNonProxied"));
        let ids = ids.map(|node| {
            let items = node.items(problems);
            let id = |node: &Node<'_>, problems: &mut Problems| {
                let text = node.text(problems)?;
                StubId::parse(&text).or_else(|| node.wrong("a UUID", problems))
            };
            items.iter().filter_map(|node| id(node, problems)).collect()
        });
        let all = all.and_then(|node| node.boolean(problems));
        let own = |name: &str| name != "ids" && name != "allowNonProxied";
        let rest = node.value.as_object().into_iter().flatten();
        let rest: Map<String, Value> = rest
            .filter(|(name, _)| own(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let rest = Value::Object(rest);
        let pattern = Node {
            value: &rest,
            pointer: node.pointer.clone(),
        };
        Some(Self {
            pattern: RequestPattern::read(&pattern, problems)?,
            ids,
            stubs: match all {
                Some(true) => Stubs::All,
                _ => Stubs::ThatProxy,
            },
        })
    }

    /// Whether a request is to be recorded.
    pub(crate) fn admit(&self, entry: &Entry, id: impl FnOnce() -> StubId) -> bool {
        let answered = match entry.stub() {
            Some(stub) => self.stubs == Stubs::All || stub.proxy.is_some(),
            None => self.stubs == Stubs::All,
        };
        // A pattern that costs too much matches nothing.
        answered
            && self.pattern.holds(&entry.request()).unwrap_or(false)
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&id()))
    }
}

impl BodyPattern {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let matcher = object.get("matcher");
        let mut flag = |name: &'static str, object: &mut Object<'_>| {
            object.get(name).and_then(|node| node.boolean(problems))
        };
        let mut read = Self {
            matcher: BodyMatcher::Auto,
            ignore_array_order: flag("ignoreArrayOrder", &mut object),
            ignore_extra_elements: flag("ignoreExtraElements", &mut object),
            case_insensitive: flag("caseInsensitive", &mut object),
        };
        object.finish(&[], problems);
        read.matcher = match matcher
            .as_ref()
            .map_or(Some("auto"), |node| node.value.as_str())
        {
            Some("auto") => BodyMatcher::Auto,
            Some("equalTo") => BodyMatcher::EqualTo,
            Some("equalToJson") => BodyMatcher::EqualToJson,
            Some("equalToXml") => BodyMatcher::EqualToXml,
            _ => {
                let all = "\"auto\", \"equalTo\", \"equalToJson\" or \"equalToXml\"";
                return matcher?.wrong(all, problems);
            }
        };
        if read.matcher == BodyMatcher::Auto {
            let default = Self::default();
            read.ignore_array_order = read.ignore_array_order.or(default.ignore_array_order);
            let extra = default.ignore_extra_elements;
            read.ignore_extra_elements = read.ignore_extra_elements.or(extra);
            read.case_insensitive = read.case_insensitive.or(default.case_insensitive);
        }
        Some(read)
    }
}

impl Extract {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let (text, binary) = (
            object.get("textSizeThreshold"),
            object.get("binarySizeThreshold"),
        );
        object.finish(&[], problems);
        let mut size = |node: Option<Node<'_>>, default| {
            let Some(node) = node else {
                return Some(default);
            };
            let text = node.text(problems)?;
            size_of_text(&text).or_else(|| node.wrong("a size like \"10 kb\"", problems))
        };
        // As in WireMock: texts of more than 10 kB, and all others.
        let (text, binary) = (size(text, 10_240), size(binary, 0));
        Some(Self {
            text: text?,
            binary: binary?,
        })
    }
}

impl Output {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        match node.value.as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("full") => Some(Self::Full),
            Some("ids") => Some(Self::Ids),
            _ => node.wrong("\"full\" or \"ids\"", problems),
        }
    }
}

/// Bytes: a number and WireMock's units, which are powers of 1024.
fn size_of_text(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// `{"Accept": {}, "X-Id": {"caseInsensitive": true}}`.
fn read_capture(node: &Node<'_>, problems: &mut Problems) -> Vec<(String, Option<bool>)> {
    let mut capture = Vec::new();
    for (name, node) in node.entries(problems) {
        if let Some(mut object) = node.object(problems) {
            let flag = object.get("caseInsensitive");
            let flag = flag.and_then(|node| node.boolean(problems));
            object.finish(&[], problems);
            capture.push((name.to_owned(), flag));
        }
    }
    capture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("5", Some(5)),
            ("1 kB", Some(1024)),
            ("2mb", Some(2 << 20)),
            ("5 zb", None),
            ("many", None),
        ] {
            assert_eq!(size_of_text(text), expected, "{text}");
        }
    }
}
