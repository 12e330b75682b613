//! The JUnit output by the rules that readers of it share.
//!
//! There is no standard, but two schemas that CI servers go by: that of Maven Surefire's reports and that of Jenkins' xUnit plugin. What
//! both allow, every reader takes; the rules here are those, in our own words.

use crate::fixture::{self, Behaviour, DIRECT, threshold};
use crate::pages::troubled;
use plimsoll_report::record::{Summary, VerdictResult};
use plimsoll_report::render;
use plimsoll_report::summarise::Method;
use plimsoll_report::threshold::Bound;
use plimsoll_report::view::RunView;
use std::collections::BTreeSet;

/// Rule for the content of an element.
struct Rule {
    element: &'static str,
    required: &'static [&'static str],
    /// The elements within it.
    children: &'static [&'static str],
    /// How many of them at most.
    at_most: usize,
}

const RULES: [Rule; 6] = [
    Rule {
        element: "testsuites",
        required: &[],
        children: &["testsuite"],
        at_most: usize::MAX,
    },
    Rule {
        element: "testsuite",
        required: &["name", "tests", "failures", "errors", "skipped", "time"],
        children: &["testcase"],
        at_most: usize::MAX,
    },
    Rule {
        element: "testcase",
        required: &["name", "classname", "time"],
        children: &["failure", "error", "skipped"],
        at_most: 1,
    },
    Rule {
        element: "failure",
        required: &["type", "message"],
        children: &[],
        at_most: 0,
    },
    Rule {
        element: "error",
        required: &["type", "message"],
        children: &[],
        at_most: 0,
    },
    Rule {
        element: "skipped",
        required: &["message"],
        children: &[],
        at_most: 0,
    },
];

/// Attributes that both schemas know besides the required ones.
const ALSO: [&str; 1] = ["timestamp"];

#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no {name}: {self:?}")).1
    }

    fn count(&self, name: &str) -> usize {
        self.attribute(name).parse().unwrap()
    }

    /// How many of its children hold an element of this name.
    fn with(&self, name: &str) -> usize {
        let holds = |child: &&Element| child.children.iter().any(|inner| inner.name == name);
        self.children.iter().filter(holds).count()
    }
}

/// Reads XML of the kind that has no text between its elements; fails on anything that is not well-formed.
fn parse(text: &str) -> Element {
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut rest = body.expect("the declaration comes first").trim_end();
    let mut open = vec![Element::default()];
    while !rest.is_empty() {
        let (before, tag) = rest.split_once('<').unwrap();
        assert_eq!(before.trim(), "", "text between elements");
        let (tag, after) = tag.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().unwrap();
            assert_eq!(closed.name, name);
            open.last_mut().unwrap().children.push(closed);
            continue;
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let element = element(tag);
        if is_empty {
            open.last_mut().unwrap().children.push(element);
        } else {
            open.push(element);
        }
    }
    assert_eq!(open.len(), 1, "every element is closed");
    let mut document = open.pop().unwrap().children;
    assert_eq!(document.len(), 1, "one root");
    document.remove(0)
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").unwrap();
        let (value, after) = value.split_once('"').unwrap();
        assert!(attributes.iter().all(|(known, _)| known != key), "{tag}");
        attributes.push((key.to_owned(), unescaped(value)));
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    Element {
        name: name.to_owned(),
        attributes,
        children: Vec::new(),
    }
}

/// A value with its entities replaced; `<` and a `&` of no entity may not stand in it, nor may characters that XML has not.
fn unescaped(value: &str) -> String {
    assert!(!value.contains('<'), "{value}");
    assert!(!value.contains(|c: char| c.is_control()), "{value}");
    let mut parts = value.split('&');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (entity, after) = part.split_once(';').unwrap();
        text.push_str(match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            other => panic!("&{other};"),
        });
        text.push_str(after);
    }
    text
}

fn obeys(element: &Element) {
    let rule = RULES.iter().find(|rule| rule.element == element.name);
    let rule = rule.unwrap_or_else(|| panic!("<{}> is unknown", element.name));
    for (name, value) in &element.attributes {
        let known = rule.required.iter().chain(&ALSO);
        assert!(known.clone().any(|known| known == name), "{element:?}");
        if name == "time" {
            assert!(value.parse::<f64>().is_ok_and(|s| s >= 0.0), "{value}");
        }
    }
    for required in rule.required {
        assert!(!element.attribute(required).is_empty(), "{element:?}");
    }
    assert!(element.children.len() <= rule.at_most, "{element:?}");
    for child in &element.children {
        assert!(rule.children.contains(&child.name.as_str()), "{element:?}");
        obeys(child);
    }
}

/// `2026-11-22T03:47:00`: the schema of xUnit takes no offset.
fn is_timestamp(text: &str) -> bool {
    let form: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    form == "0000-00-00T00:00:00"
}

/// Fails unless a run's output obeys, and its counts are those of its cases; gives its root.
fn check(view: &RunView) -> Element {
    let root = parse(&render::junit::render(view));
    assert_eq!(root.name, "testsuites");
    obeys(&root);
    let mut names = BTreeSet::new();
    for suite in &root.children {
        assert_eq!(suite.count("tests"), suite.children.len());
        for (count, element) in [
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ] {
            assert_eq!(suite.count(count), suite.with(element), "{element}");
        }
        for case in &suite.children {
            let name = (case.attribute("classname"), case.attribute("name"));
            assert!(names.insert(name), "{name:?} stands twice");
        }
    }
    root
}

/// Cases of a suite with such a problem.
fn problems(root: &Element, suite: &str, problem: &str) -> usize {
    let mut suites = root.children.iter();
    let found = suites.find(|found| found.attribute("name").ends_with(suite));
    found.map_or(0, |suite| suite.with(problem))
}

fn decided(summary: &Summary, result: VerdictResult) -> usize {
    let outcomes = summary.thresholds.iter();
    outcomes.filter(|outcome| outcome.result == result).count()
}

#[test]
fn what_ci_servers_read_obeys_their_rules() {
    for view in [&*fixture::COMPARE, &*fixture::MEASURE] {
        let root = check(view);
        for suite in &root.children {
            let timestamp = suite.attribute("timestamp");
            assert!(is_timestamp(timestamp), "{timestamp}");
        }
        assert_eq!(problems(&root, "thresholds", "failure"), 0);
    }
    let thresholds = [
        threshold("direct", "response_time.p50", Bound::Below(1e-6)),
        threshold("direct", "response_time.p99", Bound::Below(1.0)),
        threshold("direct", "dns_time.p99", Bound::Below(1.0)),
    ];
    let view = fixture::view("failing", &Method::Measure, &[DIRECT], 1, &thresholds);
    let root = check(&view);
    let failed = decided(&view.summary, VerdictResult::Failed);
    let passed = decided(&view.summary, VerdictResult::Passed);
    let undecided = decided(&view.summary, VerdictResult::Inconclusive);
    assert!(
        failed > 0 && passed > 0 && undecided > 0,
        "{:?}",
        view.summary.thresholds
    );
    assert_eq!(problems(&root, "thresholds", "failure"), failed);
    // What is undecided, here for want of a sample, exceeded no limit.
    let others = view.summary.thresholds.len() - failed - passed;
    assert_eq!(problems(&root, "thresholds", "error"), others);
}

/// Without a threshold nothing exceeds a limit, and the exit code is yet not 0.
#[test]
fn a_run_that_came_to_nothing_is_not_green() {
    let dead = Behaviour {
        failing_share: 1.0,
        ..DIRECT
    };
    let view = fixture::view("dead", &Method::Measure, &[dead], 1, &[]);
    assert_eq!(view.summary.verdict.result, VerdictResult::Unknown);
    let root = check(&view);
    assert_eq!(problems(&root, "verdict", "error"), 1);
    let text = render::junit::render(&view);
    assert!(
        text.contains("exchanges of direct failed (100.00 %)"),
        "{text}"
    );

    let passed = check(&fixture::MEASURE);
    assert!(
        passed
            .children
            .iter()
            .all(|suite| !suite.attribute("name").ends_with("verdict"))
    );
}

#[test]
fn times_are_those_of_the_run_and_of_the_load_that_is_judged() {
    let view = &*fixture::COMPARE;
    let root = check(view);
    for suite in &root.children {
        // From its beginning to its end, by the manifest.
        assert_eq!(suite.attribute("time"), "157.000");
        for case in &suite.children {
            let name = case.attribute("name");
            let (arm, _) = name.split_once(':').unwrap();
            let measured = view.summary.arms[arm].seconds;
            assert_eq!(case.attribute("time"), format!("{measured:.3}"), "{name}");
        }
    }
}

/// Names from outside break nothing, and an experiment that is invalid has its errors.
#[test]
fn a_troubled_run_obeys_too() {
    let view = troubled();
    let root = check(&view);
    let broken = problems(&root, "validity", "error") + problems(&root, "validity", "skipped");
    assert!(broken > 0, "{root:?}");
    let invalid = view.summary.verdict.result == VerdictResult::Invalid;
    assert_eq!(problems(&root, "validity", "error") > 0, invalid);
}
