//! `scenario` as written.

use deserr::Deserr;
use plimsoll_base::document::{DurationText, Entries, OneOrMany, Text};
use schemars::JsonSchema;

/// One exchange of an iteration: exactly one method with its path, and what goes with it.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Step",
    deny_unknown_fields,
    extend("oneOf" = [
        { "required": ["get"] }, { "required": ["head"] }, { "required": ["post"] }, { "required": ["put"] },
        { "required": ["patch"] }, { "required": ["delete"] }, { "required": ["options"] }
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
    /// What reports call the step. Default: its method and path.
    #[deserr(default)]
    pub name: Option<String>,
    /// Header fields. Values may hold substitutions.
    #[deserr(default)]
    pub headers: Option<Entries<Text>>,
    /// The request body, inline. It may hold substitutions.
    #[deserr(default)]
    pub body: Option<String>,
    /// The request body, from a file relative to this file, sent as it is.
    #[deserr(default)]
    pub body_file: Option<String>,
    /// How long the exchange may take. Default: the load's.
    #[deserr(default)]
    pub timeout: Option<DurationText>,
    /// Waited after the end of the step before. Default: 0.
    #[deserr(default)]
    pub pause: Option<DurationText>,
    /// What an answer must satisfy. Without it, a status from 400 fails.
    #[deserr(default)]
    pub check: Option<CheckWire>,
}

/// Predicates on one answer.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Check", deny_unknown_fields)]
pub struct CheckWire {
    /// The permitted status, or a list of them.
    #[deserr(default)]
    pub status: Option<OneOrMany<u16>>,
}
