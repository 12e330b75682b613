//! The JSON Schema of `summary.json`, generated from the structs that write it and committed.

/// The JSON Schema (draft 2020-12) of the summary.
pub const SUMMARY: &str = include_str!("../../schema/summary.schema.json");

#[cfg(test)]
mod tests {
    use crate::record::Summary;

    #[test]
    fn the_committed_schema_is_current() {
        let schema = format!("{:#}\n", schemars::schema_for!(Summary).to_value());
        let file = "schema/summary.schema.json";
        plimsoll_testbed::committed::check(env!("CARGO_MANIFEST_DIR"), file, &schema);
    }
}
