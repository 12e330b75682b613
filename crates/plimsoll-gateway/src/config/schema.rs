//! The JSON Schema of `gateway.yaml`, generated from the wire types and committed for editors.

use super::wire::GatewayFile;
use crate::clients::shard_map::ShardMapFile;

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
    use plimsoll_testbed::committed;

    #[test]
    fn the_committed_schema_is_current() {
        let here = env!("CARGO_MANIFEST_DIR");
        committed::check(here, "schema/gateway.schema.json", &super::schema());
        let map = super::shard_map_schema();
        committed::check(here, "schema/shard-map.schema.json", &map);
    }
}
