//! The JSON Schema of `summary.json`, generated from the structs that write it.

use crate::record::Summary;
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of the summary.
#[must_use]
pub fn summary() -> Value {
    schemars::schema_for!(Summary).to_value()
}
