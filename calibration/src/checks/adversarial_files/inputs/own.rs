//! The parts that each format has of its own, valid and over and over: steps, routes, rights, rows.

use super::{Input, Reader, repeated};

const EXPERIMENT: &str = "version: 1
name: x
components: { a: { external: \"http://127.0.0.1:9\" } }
load: { rate: 1/s, duration: 1s }
";
const GATEWAY: &str = "version: 1
listeners: { main: { address: \"127.0.0.1:0\" } }
upstreams: { u: { endpoints: [\"http://127.0.0.1:9\"] } }
routes:
";
const API: &str = "{\"api_id\": \"a\", \"use_keyless\": true, \"proxy\": {\"listen_path\": \"/\", \"target_url\": \"http://127.0.0.1:9/\"}, \
\"version_data\": {\"not_versioned\": true, \"versions\": {\"v\": {\"use_extended_paths\": true, \"extended_paths\": {\"white_list\": [";
const SHARDS: &str = "version: 1\nmap_version: 1\nshards: { s: { upstream: u } }\nexact:\n";
const HAR: &str = "{\"log\": {\"entries\": [";
const ENTRY: &str = "{\"request\":{\"method\":\"GET\",\"url\":\"http://a/\"}}";
const OPENAPI: &str =
    "{\"openapi\": \"3.0.0\", \"servers\": [{\"url\": \"http://a\"}], \"paths\": {";

/// A text of which one part is repeated: what is before that, and after it.
struct Shape(Reader, &'static str, String, fn(usize) -> String, String);

/// All of them, of about so many bytes.
pub fn all(size: usize) -> Vec<Input> {
    let shapes = [
        experiments(),
        gateways(),
        definitions(),
        policies(),
        keys(),
        imports(),
        tables(),
    ];
    let input = |Shape(reader, what, before, one, after): Shape| Input {
        what: what.to_owned(),
        reader,
        text: format!("{before}{}{after}", repeated(size, one)),
    };
    shapes.into_iter().flatten().map(input).collect()
}

fn shape(
    reader: Reader,
    what: &'static str,
    before: impl Into<String>,
    one: fn(usize) -> String,
    after: impl Into<String>,
) -> Shape {
    Shape(reader, what, before.into(), one, after.into())
}

fn experiments() -> Vec<Shape> {
    let of = |what, before: &str, one: fn(usize) -> String, after| {
        shape(
            Reader::Validate,
            what,
            format!("{EXPERIMENT}{before}"),
            one,
            after,
        )
    };
    let headers = "scenario: [{get: /, headers: {";
    let path = "values: { a: b }\nscenario: [{get: \"/";
    let values = "scenario: [{get: /}]\nvalues:\n";
    vec![
        of("steps", "scenario:\n", |_| "- get: /\n".to_owned(), ""),
        of(
            "steps and comments",
            "scenario:\n",
            |_| format!("- get: / # {}\n", "x".repeat(250)),
            "",
        ),
        of("headers", headers, |n| format!("h{n}: a, "), "}}]\n"),
        of("references", path, |_| "${a}".to_owned(), "\"}]\n"),
        of("values", values, |n| format!("  v{n}: a\n"), ""),
        of(
            "values and comments",
            values,
            |n| format!("  v{n}: a # {}\n", "x".repeat(16)),
            "",
        ),
    ]
}

fn gateways() -> Vec<Shape> {
    vec![
        shape(
            Reader::Validate,
            "routes",
            GATEWAY,
            |n| format!("- {{ path: /{n}, upstream: u }}\n"),
            "",
        ),
        shape(
            Reader::Validate,
            "routes and comments",
            GATEWAY,
            |n| format!("- {{ path: /{n}, upstream: u }} # {}\n", "x".repeat(40)),
            "",
        ),
        shape(
            Reader::Validate,
            "equal routes",
            GATEWAY,
            |_| "- { path: /, upstream: u }\n".to_owned(),
            "",
        ),
        shape(
            Reader::ShardMap,
            "identities",
            SHARDS,
            |n| format!("- {{ dns: a{n}.example, shard: s }}\n"),
            "",
        ),
        shape(
            Reader::ShardMap,
            "wrong identities",
            SHARDS,
            |_| "- { shard: s }\n".to_owned(),
            "",
        ),
        shape(
            Reader::Validate,
            "rules of a route",
            format!("{GATEWAY}- path: /\n  upstream: u\n  rules:\n"),
            |n| {
                let name = "x".repeat(40);
                format!("  - {{ at: \"/{n}/{{id}}/{name}\", deny: true }}\n")
            },
            "",
        ),
    ]
}

fn definitions() -> Vec<Shape> {
    vec![
        shape(
            Reader::Validate,
            "paths of an API",
            API,
            |n| format!("{{\"path\":\"/{n}\"}},"),
            "{\"path\":\"/\"}]}}}}}",
        ),
        shape(
            Reader::Validate,
            "long paths of an API",
            API,
            |n| format!("{{\"path\":\"/{n}/{}\"}},", "x".repeat(180)),
            "{\"path\":\"/\"}]}}}}}",
        ),
        shape(
            Reader::Validate,
            "paths with names of an API",
            API,
            |n| format!("{{\"path\":\"/{n}/{{id}}/{}\"}},", "x".repeat(180)),
            "{\"path\":\"/\"}]}}}}}",
        ),
        shape(
            Reader::Validate,
            "expressions of an API",
            API,
            |n| format!("{{\"path\":\"/{n}/([^/x]+|y.z)/{}\"}},", "x".repeat(180)),
            "{\"path\":\"/\"}]}}}}}",
        ),
        shape(
            Reader::Validate,
            "repeating expressions of an API",
            API,
            |n| format!("{{\"path\":\"/{n}/.{{200}}{}\"}},", "x".repeat(180)),
            "{\"path\":\"/\"}]}}}}}",
        ),
    ]
}

fn policies() -> Vec<Shape> {
    vec![
        shape(
            Reader::Validate,
            "many policies",
            "{",
            |n| format!("\"p{n}\":{{\"quota_max\":1}},"),
            "\"p\":{\"quota_max\":1}}",
        ),
        shape(
            Reader::Validate,
            "many policies with names",
            "{",
            |n| format!("\"p{n}\":{{\"quota_max\":1,\"name\":\"a name\"}},"),
            "\"p\":{\"quota_max\":1}}",
        ),
    ]
}

/// The first or the last one is too short, so that the gateway ends.
fn keys() -> Vec<Shape> {
    let rights = "{\"k\":{},\"key\":{\"access_rights\":{";
    vec![
        shape(
            Reader::Keys,
            "many keys",
            "{",
            |n| format!("\"key{n}\":{{}},"),
            "\"k\":{}}",
        ),
        shape(
            Reader::Keys,
            "many keys with policies",
            "{",
            |n| format!("\"key{n}\":{{\"apply_policies\":[\"p\"]}},"),
            "\"k\":{}}",
        ),
        shape(
            Reader::Keys,
            "many keys that are made",
            "{",
            |n| format!("\"key{n}\":{{\"access_rights\":{{\"a\":{{}}}}}},"),
            "\"k\":{}}",
        ),
        shape(
            Reader::Keys,
            "many keys that are made and differ",
            "{",
            |n| format!("\"key{n}\":{{\"access_rights\":{{\"a{n}\":{{}}}}}},"),
            "\"k\":{}}",
        ),
        shape(
            Reader::Keys,
            "rights of a key",
            rights,
            |n| format!("\"a{n}\":{{}},"),
            "\"a\":{}}}}",
        ),
    ]
}

fn imports() -> Vec<Shape> {
    let entries = format!("{ENTRY}]}}}}");
    vec![
        shape(
            Reader::Har,
            "HAR, entries",
            HAR,
            |_| format!("{ENTRY},"),
            entries,
        ),
        shape(
            Reader::OpenApi,
            "OpenAPI, paths",
            OPENAPI,
            |n| format!("\"/{n}\":{{\"get\":{{}}}},"),
            "\"/\":{\"get\":{}}}}",
        ),
        shape(
            Reader::OpenApi,
            "OpenAPI, paths with words",
            OPENAPI,
            |n| format!("\"/{n}\":{{\"get\":{{\"summary\":\"a b c d e f g h i\"}}}},"),
            "\"/\":{\"get\":{}}}}",
        ),
    ]
}

fn tables() -> Vec<Shape> {
    vec![
        shape(
            Reader::Csv,
            "CSV, columns",
            "",
            |n| format!("c{n},"),
            "z\n1\n",
        ),
        shape(Reader::Csv, "CSV, rows", "a\n", |_| "1\n".to_owned(), ""),
        shape(
            Reader::Csv,
            "CSV, quotes",
            "a\n\"",
            |_| "\"\"".to_owned(),
            "\"\n",
        ),
        shape(
            Reader::JsonLines,
            "JSON Lines, columns",
            "{",
            |n| format!("\"c{n}\":1,"),
            "\"z\":1}\n",
        ),
        shape(
            Reader::JsonLines,
            "JSON Lines, rows",
            "",
            |_| "{\"a\":1}\n".to_owned(),
            "",
        ),
    ]
}
