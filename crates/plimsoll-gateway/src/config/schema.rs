//! The JSON Schema of `gateway.yaml`, generated from the wire types and committed for editors.

use super::wire::GatewayFile;
use crate::shard_map::ShardMapFile;

/// The JSON Schema (draft 2020-12) of `gateway.yaml`, pretty-printed, with a final newline.
///
/// # Panics
/// Never: a schema is always valid JSON.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(GatewayFile);
    serde_json::to_string_pretty(&schema).expect("invariant: a schema is JSON") + "\n"
}

/// The JSON Schema (draft 2020-12) of a shard map, pretty-printed, with a final newline.
///
/// # Panics
/// Never: a schema is always valid JSON.
#[must_use]
pub fn shard_map_schema() -> String {
    let schema = schemars::schema_for!(ShardMapFile);
    serde_json::to_string_pretty(&schema).expect("invariant: a schema is JSON") + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_current() {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write("schema/gateway.schema.json", super::schema()).unwrap();
            let map = super::shard_map_schema();
            std::fs::write("schema/shard-map.schema.json", map).unwrap();
            return;
        }
        let committed = include_str!("../../schema/gateway.schema.json");
        assert!(
            committed == super::schema(),
            "schema/gateway.schema.json is not what UPDATE=1 would write"
        );
        let committed = include_str!("../../schema/shard-map.schema.json");
        assert!(
            committed == super::shard_map_schema(),
            "schema/shard-map.schema.json is not what UPDATE=1 would write"
        );
    }
}
