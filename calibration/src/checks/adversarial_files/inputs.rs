//! The inputs: which command reads them, and what stands in them.

mod own;

use crate::bench::{Bench, Error};

/// One adversarial input.
pub struct Input {
    pub what: String,
    pub reader: Reader,
    pub text: String,
}

/// A command that reads a file and ends by itself.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// `validate`, which tells by what stands in it which format it is.
    Validate,
    /// `import har`.
    Har,
    /// `import openapi`.
    OpenApi,
    /// A gateway whose shard map it is. Each of them is refused, so that the gateway ends.
    ShardMap,
    /// A gateway that has its keys from it. Each of them is refused, too.
    Keys,
    /// `validate` of an experiment that feeds its users from it, a table of CSV or of JSON Lines.
    Csv,
    JsonLines,
}

const GATEWAY: &str = "version: 1
listeners: { main: { address: \"127.0.0.1:0\" } }
upstreams: { u: { endpoints: [\"http://127.0.0.1:9\"] } }
shard_map: { file: input }
routes: [{ path: /, upstream: u }]
";
const EXPERIMENT: &str = "version: 1
name: x
components: { a: { external: \"http://127.0.0.1:9\" } }
load: { rate: 1/s, duration: 1s }
scenario: [{ get: / }]
";

impl Reader {
    /// The command's words, with the text and what else it needs in a directory of its own.
    pub fn words(self, bench: &Bench, text: &str) -> Result<Vec<String>, Error> {
        let directory = bench.directory()?;
        let write = |name: &str, text: &str| -> Result<String, Error> {
            let path = directory.join(name);
            std::fs::write(&path, text).map_err(|e| Error::io("writing an input", e))?;
            Ok(path.display().to_string())
        };
        let input = write("input", text)?;
        let words = match self {
            Self::Validate => vec!["validate".to_owned(), input],
            Self::Har => vec!["import".to_owned(), "har".to_owned(), input],
            Self::OpenApi => vec!["import".to_owned(), "openapi".to_owned(), input],
            Self::ShardMap => {
                let conf = write("gateway.yaml", GATEWAY)?;
                vec!["gateway".to_owned(), "--config".to_owned(), conf]
            }
            Self::Keys => {
                let apps = directory.join("apps");
                std::fs::create_dir_all(&apps).map_err(|e| Error::io("writing an input", e))?;
                let apps = apps.display();
                let conf =
                    format!("{{\"secret\": \"s\", \"listen_port\": 0, \"app_path\": \"{apps}\"}}");
                let conf = write("tyk.conf", &conf)?;
                let tyk = ["gateway", "--tyk", &conf, "--keys", &input];
                tyk.map(str::to_owned).to_vec()
            }
            Self::Csv | Self::JsonLines => {
                let format = match self {
                    Self::Csv => "csv",
                    _ => "jsonl",
                };
                let feeders = format!("{EXPERIMENT}feeders: {{ f: {{ {format}: input }} }}\n");
                vec!["validate".to_owned(), write("experiment.yaml", &feeders)?]
            }
        };
        Ok(words)
    }

    /// A small file that the command refuses, so that it ends by itself as with the others.
    pub fn harmless(self) -> &'static str {
        match self {
            Self::Validate | Self::ShardMap => "version: 1\n",
            Self::Csv => "a\n1\n",
            Self::JsonLines => "{\"a\":1}\n",
            Self::Har | Self::OpenApi | Self::Keys => "[]",
        }
    }
}

fn repeated(size: usize, one: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(size + 64);
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&one(number));
    }
    text
}

/// All of them, of about so many bytes.
pub fn all(size: usize) -> Vec<Input> {
    let shapes = shapes(size);
    let of = |reader: Reader, name: &str, before: &str, after: &str| -> Vec<Input> {
        let inputs = shapes.iter().map(|(shape, text)| Input {
            what: format!("{name}, {shape}"),
            reader,
            text: format!("{before}{text}{after}"),
        });
        inputs.collect()
    };
    let tyk = "{\"proxy\": {\"listen_path\": \"/\"}, \"tags\": ";
    let versions = "{\"proxy\": {\"listen_path\": \"/\"}, \"version_data\": {\"versions\": ";
    let har = "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"http://a/\"}}], \"x\": ";
    let openapi = "{\"openapi\": \"3.0.0\", \"servers\": [{\"url\": \"http://a\"}], \"paths\": {\"/\": {\"get\": {}}}, \"x\": ";
    [
        of(Reader::Validate, "any document", "", ""),
        of(
            Reader::Validate,
            "experiment",
            "version: 1\nname: x\nscenario: ",
            "\n",
        ),
        of(Reader::Validate, "gateway", "version: 1\nroutes: ", "\n"),
        of(Reader::Validate, "API definition", tyk, "}"),
        of(
            Reader::Validate,
            "versions of an API definition",
            versions,
            "}}",
        ),
        of(
            Reader::Validate,
            "policies",
            "{\"p\": {\"access_rights\": ",
            "}}",
        ),
        of(Reader::Har, "HAR", har, "}}"),
        of(Reader::OpenApi, "OpenAPI", openapi, "}"),
        of(Reader::ShardMap, "shard map", "version: 1\nexact: ", "\n"),
        // The first key is too short.
        of(Reader::Keys, "keys", "{\"k\": {}, \"key\": ", "}"),
        lines(size),
        own::all(size),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Values that are deep, wide or long, each on one line and JSON, which is YAML, too.
fn shapes(size: usize) -> Vec<(&'static str, String)> {
    let list = |one: &str| format!("[{}0]", one.repeat(size / one.len()));
    let keys = |value: &str| {
        format!(
            "{{{}\"z\":{value}}}",
            repeated(size, |n| format!("\"k{n}\":{value},"))
        )
    };
    let deep = format!("{}0{},", "[".repeat(50), "]".repeat(50));
    vec![
        ("numbers", list("0,")),
        ("empty mappings", list("{},")),
        ("small mappings", list("{\"a\":0},")),
        ("deep lists", list(&deep)),
        ("deeper than may be", "[".repeat(size)),
        ("keys", keys("1")),
        ("keys without values", keys("null")),
        (
            "equal keys",
            format!("{{{}\"k\":1}}", "\"k\":1,".repeat(size / 6)),
        ),
        (
            "a long key",
            format!(
                "{{\"{}\":{{{}\"z\":1}}}}",
                "k".repeat(size / 2),
                repeated(size / 2, |n| format!("\"k{n}\":1,"))
            ),
        ),
        ("a long text", format!("\"{}\"", "é".repeat(size / 2))),
    ]
}

/// Inputs of what only YAML has.
fn lines(size: usize) -> Vec<Input> {
    let of = |what: &str, text: String| Input {
        what: format!("YAML, {what}"),
        reader: Reader::Validate,
        text,
    };
    vec![
        of("list", "- 0\n".repeat(size / 4)),
        of("small mappings", "- a: 0\n".repeat(size / 7)),
        of(
            "small mappings in brackets",
            format!("[{}0]", "{a: 0},".repeat(size / 7)),
        ),
        of("keys", repeated(size, |n| format!("k{n}: 1\n"))),
        of("equal keys", "k: 1\n".repeat(size / 5)),
        of("comments", "#\n".repeat(size / 2)),
        of("blocks", format!("a: |\n{}", " x\n".repeat(size / 3))),
        of("quoted", format!("a: \"{}\"", "\\x41".repeat(size / 4))),
        of("anchors", repeated(size, |n| format!("k{n}: &a b\n"))),
    ]
}
