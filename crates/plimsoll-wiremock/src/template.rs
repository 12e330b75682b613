//! Response templates: Handlebars as WireMock has it, compiled when a mapping is loaded and rendered for each request.
//!
//! An engine of our own, since the request's parts are what a JSON value cannot be: `request.query.x` prints its first value and has
//! the others, `request.path` prints itself and has its segments, and what a template does not ask for should not be computed. What
//! Handlebars.java does was observed with WireMock 3.13.2 (`tests/data/templates.json`). Parsing is left to `template/parse.rs`,
//! evaluation to `template/render.rs`, what `request` has to `template/model.rs`; each helper is a file in `template/helper/`.

mod expression;
mod helper;
pub mod model;
mod parse;
mod render;
mod value;
mod xml_node;

use crate::reader::Problems;
use crate::reader::problem::StubProblem;
use model::Model;
use render::Renderer;
use render::program::ProgramPiece;

/// The names of all helpers.
#[cfg(any(test, feature = "testing"))]
pub fn helper_names() -> impl Iterator<Item = &'static str> {
    helper::names()
}

/// A compiled template.
#[derive(Debug, Clone)]
pub struct Template {
    parts: Vec<ProgramPiece>,
}

/// Why a template gives nothing for a request: its place and what went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct RenderError {
    line: usize,
    column: usize,
    message: String,
}

impl Template {
    /// Compiles a template; the error says where and what is wrong.
    pub fn compile(text: &str) -> Result<Self, String> {
        Ok(Self {
            parts: parse::parts(text)?,
        })
    }

    /// Compiles a template of a stub mapping; why there is none is among the problems.
    pub fn read(text: &str, pointer: &str, problems: &mut Problems) -> Option<Self> {
        let refused = |message| {
            let message = format!("not a template that can be run here: {message}");
            problems.push(StubProblem::invalid(pointer, message));
        };
        Self::compile(text).map_err(refused).ok()
    }

    /// A template that is this text.
    pub fn text(text: &str) -> Self {
        Self {
            parts: vec![ProgramPiece::Text(text.to_owned())],
        }
    }

    /// Whether it gives this text for every request. One with a comment does not give its own.
    pub fn gives(&self, text: &str) -> bool {
        let left = self.parts.iter().try_fold(text, |left, part| match part {
            ProgramPiece::Text(own) => left.strip_prefix(own.as_str()),
            ProgramPiece::Output(_) | ProgramPiece::Block(_) => None,
        });
        left == Some("")
    }

    /// The text for one request; the error says where and why there is none.
    pub fn render<'a>(&'a self, model: &'a Model<'a>) -> Result<String, String> {
        let rendered = Renderer::new(model).render(&self.parts);
        rendered.map_err(|error| error.to_string())
    }
}
