//! JSON as Java programs write it: how WireMock shows what a JSONPath found to the pattern on it. An object that was found is laid out by
//! Jackson's default pretty printer; objects among other things are printed like Java's maps.

use serde_json::Value;

/// The text of a value: a property per line, arrays on one line.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

/// Arrays do not count as depth.
fn write(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) if map.is_empty() => out.push_str("{ }"),
        Value::Object(map) => {
            out.push('{');
            for (index, (name, value)) in map.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                out.push_str(&"  ".repeat(depth + 1));
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push_str(" : ");
                write(value, depth + 1, out);
            }
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
            out.push('}');
        }
        Value::Array(items) if items.is_empty() => out.push_str("[ ]"),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "[ " } else { ", " });
                write(item, depth, out);
            }
            out.push_str(" ]");
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// A value as Java's `toString` prints it: texts without quotes, `{name=value, …}`, `[item, …]`.
pub fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(printed).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter();
            let entries: Vec<String> = entries
                .map(|(name, value)| format!("{name}={}", printed(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn layout() {
        let value = json!({"a": [1, {"b": {}}], "c": {"d": []}});
        let expected =
            "{\n  \"a\" : [ 1, {\n    \"b\" : { }\n  } ],\n  \"c\" : {\n    \"d\" : [ ]\n  }\n}";
        assert_eq!(pretty(&value), expected);
        assert_eq!(printed(&value), "{a=[1, {b={}}], c={d=[]}}");
    }
}
