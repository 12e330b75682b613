//! An experiment that is about to be written: what every importer fills in, and its text.

use plimsoll_base::visible::in_line;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Methods that a step has keys for.
pub const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The experiment.
#[derive(Debug, Default)]
pub struct Draft {
    /// A name as experiments have: letters, digits, dashes.
    pub name: String,
    /// Where it comes from, for the first line.
    pub source: String,
    /// Scheme and authority of the server.
    pub origin: String,
    pub steps: Vec<Step>,
    /// Notes for the reader, one line each.
    pub notes: Vec<String>,
}

/// A name and its value.
type Field = (String, String);

/// One exchange. Texts are as the experiment file has them: a dollar sign that means itself is doubled.
#[derive(Debug, Default, Clone)]
pub struct Step {
    /// In capitals; one of [`METHODS`].
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    pub name: String,
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Before it, in milliseconds.
    pub pause_ms: u64,
    /// Permitted statuses; empty: what is below 400.
    pub statuses: Vec<u16>,
}

/// Body of a request.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Body {
    #[default]
    None,
    Text(String),
    /// `multipart/form-data`, whose content type follows from it.
    Multipart(Vec<FormPart>),
}

/// One part of a form.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FormPart {
    pub name: String,
    pub value: String,
    pub filename: Option<String>,
    pub media_type: Option<String>,
}

/// A text in which the experiment file sees no substitution.
pub fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

/// A path and query as a request can have them: bytes that cannot stand there are percent-encoded, others are left as they are.
pub fn sendable(target: &str) -> String {
    let mut sendable = String::with_capacity(target.len());
    for byte in target.bytes() {
        if byte.is_ascii_graphic() {
            sendable.push(char::from(byte));
        } else {
            sendable.push_str(&format!("%{byte:02X}"));
        }
    }
    sendable
}

/// A name as experiments and variables have it: what is no letter or digit becomes `separator`, once.
pub fn slug(text: &str, separator: char) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with(separator) {
            slug.push(separator);
        }
    }
    slug.trim_end_matches(separator).to_owned()
}

impl Draft {
    /// The file.
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("invariant: a string takes every text");
        text
    }

    /// Size of the file.
    pub fn size(&self) -> Size {
        let shared = self.shared_headers();
        let steps = self.steps.iter().map(|step| step.size(&shared));
        // `components.server`, and the arm that shared fields are written for.
        let arms = usize::from(!shared.is_empty());
        let own = Size {
            records: 1 + arms,
            // The document, its version, name, components, scenario and load.
            values: 1 + 2 + 3 + 1 + 4 + arms * 3 + shared.len(),
        };
        steps.fold(own, Size::and)
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# Imported from {}.", in_line(&self.source))?;
        writeln!(text, "version: 1")?;
        writeln!(text, "name: {}", scalar(&self.name))?;
        writeln!(text, "components:")?;
        writeln!(text, "  server: {{ external: {} }}", scalar(&self.origin))?;
        writeln!(text, "scenario:")?;
        let shared = self.shared_headers();
        let mut names = Names::default();
        for step in &self.steps {
            step.write(text, &shared, &mut names)?;
        }
        if !shared.is_empty() {
            writeln!(text, "arms:")?;
            writeln!(text, "  main:")?;
            writeln!(text, "    headers:                       # of every step")?;
            let first = self.steps.iter().take(1).flat_map(|step| &step.headers);
            write_fields(text, first.filter(|field| shared.contains(field)), "      ")?;
        }
        writeln!(
            text,
            "load: {{ rate: 1/s, warmup: 0s, duration: 30s }}   # iterations per second: a first look"
        )
    }

    /// The fields that all steps have alike: said once, for the arm.
    fn shared_headers(&self) -> HashSet<&Field> {
        let Some((first, others)) = self.steps.split_first().filter(|it| !it.1.is_empty()) else {
            return HashSet::new();
        };
        let mut shared: HashSet<&Field> = first.headers.iter().collect();
        for step in others {
            let own: HashSet<&Field> = step.headers.iter().collect();
            shared.retain(|field| own.contains(field));
        }
        shared
    }
}

/// How much an experiment file holds, as it is counted when one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Steps, and other mappings in lists.
    pub records: usize,
    /// All that is no key.
    pub values: usize,
}

impl Size {
    fn and(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            values: self.values + other.values,
        }
    }
}

impl Step {
    fn size(&self, shared: &HashSet<&Field>) -> Size {
        let fields = self.headers.iter();
        let own = fields.filter(|field| !shared.contains(field)).count();
        let mapping = |entries: usize| if entries > 0 { 1 + entries } else { 0 };
        let (listed, body) = match &self.body {
            Body::None => (0, 0),
            Body::Text(_) => (0, 1),
            Body::Multipart(parts) => size_of_parts(parts),
        };
        let statuses = match self.statuses.len() {
            several @ 2.. => 1 + several,
            few => few,
        };
        Size {
            records: 1 + listed,
            // The step, its target and its name.
            values: 3 + usize::from(self.pause_ms > 0) + mapping(own) + body + mapping(statuses),
        }
    }

    fn write(
        &self,
        text: &mut String,
        shared: &HashSet<&Field>,
        names: &mut Names,
    ) -> std::fmt::Result {
        writeln!(
            text,
            "  - {}: {}",
            self.method.to_lowercase(),
            scalar(&self.target)
        )?;
        writeln!(text, "    name: {}", scalar(&names.unused(&self.name)))?;
        if self.pause_ms > 0 {
            writeln!(text, "    pause: {}ms", self.pause_ms)?;
        }
        let fields = self.headers.iter();
        let mut own = fields.filter(|field| !shared.contains(field)).peekable();
        if own.peek().is_some() {
            writeln!(text, "    headers:")?;
            write_fields(text, own, "      ")?;
        }
        match &self.body {
            Body::None => {}
            Body::Text(body) => writeln!(text, "    body: {}", scalar(body))?,
            Body::Multipart(parts) => write_parts(text, parts)?,
        }
        match self.statuses.as_slice() {
            [] => Ok(()),
            [one] => writeln!(text, "    check: {{ status: {one} }}"),
            several => writeln!(text, "    check: {{ status: {several:?} }}"),
        }
    }
}

/// Parts by name, in the order in which the names come first; several of one name are a list.
fn write_parts(text: &mut String, parts: &[FormPart]) -> std::fmt::Result {
    writeln!(text, "    multipart:")?;
    let mut by_name: HashMap<&str, Vec<String>> = HashMap::new();
    for part in parts {
        by_name.entry(&part.name).or_default().push(part.to_yaml());
    }
    for part in parts {
        let name = part.name.as_str();
        match by_name.remove(name).unwrap_or_default().as_slice() {
            [] => {}
            [one] => writeln!(text, "      {}: {one}", scalar(name))?,
            several => writeln!(text, "      {}: [{}]", scalar(name), several.join(", "))?,
        }
    }
    Ok(())
}

/// Of parts as they are written, how many stand in lists, and how many values there are.
fn size_of_parts(parts: &[FormPart]) -> (usize, usize) {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for part in parts {
        *by_name.entry(&part.name).or_default() += 1;
    }
    let lists = by_name.values().filter(|count| **count > 1);
    let (lists, listed) = lists.fold((0, 0), |(lists, listed), count| (lists + 1, listed + count));
    let values = parts.iter().map(|part| {
        2 + usize::from(part.filename.is_some()) + usize::from(part.media_type.is_some())
    });
    (listed, 1 + lists + values.sum::<usize>())
}

impl FormPart {
    fn to_yaml(&self) -> String {
        let named = |key: &str, value: &Option<String>| {
            let value = value.as_ref();
            value.map_or_else(String::new, |value| format!(", {key}: {}", scalar(value)))
        };
        format!(
            "{{ value: {}{}{} }}",
            scalar(&self.value),
            named("filename", &self.filename),
            named("type", &self.media_type)
        )
    }
}

fn write_fields<'a>(
    text: &mut String,
    fields: impl IntoIterator<Item = &'a Field>,
    indent: &str,
) -> std::fmt::Result {
    for (name, value) in fields {
        writeln!(text, "{indent}{}: {}", scalar(name), scalar(value))?;
    }
    Ok(())
}

/// The names of steps so far.
#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    /// The number behind which to look further, by name: smaller ones are taken.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// A name that no earlier step has; long ones are cut, as reports would.
    fn unused(&mut self, name: &str) -> String {
        const LONGEST: usize = 90;
        let name: String = name.chars().take(LONGEST).collect();
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name} ({number})");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// A scalar of YAML: as it is when no reader could take it for anything else, in double quotes otherwise.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.()".contains(c);
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.contains(&text.to_ascii_lowercase().as_str());
    if starts_plain && text.chars().all(plain) && !is_word {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_quoted_when_they_could_be_something_else() {
        let check = |text: &str, expected: &str| assert_eq!(scalar(text), expected);
        check("/a/b-c_d.e", "/a/b-c_d.e");
        check("GET /a", "\"GET /a\"");
        check("true", "\"true\"");
        check("1", "\"1\"");
        check("", "\"\"");
        check("a: b", "\"a: b\"");
        check("é\n\"", "\"é\\n\\\"\"");
        check("${env:X}", "\"${env:X}\"");
    }

    #[test]
    fn targets_are_encoded_where_they_must_be() {
        assert_eq!(sendable("/a b/ü?q=%20|x"), "/a%20b/%C3%BC?q=%20|x");
    }

    #[test]
    fn parts_of_one_name_are_a_list() {
        let part = |name: &str, value: &str, filename: Option<&str>| FormPart {
            name: name.to_owned(),
            value: value.to_owned(),
            filename: filename.map(str::to_owned),
            media_type: None,
        };
        let mut text = String::new();
        let parts = [
            part("a", "1", None),
            part("b c", "", Some("x.txt")),
            part("a", "2", None),
        ];
        write_parts(&mut text, &parts).unwrap();
        assert_eq!(
            text,
            "    multipart:\n      a: [{ value: \"1\" }, { value: \"2\" }]\n      \"b c\": { value: \"\", filename: x.txt }\n"
        );
    }

    #[test]
    fn names_are_made_of_letters_and_digits() {
        assert_eq!(slug("Pet Store – v1.0 ", '-'), "Pet-Store-v1-0");
        assert_eq!(slug("x-api_key", '_'), "x_api_key");
    }
}
