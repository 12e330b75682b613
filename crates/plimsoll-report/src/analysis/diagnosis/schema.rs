//! The JSON Schema of a file of figures, generated from the wire types and committed for editors.

use super::wire::FiguresFile;
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of a file of figures.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(FiguresFile).to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_current() {
        let schema = format!("{:#}\n", super::schema());
        let file = "schema/figures.schema.json";
        plimsoll_testbed::committed::check(env!("CARGO_MANIFEST_DIR"), file, &schema);
    }
}
