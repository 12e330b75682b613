//! Where the gateway's own lines go.

use std::sync::Arc;

/// Takes one line of text for the operator; called from several threads.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;
