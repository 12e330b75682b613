//! The JSON Schema of the experiment file, generated from the structs that read it and committed.

/// The JSON Schema (draft 2020-12) of the experiment file. It describes shapes; what values mean together is checked on loading.
pub const SCHEMA: &str = include_str!("../../schema/experiment.schema.json");

#[cfg(test)]
mod tests {
    use crate::wire::ExperimentWire;
    use schemars::generate::SchemaSettings;
    use serde_json::Value;

    #[test]
    fn the_committed_schema_is_current() {
        let schema = SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<ExperimentWire>();
        let mut schema = schema.to_value();
        drop_nulls(&mut schema);
        let file = "schema/experiment.schema.json";
        let schema = format!("{schema:#}\n");
        plimsoll_testbed::committed::check(env!("CARGO_MANIFEST_DIR"), file, &schema);
    }

    /// Optional keys are left out, never null; the derived schema allows both.
    fn drop_nulls(schema: &mut Value) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Array(types)) = object.get_mut("type") {
                    types.retain(|kind| kind != "null");
                    if let [only] = &types[..] {
                        let only = only.clone();
                        object.insert("type".to_owned(), only);
                    }
                }
                if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
                    if let [only] = &choices[..] {
                        let only = only.clone();
                        object.shift_remove("anyOf");
                        object.extend(only.as_object().cloned().unwrap_or_default());
                    }
                }
                object.values_mut().for_each(drop_nulls);
            }
            Value::Array(items) => items.iter_mut().for_each(drop_nulls),
            _ => {}
        }
    }
}
