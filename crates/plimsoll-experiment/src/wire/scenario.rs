//! `scenario`, `values` and `feeders` as written.

use super::load::LoadWire;
use super::span::SpanWire;
use deserr::Deserr;
use plimsoll_base::document::{BytesText, DurationText, Entries, OneOrMany, Text};
use schemars::JsonSchema;

/// One thing that an iteration does: an exchange (exactly one method with its path, and what goes with it), a way between several (`mix`,
/// `repeat` or `if`), a `group` of several, or a `pause` alone.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Step",
    deny_unknown_fields,
    extend("oneOf" = [
        { "required": ["get"] }, { "required": ["head"] }, { "required": ["post"] }, { "required": ["put"] },
        { "required": ["patch"] }, { "required": ["delete"] }, { "required": ["options"] },
        { "required": ["mix"] }, { "required": ["repeat"] }, { "required": ["if"] },
        { "required": ["group"] }, { "required": ["pause"], "maxProperties": 1 }
    ])
)]
pub struct StepWire {
    /// A GET of this path, such as `/search?q=x`. Paths may hold substitutions.
    #[deserr(default)]
    pub get: Option<String>,
    /// A HEAD of this path.
    #[deserr(default)]
    pub head: Option<String>,
    /// A POST to this path.
    #[deserr(default)]
    pub post: Option<String>,
    /// A PUT to this path.
    #[deserr(default)]
    pub put: Option<String>,
    /// A PATCH of this path.
    #[deserr(default)]
    pub patch: Option<String>,
    /// A DELETE of this path.
    #[deserr(default)]
    pub delete: Option<String>,
    /// An OPTIONS of this path.
    #[deserr(default)]
    pub options: Option<String>,
    /// The step's name in reports. Default: its method and path.
    #[deserr(default)]
    pub name: Option<String>,
    /// Query parameters, added to the path with both names and values percent-encoded.
    #[deserr(default)]
    pub query: Option<Entries<Text>>,
    /// Header fields. Values may hold substitutions.
    #[deserr(default)]
    pub headers: Option<Entries<Text>>,
    /// `Authorization`, by name and password or by a token.
    #[deserr(default)]
    pub auth: Option<AuthWire>,
    /// The request body, inline. It may hold substitutions.
    #[deserr(default)]
    pub body: Option<String>,
    /// The request body, from a file relative to this file, sent as it is.
    #[deserr(default)]
    pub body_file: Option<String>,
    /// The request body as JSON. Texts in it may hold substitutions, whose values are escaped.
    #[deserr(default)]
    pub json: Option<serde_json::Value>,
    /// The request body as a form, `application/x-www-form-urlencoded`.
    #[deserr(default)]
    pub form: Option<Entries<Text>>,
    /// The request body as `multipart/form-data`: parts by name, several of one name as a list.
    #[deserr(default)]
    pub multipart: Option<Entries<OneOrMany<PartWire>>>,
    /// How long the exchange may take. Default: the load's.
    #[deserr(default)]
    pub timeout: Option<DurationText>,
    /// Of a step: waited after the end of the exchange before, unless it is the iteration's first. Alone: waited, wherever it stands.
    /// Default: 0.
    #[deserr(default)]
    pub pause: Option<SpanWire>,
    /// How many redirects in a row are followed, 1 to 50, each an exchange of its own; `off`: a redirect is an answer like any other. Default: `off`.
    #[deserr(default)]
    pub redirects: Option<Text>,
    /// Predicates on the answer. Without them, a status from 400 fails.
    #[deserr(default)]
    pub check: Option<CheckWire>,
    /// Values of the answer for later steps, each by the name that they call it.
    #[deserr(default)]
    pub extract: Option<Entries<ExtractWire>>,
    /// One of several, by weight.
    #[deserr(default)]
    pub mix: Option<Vec<ChoiceWire>>,
    /// The `steps`, so many times.
    #[deserr(default)]
    pub repeat: Option<u32>,
    /// The `steps` if this holds, otherwise `else`: two texts, and between them ` == `, ` != `, ` < `, ` <= `, ` > `, ` >= ` or ` contains `.
    #[deserr(default, rename = "if")]
    #[schemars(rename = "if")]
    pub condition: Option<String>,
    /// The `steps`, whose passes are timed as a whole and reported by this name. Within another group: after that one's name and a `/`.
    #[deserr(default)]
    pub group: Option<String>,
    /// With `repeat`, `if` and `group`: what is done.
    #[deserr(default)]
    pub steps: Option<Vec<StepWire>>,
    /// With `if`: what is done where it does not hold.
    #[deserr(default, rename = "else")]
    #[schemars(rename = "else")]
    pub otherwise: Option<Vec<StepWire>>,
}

/// One of several scenarios.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Scenario",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["weight"] }, { "required": ["load"] }])
)]
pub struct ScenarioWire {
    /// How many of all iterations carry it out, in proportion to the others: all share the common load.
    #[deserr(default)]
    pub weight: Option<u32>,
    /// In place of a weight: how much load it gets, and when, at the same time as the others. What it does not say is the common load's.
    #[deserr(default)]
    pub load: Option<LoadWire>,
    /// A virtual user's program: steps, in order.
    pub steps: Vec<StepWire>,
}

/// One of a mix.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Choice", deny_unknown_fields)]
pub struct ChoiceWire {
    /// How often it is chosen, in proportion to the others. Default: 1.
    #[deserr(default)]
    pub weight: Option<u32>,
    /// Steps of this choice.
    pub steps: Vec<StepWire>,
}

/// `Authorization`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Auth", deny_unknown_fields)]
pub struct AuthWire {
    /// `name:password`, sent as RFC 7617 says.
    #[deserr(default)]
    pub basic: Option<String>,
    /// A token, sent as RFC 6750 says.
    #[deserr(default)]
    pub bearer: Option<String>,
}

/// One part of a `multipart` body: a value or a file.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Part", deny_unknown_fields)]
pub struct PartWire {
    /// Its content. It may hold substitutions.
    #[deserr(default)]
    pub value: Option<Text>,
    /// Its content, from a file relative to this file, sent as it is.
    #[deserr(default)]
    pub file: Option<String>,
    /// The name that the file is sent under. Default: its own.
    #[deserr(default)]
    pub filename: Option<String>,
    /// Its content type. Default: of a file `application/octet-stream`, of a value none.
    #[deserr(default, rename = "type")]
    #[schemars(rename = "type")]
    pub media_type: Option<String>,
}

/// Predicates on one answer; all must hold.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Check", deny_unknown_fields)]
pub struct CheckWire {
    /// The permitted status, or a list of them: `200`, `2xx`, `200-204`. Without it, a status from 400 fails.
    #[deserr(default)]
    pub status: Option<OneOrMany<Text>>,
    /// Predicates on header fields, by name; `{}`: it is there.
    #[deserr(default)]
    pub header: Option<Entries<MatchWire>>,
    /// Predicate on the body, decoded.
    #[deserr(default)]
    pub body: Option<MatchWire>,
    /// Values of the first match of a JSONPath (RFC 9535), by path: texts without quotes, everything else as JSON.
    #[deserr(default)]
    pub jsonpath: Option<Entries<Text>>,
    /// JSONPaths that must find something.
    #[deserr(default)]
    pub found: Option<OneOrMany<String>>,
    /// How many bytes the body must have, as it was sent.
    #[deserr(default)]
    pub size: Option<SizeWire>,
    /// Upper limit of the response time.
    #[deserr(default)]
    pub response_time: Option<DurationText>,
}

/// Predicates on a text; all that are written must hold.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Match", deny_unknown_fields)]
pub struct MatchWire {
    /// This.
    #[deserr(default)]
    pub equals: Option<Text>,
    /// With this somewhere in it.
    #[deserr(default)]
    pub contains: Option<Text>,
    /// Such that this regular expression matches somewhere in it.
    #[deserr(default)]
    pub matches: Option<String>,
}

/// A range of sizes.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Size", deny_unknown_fields)]
pub struct SizeWire {
    /// At least. Default: 0.
    #[deserr(default)]
    pub least: Option<BytesText>,
    /// At most. Default: anything.
    #[deserr(default)]
    pub most: Option<BytesText>,
}

/// Where something is in an answer: exactly one of `jsonpath`, `header`, `regex` and `cookie`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Extract", deny_unknown_fields)]
pub struct ExtractWire {
    /// The first thing that this JSONPath (RFC 9535) finds in the body.
    #[deserr(default)]
    pub jsonpath: Option<String>,
    /// The first value of this header field.
    #[deserr(default)]
    pub header: Option<String>,
    /// The first group of this regular expression, or all that it matches, in the body.
    #[deserr(default)]
    pub regex: Option<String>,
    /// The cookie of this name that the answer sets.
    #[deserr(default)]
    pub cookie: Option<String>,
    /// The value where nothing is found. Without it, the exchange fails then, and the iteration ends.
    #[deserr(default)]
    pub default: Option<Text>,
}

/// Rows of data, of which each iteration gets one: exactly one of `csv` and `jsonl`.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Feeder", deny_unknown_fields)]
pub struct FeederWire {
    /// A CSV file whose first line names the columns, relative to this file.
    #[deserr(default)]
    pub csv: Option<String>,
    /// A file of JSON objects, one in a line, relative to this file.
    #[deserr(default)]
    pub jsonl: Option<String>,
    /// Which iteration gets which row. Default: `sequential`.
    #[deserr(default)]
    pub order: Option<OrderWire>,
    /// Behaviour when every row was dealt. Default: `repeat`.
    #[deserr(default)]
    pub at_end: Option<AtEndWire>,
}

/// Which iteration gets which row; the same whatever the number of shards.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "Order", rename_all = "lowercase")]
pub enum OrderWire {
    /// The next one.
    Sequential,
    /// Any one.
    Random,
    /// The next one in a random order.
    Shuffled,
    /// Each virtual user its own, in all its iterations.
    Unique,
}

/// Behaviour when every row was dealt.
#[derive(Debug, Clone, Copy, Deserr, JsonSchema)]
#[deserr(rename_all = lowercase)]
#[schemars(rename = "AtEnd", rename_all = "lowercase")]
pub enum AtEndWire {
    /// They are dealt again.
    Repeat,
    /// The users that would get one stop; of the closed model only.
    Stop,
    /// The run fails.
    Error,
}
