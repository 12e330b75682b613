//! Inputs of reading mappings beside their text: body files, which responses are templates, and to whom requests may be sent.

use crate::reader::body_files::BodyFiles;
use crate::reader::problem::StubProblem;
use crate::reader::targets::{Targets, target_url};
use crate::reader::{Node, Problems};
use std::sync::Arc;

/// Inputs of reading a mapping.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Files of bodies.
    pub files: BodyFiles,
    /// Which answers are templates.
    pub templating: Templating,
    /// To whom requests may be sent, where that is known.
    pub targets: Option<Arc<Targets>>,
}

/// Which responses are templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Templating {
    /// Those of stubs that name the transformer `response-template`.
    #[default]
    Listed,
    /// All.
    All,
    /// None, whatever stubs say.
    Off,
}

impl Surroundings {
    /// Checks a URL of a mapping that is the same for every request: it must lead to a host that is allowed.
    pub fn check_url(&self, text: &str, node: &Node<'_>, problems: &mut Problems) {
        let checked = target_url(text).and_then(|url| match &self.targets {
            Some(targets) if !targets.may_allow(&url.host, url.port) => Err(format!(
                "nothing may be sent to {0}: start with --allow-proxy-targets {0}",
                url.authority
            )),
            _ => Ok(()),
        });
        if let Err(message) = checked {
            problems.push(StubProblem::invalid(&node.pointer, message));
        }
    }
}
