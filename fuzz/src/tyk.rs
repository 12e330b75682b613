//! Tyk's API definitions: what `docs/tyk.md` says of every field, held against what the gateway makes of a definition.
//!
//! The page is read as a user reads it. That it was generated from the gateway's list is no matter: how a file is judged by that list is the
//! gateway's doing, and what is looked for here is one that is judged otherwise.

use plimsoll_gateway::fuzzing::Served;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

const PAGE: &str = include_str!("../../docs/tyk.md");

/// A field as the page has it.
#[derive(Debug)]
struct Row {
    way: Vec<&'static str>,
    /// The values that are accepted all the same, if it is refused.
    refused: Option<Vec<&'static str>>,
}

/// The rows about API definitions.
fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let (_, section) = PAGE
            .split_once("\n## API definition\n")
            .expect("the page has that section");
        let section = section.split("\n## ").next().unwrap_or_default();
        section.lines().filter_map(row).collect()
    })
}

fn row(line: &'static str) -> Option<Row> {
    let line = line.strip_prefix("| `")?;
    let (path, rest) = line.split_once("` | ")?;
    let (class, note) = rest.split_once(" | ")?;
    let accepted = note
        .split_once("accepted: ")
        .map_or("", |(_, values)| values);
    let values = accepted.split('`').skip(1).step_by(2).collect();
    Some(Row {
        way: path.split('.').collect(),
        refused: (class == "**refused**").then_some(values),
    })
}

/// Why a definition must be refused, whatever else it says: a field that restricts or changes something and is not supported, or one that
/// nobody knows.
fn must_refuse(definition: &Value) -> Option<String> {
    let mut leaves = Vec::new();
    collect(definition, &mut Vec::new(), &mut leaves);
    leaves.into_iter().find_map(|(way, value)| {
        let shown = way.join(".");
        let covers = |row: &&Row| {
            row.way.len() <= way.len()
                && (row.way.iter().zip(&way)).all(|(own, name)| *own == "*" || own == name)
        };
        // The longest, and of two as long the first.
        let mut covering: Option<&Row> = None;
        for row in rows().iter().filter(covers) {
            if covering.is_none_or(|best| row.way.len() > best.way.len()) {
                covering = Some(row);
            }
        }
        match covering {
            None => Some(format!("`{shown}` is in no row of the page")),
            Some(Row { refused: None, .. }) => None,
            Some(Row {
                refused: Some(accepted),
                way: own,
            }) => {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                let harmless = own.len() == way.len() && accepted.contains(&&*text);
                (!harmless).then(|| format!("`{shown}` is refused by the page"))
            }
        }
    })
}

/// Every value that says something, with the way to it; places in lists are `*`.
fn collect<'v>(
    value: &'v Value,
    way: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, &'v Value)>,
) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                way.push(name.clone());
                collect(value, way, leaves);
                way.pop();
            }
        }
        Value::Array(items) => {
            for value in items {
                way.push("*".to_owned());
                collect(value, way, leaves);
                way.pop();
            }
        }
        Value::Null | Value::Bool(false) => {}
        Value::Number(number) if number.as_f64() == Some(0.0) => {}
        Value::String(text) if text.is_empty() => {}
        says => leaves.push((way.clone(), says)),
    }
}

/// Reads a definition and holds what comes of it against its text.
///
/// # Panics
/// With a finding.
pub fn check(text: &str) {
    let outcome = plimsoll_gateway::fuzzing::tyk_definition(text);
    if let Err(finding) = agree(text, &outcome.map_err(|problems| problems.to_string())) {
        panic!("{finding}\nin {text}");
    }
}

/// Checks that `text` may be taken for `outcome`; the error says what is wrong. To refuse is never wrong here: that definitions are taken
/// which can be is a test's.
fn agree(text: &str, outcome: &Result<Option<Served>, String>) -> Result<(), String> {
    let Ok(served) = outcome else {
        return Ok(());
    };
    let definition: Value =
        serde_json::from_str(text).map_err(|error| format!("taken, but not JSON: {error}"))?;
    let definition = spelled(definition, &mut Vec::new());
    if let Some(reason) = must_refuse(&definition) {
        return Err(format!("taken, but {reason}"));
    }
    let closed = definition["active"] == false || definition["internal"] == true;
    match served {
        None if closed => Ok(()),
        None => Err("it is not served".to_owned()),
        Some(_) if closed => Err("it is closed, and served all the same".to_owned()),
        Some(served) => agree_on(&definition, served),
    }
}

/// The definition with its fields spelled as the page has them: Go reads them in any case. Names that a file chooses stay.
fn spelled(value: Value, way: &mut Vec<String>) -> Value {
    let below = |way: &[String]| -> Vec<&'static str> {
        let leads = |row: &&Row| {
            row.way.len() > way.len()
                && (row.way.iter().zip(way)).all(|(own, name)| *own == "*" || own == name)
        };
        rows()
            .iter()
            .filter(leads)
            .map(|row| row.way[way.len()])
            .collect()
    };
    match value {
        Value::Object(entries) => {
            let known = below(way);
            let own = |name: String| -> String {
                if known.contains(&"*") || known.contains(&&*name) {
                    return name;
                }
                let same = known.iter().find(|own| folded(own) == folded(&name));
                same.map_or(name, |own| (*own).to_owned())
            };
            let entries = entries.into_iter().map(|(name, value)| {
                let name = own(name);
                way.push(name.clone());
                let value = spelled(value, way);
                way.pop();
                (name, value)
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => {
            way.push("*".to_owned());
            let items = items.into_iter().map(|item| spelled(item, way)).collect();
            way.pop();
            Value::Array(items)
        }
        other => other,
    }
}

/// As Go compares names.
fn folded(name: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

/// Checks an API that is served for this definition; the error says what is wrong.
fn agree_on(definition: &Value, served: &Served) -> Result<(), String> {
    let listens = definition["proxy"]["listen_path"].as_str();
    let stem = listens.map(|path| path.trim_end_matches('/'));
    if stem != Some(served.path.trim_end_matches('/')) {
        return Err(format!("it listens on {}", served.path));
    }
    let key = (definition["use_keyless"] != true).then(|| {
        let way = match definition["enable_jwt"] == true {
            true => "jwt",
            false => "authToken",
        };
        let token = &definition["auth_configs"][way];
        let auth = if token.is_object() {
            token
        } else {
            &definition["auth"]
        };
        let name = auth["auth_header_name"].as_str().unwrap_or_default();
        if name.is_empty() {
            "Authorization"
        } else {
            name
        }
    });
    if key != served.key_field.as_deref() {
        return Err(format!("a key is asked for in {:?}", served.key_field));
    }
    let limit = &definition["global_rate_limit"];
    let number = |name: &str| limit[name].as_f64().unwrap_or(0.0);
    let limited = definition["disable_rate_limit"] != true
        && limit["disabled"] != true
        && number("rate") > 0.0;
    let rate = limited.then(|| number("rate") / number("per"));
    let same = match (rate, served.rate) {
        (Some(rate), Some(own)) => (own - rate).abs() <= rate * 1e-9,
        (None, None) => true,
        _ => false,
    };
    if !same {
        return Err(format!("its rate is {:?}", served.rate));
    }
    if has_lists(definition) && !served.rules {
        return Err("its lists are not there".to_owned());
    }
    Ok(())
}

/// Whether a white or black list of extended paths has an entry in force.
fn has_lists(definition: &Value) -> bool {
    let versions = definition["version_data"]["versions"].as_object();
    let mut versions = versions.into_iter().flat_map(Map::values);
    versions.any(|version| {
        let in_force = |name: &str| {
            let entries = version["extended_paths"][name].as_array();
            let mut entries = entries.into_iter().flatten();
            entries.any(|entry| entry["disabled"] != true)
        };
        version["use_extended_paths"] == true && (in_force("white_list") || in_force("black_list"))
    })
}

/// The definition that these bytes make. Those that begin beyond ASCII change a sound one, field by field of the page; others are its text.
pub fn text(bytes: &[u8]) -> String {
    let Some((first, changes)) = bytes.split_first().filter(|(first, _)| !first.is_ascii()) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut definition: Value =
        serde_json::from_str(if first & 1 == 0 { KEYLESS } else { EVERYTHING })
            .expect("the seeds are JSON");
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        let way = &rows()[place % rows().len()].way;
        put(
            &mut definition,
            way,
            value(change[2]),
            change[1] & 0x80 != 0,
        );
    }
    definition.to_string()
}

/// A definition without a key.
pub const KEYLESS: &str = include_str!("tyk/keyless.json");
/// One that uses most of what is supported.
pub const EVERYTHING: &str = include_str!("tyk/everything.json");

/// A value that fields may have, or should not.
fn value(choice: u8) -> Value {
    match choice % 20 {
        0 => json!(true),
        1 => json!(false),
        2 => json!(1),
        3 => json!(0),
        4 => json!(-1),
        5 => json!(0.5),
        6 => json!("x"),
        7 => json!(""),
        8 => json!("auth_token"),
        9 => json!("/a"),
        10 => json!("http"),
        11 => json!("never"),
        12 => json!([]),
        13 => json!(["x"]),
        14 => json!([{}]),
        15 => json!({}),
        16 => json!({ "x": 1 }),
        17 => json!("GET"),
        18 => Value::Null,
        _ => json!([[true], { "x": "y" }]),
    }
}

/// Sets what is at the end of a way, and makes the way where there is none; `*` is the first entry that there is.
fn put(node: &mut Value, way: &[&str], value: Value, as_list: bool) {
    let Some((name, rest)) = way.split_first() else {
        *node = value;
        return;
    };
    if !node.is_object() && !node.is_array() {
        *node = if *name == "*" && as_list {
            json!([])
        } else {
            json!({})
        };
    }
    let below = match node {
        Value::Array(items) => {
            if items.is_empty() {
                items.push(Value::Null);
            }
            &mut items[0]
        }
        node => {
            let known = node.as_object().and_then(|entries| entries.keys().next());
            let name = match (*name, known) {
                ("*", Some(first)) => first.clone(),
                ("*", None) => "v".to_owned(),
                (name, _) => name.to_owned(),
            };
            &mut node[name]
        }
    };
    put(below, rest, value, as_list);
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_gateway::fuzzing::tyk_definition;

    fn outcome(text: &str) -> Result<Option<Served>, String> {
        tyk_definition(text).map_err(|problems| problems.to_string())
    }

    #[test]
    fn sound_definitions_are_taken_and_their_rows_are_known() {
        assert!(rows().len() > 200, "{}", rows().len());
        for text in [KEYLESS, EVERYTHING] {
            let outcome = outcome(text);
            assert!(matches!(outcome, Ok(Some(_))), "{outcome:?}");
            assert_eq!(agree(text, &outcome), Ok(()));
        }
        // And what is made of bytes is taken often enough to be worth looking at.
        let taken = (0..=u8::MAX).filter(|byte| outcome(&text(&[0x80, *byte, 0, 18])).is_ok());
        let taken = taken.count();
        assert!(taken * 4 > 256 * 3, "{taken}");
    }

    /// The oracle is worth nothing if it agrees with everything: each of these is what a gateway with that defect would do.
    #[test]
    fn what_is_judged_otherwise_is_a_finding() {
        let served = outcome(EVERYTHING).unwrap().unwrap();
        let with = |field: &str| format!("{{{field},{}", &EVERYTHING[1..]);
        let refused = [
            "\"use_oauth2\":true",
            "\"USE_oauth2\":true",
            "\"graphql\":{\"enabled\":true}",
            "\"enable_ip_whitelisting\":true",
            "\"protocol\":\"tls\"",
            "\"not_a_field\":1",
            "\"response_processors\":5",
        ];
        for field in refused {
            let text = with(field);
            assert!(outcome(&text).is_err(), "{field}");
            let finding = agree(&text, &Ok(Some(served.clone())));
            assert!(finding.is_err(), "{field} went unnoticed");
        }
        for closed in ["\"active\":false", "\"internal\":true"] {
            let text = with(closed);
            assert_eq!(outcome(&text), Ok(None));
            assert!(agree(&text, &Ok(Some(served.clone()))).is_err());
        }
        let changes: [fn(&mut Served); 4] = [
            |served| served.key_field = None,
            |served| served.rate = None,
            |served| served.rules = false,
            |served| served.path.push('x'),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = served.clone();
            change(&mut changed);
            let finding = agree(EVERYTHING, &Ok(Some(changed)));
            assert!(finding.is_err(), "change {index} went unnoticed");
        }
        assert!(agree(EVERYTHING, &Ok(None)).is_err());
        assert!(agree("{", &Ok(None)).is_err());
    }
}
