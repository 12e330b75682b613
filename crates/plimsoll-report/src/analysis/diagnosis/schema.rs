//! The JSON Schema of a file of figures, generated from the wire types and committed.

/// The JSON Schema (draft 2020-12) of a file of figures.
pub const SCHEMA: &str = include_str!("../../../schema/figures.schema.json");

#[cfg(test)]
mod tests {
    use crate::analysis::diagnosis::wire::FiguresFile;

    #[test]
    fn the_committed_schema_is_current() {
        let schema = format!("{:#}\n", schemars::schema_for!(FiguresFile).to_value());
        let file = "schema/figures.schema.json";
        plimsoll_testbed::committed::check(env!("CARGO_MANIFEST_DIR"), file, &schema);
    }
}
