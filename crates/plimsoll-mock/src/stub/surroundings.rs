//! What mappings are read with, besides their text: body files, which responses are templates, and to whom requests may be sent.

use crate::body_files::BodyFiles;
use crate::config::Templating;
use crate::outgoing::Targets;
use std::sync::Arc;

/// What a mapping is read with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) files: BodyFiles,
    pub(crate) templating: Templating,
    /// To whom requests may be sent, where that is known.
    pub(crate) targets: Option<Arc<Targets>>,
}
