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
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(
                "schema/figures.schema.json",
                format!("{:#}\n", super::schema()),
            )
            .unwrap();
            return;
        }
        let committed = include_str!("../../schema/figures.schema.json");
        assert!(
            committed == format!("{:#}\n", super::schema()),
            "schema/figures.schema.json is not what UPDATE=1 would write"
        );
    }
}
