//! `error_overrides` of `tyk.conf` and of definitions: what is read of them, and the rules that they mean.
//!
//! Source: Tyk 5.15, `apidef/error_overrides.go`, `gateway/error_overrides.go`.

use crate::answering::overrides::text::Text;
use crate::answering::overrides::{BodyField, Condition, Flag, Level, Override};
use crate::messages::edits;
use crate::tyk::go_regex;
use deserr::Deserr;
use plimsoll_base::document::{Entries, Path};
use regex::Regex;

/// Rules by the status that they are for.
pub(super) type Wire = Entries<Vec<RuleWire>>;

#[derive(Debug, Deserr)]
pub(super) struct RuleWire {
    #[deserr(default, rename = "match")]
    condition: Option<MatchWire>,
    #[deserr(default)]
    response: Option<ResponseWire>,
}

#[derive(Debug, Deserr)]
struct MatchWire {
    #[deserr(default)]
    flag: Option<String>,
    #[deserr(default)]
    message_pattern: Option<String>,
    #[deserr(default)]
    body_field: Option<String>,
    #[deserr(default)]
    body_value: Option<String>,
}

#[derive(Debug, Default, Deserr)]
struct ResponseWire {
    #[deserr(default)]
    status_code: Option<u16>,
    #[deserr(default)]
    body: Option<String>,
    #[deserr(default)]
    message: Option<String>,
    #[deserr(default)]
    headers: Option<Entries<String>>,
}

/// Compiled rules, their problems, and notes for the operator; the latter two with their places.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    pub(super) level: Level,
    pub(super) problems: Vec<(Path, String)>,
    pub(super) notes: Vec<(Path, String)>,
}

/// A place that a rule is listed under.
enum OverrideKey {
    Exact(u16),
    Hundred(u16),
}

/// The rules of one file.
pub(super) fn compile(wire: Option<&Wire>) -> Compiled {
    let mut compiled = Compiled::default();
    for (key, rules) in wire.into_iter().flat_map(Entries::iter) {
        let at = Path::root().key("error_overrides").key(key);
        let Some(place) = place(key) else {
            match key.trim_start_matches(['+', '-']).parse::<u64>() {
                Ok(_) => compiled.refuse(at, "write a status in three digits, for instance `403`"),
                Err(_) => compiled.note(at, "names no status, so it holds for no error, as in Tyk: write for instance `403` or `4xx`"),
            }
            continue;
        };
        let rules = rules.iter().enumerate();
        let rules: Vec<Override> = rules
            .filter_map(|(index, rule)| compiled.rule(&at.index(index), rule))
            .collect();
        match place {
            OverrideKey::Exact(status) => compiled.level.exact.insert(status, rules),
            OverrideKey::Hundred(digit) => compiled.level.hundreds.insert(digit, rules),
        };
    }
    compiled
}

fn place(key: &str) -> Option<OverrideKey> {
    match key.as_bytes() {
        [digit @ b'0'..=b'9', b'x', b'x'] => Some(OverrideKey::Hundred(u16::from(digit - b'0'))),
        [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => key.parse().ok().map(OverrideKey::Exact),
        _ => None,
    }
}

impl Compiled {
    fn refuse(&mut self, at: Path, message: impl Into<String>) {
        self.problems.push((at, message.into()));
    }

    fn note(&mut self, at: Path, message: impl Into<String>) {
        self.notes.push((at, message.into()));
    }

    /// A rule; none, if it counts for nothing.
    fn rule(&mut self, at: &Path, rule: &RuleWire) -> Option<Override> {
        let condition = match &rule.condition {
            Some(written) => self.condition(&at.key("match"), written)?,
            None => Condition::default(),
        };
        let at = at.key("response");
        let nothing = ResponseWire::default();
        let response = rule.response.as_ref().unwrap_or(&nothing);
        let status = response.status_code.filter(|status| *status != 0);
        if status.is_some_and(|s| !(200..600).contains(&s) || matches!(s, 204 | 205 | 304)) {
            self.refuse(
                at.key("status_code"),
                "an answer has a status from 200 to 599 that goes with a body",
            );
        }
        let [body, message] = [&response.body, &response.message];
        let [body, message] = [body, message].map(|text| text.as_deref().unwrap_or_default());
        let text = Text::new(body, message).unwrap_or_else(|why| {
            self.refuse(at.key("body"), why);
            Text::Usual
        });
        Some(Override {
            condition,
            status,
            fields: self.fields(&at.key("headers"), response.headers.as_ref()),
            text,
        })
    }

    fn condition(&mut self, at: &Path, written: &MatchWire) -> Option<Condition> {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let flag = said(&written.flag).map(|name| {
            let flag = Flag::named(&name);
            if flag == Flag::Other {
                let message = format!("no error has the flag `{name}` here, so it matches none");
                self.note(at.key("flag"), message);
            }
            flag
        });
        let pattern = match said(&written.message_pattern).map(|pattern| expression(&pattern)) {
            None => None,
            Some(Ok(pattern)) => Some(pattern),
            Some(Err(why)) => {
                let message = format!("{why}; so the rule counts for nothing, as in Tyk");
                self.note(at.key("message_pattern"), message);
                return None;
            }
        };
        let body = said(&written.body_field).zip(said(&written.body_value));
        let body = body.and_then(|(path, value)| match BodyField::new(&path, &value) {
            Ok(field) => Some(field),
            Err(why) => {
                self.refuse(at.key("body_field"), why);
                None
            }
        });
        Some(Condition {
            flag,
            pattern,
            body,
        })
    }

    fn fields(&mut self, at: &Path, headers: Option<&Entries<String>>) -> Vec<(String, String)> {
        let mut possible: Vec<(String, String)> = Vec::new();
        for (name, value) in headers.into_iter().flat_map(Entries::iter) {
            let is_twice = possible.iter().any(|(o, _)| o.eq_ignore_ascii_case(name));
            let refusal = match is_twice {
                true => Some(format!("`{name}` is written twice: leave one")),
                false => edits::refusal(name, value),
            };
            match refusal {
                Some(message) => self.refuse(at.key(name), message),
                None => possible.push((name.to_owned(), value.clone())),
            }
        }
        possible
    }
}

/// An expression of Go.
fn expression(pattern: &str) -> Result<Regex, String> {
    // It comes from a file; none may take more memory than this.
    const COMPILED_BYTES: usize = 1 << 20;
    let translated = go_regex::translate(pattern)?;
    let built = regex::RegexBuilder::new(&translated)
        .size_limit(COMPILED_BYTES)
        .build();
    built.map_err(|error| format!("`{pattern}` is not a regular expression: {error}"))
}
