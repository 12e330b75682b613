//! What mappings are read with, besides their text: body files, and which responses are templates.

use crate::body_files::BodyFiles;
use crate::config::Templating;

/// What a mapping is read with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) files: BodyFiles,
    pub(crate) templating: Templating,
}
