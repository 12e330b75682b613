//! The JSON Schemas of `gateway.yaml` and of a shard map, generated from the wire types and committed.

/// The JSON Schema (draft 2020-12) of `gateway.yaml`.
pub const SCHEMA: &str = include_str!("../../schema/gateway.schema.json");

/// The JSON Schema (draft 2020-12) of a shard map.
pub const SHARD_MAP_SCHEMA: &str = include_str!("../../schema/shard-map.schema.json");

#[cfg(test)]
mod tests {
    use crate::clients::shard_map::ShardMapFile;
    use crate::config::wire::GatewayFile;
    use plimsoll_testbed::committed;

    #[test]
    fn the_committed_schemas_are_current() {
        let here = env!("CARGO_MANIFEST_DIR");
        let gateway = serde_json::to_string_pretty(&schemars::schema_for!(GatewayFile)).unwrap();
        committed::check(here, "schema/gateway.schema.json", &(gateway + "\n"));
        let map = serde_json::to_string_pretty(&schemars::schema_for!(ShardMapFile)).unwrap();
        committed::check(here, "schema/shard-map.schema.json", &(map + "\n"));
    }
}
