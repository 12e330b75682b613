//! Bodies of XML: deep, wide, with many attributes or names.

use super::{Asked, Input, body_stub, deep_xml, repeated, template};
use serde_json::{Value, json};

#[expect(clippy::too_many_lines, reason = "a table of inputs")]
pub(super) fn xml(size: usize) -> Vec<Input> {
    let deep = deep_xml(size);
    let wide = format!("<a>{}</a>", "<bbbb/>".repeat(size / 7));
    let mixed = format!("<a>{}</a>", "<bbbbbbbbbbbb/>x".repeat(size / 16));
    let differing = format!("<a>{}</a>", repeated(size, |n| format!("<b{n}/>")));
    let attributes = format!("<a {}/>", repeated(size, |n| format!("a{n}='' ")));
    // As many as a stub may have.
    let fewer = format!("<a {}/>", repeated(14_000, |n| format!("a{n}='' ")));
    let children = format!("<a>{}</a>", "<b>xxxxxxxxxx</b>".repeat(size / 17));
    let namespaces = format!("<a {}/>", repeated(size, |n| format!("xmlns:a{n}='u{n}' ")));
    let declaring = repeated(size, |n| format!("<a xmlns:p{n}='u'>"));
    let long = format!("<{0}>{1}</{0}>", "n".repeat(size / 3), "x".repeat(size / 3));
    let prolog = format!("{}<a/>", "<?p?>".repeat(size / 5));
    let signs = "<".repeat(size);
    let laughs = format!(
        "<!DOCTYPE l [<!ENTITY e '{}'>]><l>{}</l>",
        "x".repeat(size / 2),
        "&e;".repeat(size / 6)
    );
    let equal = |expected: &str| body_stub(json!({ "equalToXml": expected }));
    let path = |path: &str| body_stub(json!({ "matchesXPath": path }));
    let found =
        |path: &str| body_stub(json!({ "matchesXPath": { "expression": path, "contains": "z" } }));
    let of = |what: &str, stub: Value, text: &str| Input::of(what, stub, Asked::post(text));
    vec![
        of("equalToXml, 56 kB deep", equal("<b/>"), &deep_xml(56_000)),
        of("equalToXml, deep", equal("<b/>"), &deep),
        of("equalToXml, wide", equal("<b/>"), &wide),
        of("equalToXml, texts among elements", equal("<b/>"), &mixed),
        of("equalToXml, names that differ", equal("<b/>"), &differing),
        of("equalToXml, attributes", equal("<b/>"), &attributes),
        of(
            "equalToXml, as many attributes",
            equal(&fewer.replace("a9=''", "a9='x'")),
            &fewer,
        ),
        of(
            "equalToXml, equal children but the last",
            equal(&children.replace("xxx</b></a>", "xxy</b></a>")),
            &children,
        ),
        of(
            "equalToXml, other children",
            equal(&children.replace("<b>xxxxxxxxxx</b>", "<b/>xxxxxxxxxxxxx")),
            &children.replace("<b>xxxxxxxxxx</b>", "xxxxxxxxxxxxx<b/>"),
        ),
        of("equalToXml, namespaces", equal("<b/>"), &namespaces),
        of(
            "equalToXml, namespaces within each other",
            equal("<b/>"),
            &declaring,
        ),
        of("equalToXml, long name and text", equal("<b/>"), &long),
        of("equalToXml, instructions", equal("<b/>"), &prolog),
        of("equalToXml, entities", equal("<b/>"), &laughs),
        of("equalToXml, signs alone", equal("<b/>"), &signs),
        of(
            "matchesXPath //aaa//aaa//aaa, deep",
            path("//aaa//aaa//aaa[x]"),
            &deep,
        ),
        of(
            "matchesXPath preceding-sibling, wide",
            path("//bbbb[count(preceding-sibling::bbbb) < 0]"),
            &wide,
        ),
        of(
            "matchesXPath texts, deep",
            path("//aaa[. = 'x']"),
            &deep.replacen("</aaa>", "xxxxxxxxxxxxx</aaa>", 1),
        ),
        of(
            "matchesXPath many predicates, deep",
            path(&format!("//aaa{}", "[true()]".repeat(100))),
            &deep,
        ),
        of(
            "matchesXPath namespace::*, deep",
            path("//namespace::*[. = 'x']"),
            &declaring,
        ),
        of("matchesXPath with a pattern, deep", found("//aaa"), &deep),
        of(
            "formatXml, 140 kB deep",
            template("{{formatXml request.body}}"),
            &deep_xml(140_000),
        ),
        of(
            "formatXml, deep",
            template("{{formatXml request.body}}"),
            &deep,
        ),
        of(
            "xPath helper, deep",
            template("{{#each (xPath request.body '//aaa')}}{{this}}{{/each}}"),
            &deep,
        ),
    ]
}
