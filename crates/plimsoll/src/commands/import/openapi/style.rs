//! How a parameter's value is written (OpenAPI, Parameter Object: `style` and `explode`).

use super::description::text_of;
use super::encoded;
use serde_json::Value;

/// A part of the path.
///
/// # Errors
/// A style that paths do not have.
pub fn in_path(parameter: &Value, name: &str, value: &Value) -> Result<String, String> {
    match word(parameter, "simple") {
        "simple" => Ok(listed(value, ",")),
        "label" => Ok(format!(".{}", listed(value, "."))),
        "matrix" => Ok(format!(";{}={}", encoded(name), listed(value, ","))),
        other => Err(format!(
            "its parameter `{name}` has the style `{other}` in a path"
        )),
    }
}

/// Encoded pairs of a query.
///
/// # Errors
/// A style that queries do not have.
pub fn in_query(parameter: &Value, name: &str, value: &Value) -> Result<Vec<String>, String> {
    let style = word(parameter, "form");
    let explode = parameter.get("explode").and_then(Value::as_bool);
    let separator = match style {
        "form" => ",",
        "spaceDelimited" => "%20",
        "pipeDelimited" => "%7C",
        "deepObject" => {
            let fields = value.as_object().into_iter().flatten();
            return Ok(fields
                .map(|(field, value)| pair(&format!("{name}[{field}]"), value))
                .collect());
        }
        other => {
            return Err(format!(
                "its parameter `{name}` has the style `{other}` in a query"
            ));
        }
    };
    if explode.unwrap_or(style == "form") {
        return Ok(pairs(name, value));
    }
    Ok(vec![format!(
        "{}={}",
        encoded(name),
        listed(value, separator)
    )])
}

/// The default styles of paths and headers: values of a list with commas between.
pub fn joined(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => text_of(other),
    }
}

/// The default style of a query, `form` and exploded: a list is one pair for each value, an object one for each property.
pub fn pairs(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| pair(name, item)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| pair(name, value))
            .collect(),
        other => vec![pair(name, other)],
    }
}

fn pair(name: &str, value: &Value) -> String {
    format!("{}={}", encoded(name), encoded(&text_of(value)))
}

/// The encoded values of a list, or names and values of an object, one after the other.
fn listed(value: &Value, separator: &str) -> String {
    let texts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| encoded(&text_of(item))).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| [encoded(name), encoded(&text_of(value))])
            .collect(),
        other => vec![encoded(&text_of(other))],
    };
    texts.join(separator)
}

fn word<'a>(parameter: &'a Value, default: &'a str) -> &'a str {
    let style = parameter.get("style").and_then(Value::as_str);
    style.unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_in_the_style_that_is_asked_for() {
        let (list, object) = (json!(["a b", 2]), json!({ "x": 1, "y": 2 }));
        let query =
            |parameter: &Value, value: &Value| in_query(parameter, "n", value).unwrap().join("&");
        for (style, of_list, of_object) in [
            (json!({}), "n=a%20b&n=2", "x=1&y=2"),
            (json!({ "explode": false }), "n=a%20b,2", "n=x,1,y,2"),
            (
                json!({ "style": "pipeDelimited" }),
                "n=a%20b%7C2",
                "n=x%7C1%7Cy%7C2",
            ),
            (
                json!({ "style": "spaceDelimited", "explode": true }),
                "n=a%20b&n=2",
                "x=1&y=2",
            ),
            (
                json!({ "style": "deepObject" }),
                "",
                "n%5Bx%5D=1&n%5By%5D=2",
            ),
        ] {
            assert_eq!(
                (
                    query(&style, &list).as_str(),
                    query(&style, &object).as_str()
                ),
                (of_list, of_object),
                "{style}"
            );
        }
        for (style, expected) in [
            ("simple", "a%20b,2"),
            ("label", ".a%20b.2"),
            ("matrix", ";n=a%20b,2"),
        ] {
            assert_eq!(
                in_path(&json!({ "style": style }), "n", &list).unwrap(),
                expected
            );
        }
        assert!(in_path(&json!({ "style": "form" }), "n", &list).is_err());
    }
}
