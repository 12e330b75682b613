//! Text to wire structs, and on to as much of them as can be had when parts of a file are refused.

use plimsoll_base::document::{
    Allowance, Counted, Document, Path as Pointer, Problems, Rules, Segment, Value,
};

use super::wire::{self, ExperimentWire};

/// A decoded file, or as much of it as could be.
pub(super) struct Decoded {
    pub document: Document,
    pub wire: ExperimentWire,
    /// Problems of what could not be decoded.
    pub problems: Problems,
    /// Where it stood.
    pub left_out: LeftOut,
}

/// Where the document has nothing because what stood there is refused.
#[derive(Default)]
pub(super) struct LeftOut(Vec<Pointer>);

impl LeftOut {
    /// Whether a problem at `path` may be a mere consequence of what was left out.
    pub fn explains(&self, path: &str) -> bool {
        let at = Pointer::from(path);
        self.0
            .iter()
            .any(|refused| refused.holds(&at) || at.holds(refused))
    }
}

/// Steps, arms and the like that a file may have: one of a few bytes takes some thousand.
pub const RECORDS: Allowance = Allowance {
    any: 3_000,
    bytes_each: 220,
};
/// All that a file may have that is no key: headers, references and what else is made of a value.
pub const VALUES: Allowance = Allowance {
    any: 16_000,
    bytes_each: 30,
};
/// Entries of `values`: each is a name of the plan, the program and the report, and many rows of data are a feeder's.
const MOST_VALUES: usize = 10_000;

/// Decodes a file with `overrides` on top.
pub(super) fn decode(document: Document, overrides: &[String]) -> Result<Decoded, Problems> {
    document.bound(Counted::Records, RECORDS)?;
    document.bound(Counted::Values, VALUES)?;
    bound_values(&document)?;
    let document = overlay(document, overrides)?;
    check_version(&document)?;
    decode_document(document)
}

fn bound_values(document: &Document) -> Result<(), Problems> {
    let Value::Mapping(parts) = document.root().value() else {
        return Ok(());
    };
    let values = parts.iter().find(|part| part.key() == "values");
    match values.map(|values| values.node().value()) {
        Some(Value::Mapping(values)) if values.len() > MOST_VALUES => {
            let message = format!(
                "{} values, and at most {MOST_VALUES} may be: write data of many rows as a feeder",
                values.len()
            );
            Err(document.problem("values", message).into())
        }
        _ => Ok(()),
    }
}

/// Decodes the file. What is refused in it is left out and the rest decoded again, where that is possible without making new
/// problems, so that a misspelt key does not hide a missing file.
fn decode_document(document: Document) -> Result<Decoded, Problems> {
    let rules = Rules {
        later: &wire::LATER,
        ..Rules::default()
    };
    let problems = match document.decode_with(rules) {
        Ok(wire) => {
            return Ok(Decoded {
                document,
                wire,
                problems: Problems::default(),
                left_out: LeftOut::default(),
            });
        }
        Err(problems) => problems,
    };
    let refused: Vec<Pointer> = problems
        .iter()
        .map(|problem| Pointer::from(problem.path.as_str()))
        .collect();
    if refused.iter().any(is_referred_to) {
        return Err(problems);
    }
    let document = document.without(&refused);
    match document.decode_with(rules) {
        Ok(wire) => Ok(Decoded {
            document,
            wire,
            problems,
            left_out: LeftOut(refused),
        }),
        Err(_) => Err(problems),
    }
}

/// Whether other parts of the file depend on there being something at `path`.
fn is_referred_to(path: &Pointer) -> bool {
    match path.segments() {
        [] => true,
        [Segment::Key(part), rest @ ..] => {
            part == "method" || rest.len() == 1 && (part == "components" || part == "arms")
        }
        [Segment::Index(_), ..] => true,
    }
}

fn overlay(mut document: Document, overrides: &[String]) -> Result<Document, Problems> {
    let mut problems = Problems::default();
    for text in overrides {
        if let Err(refused) = document.set("--set", text) {
            problems.extend(refused);
        }
    }
    problems.or_ok(document)
}

/// Before everything else: a file of another version would drown in unknown keys.
fn check_version(document: &Document) -> Result<(), Problems> {
    match document.integer("version") {
        Some(1) | None => Ok(()),
        Some(other) => {
            let message =
                format!("version {other} is not available in this version: write `version: 1`");
            Err(document.problem("version", message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_thousands_and_not_tens_of_them() {
        let check = |count: usize| {
            let values: Vec<String> = (0..count)
                .map(|n| format!("  v{n}: a # {}\n", "x".repeat(20)))
                .collect();
            let text = format!("version: 1\nname: x\nvalues:\n{}", values.concat());
            bound_values(&Document::parse_yaml("x.yaml", &text).unwrap())
        };
        assert!(check(10_000).is_ok());
        let refused = check(10_001).unwrap_err().to_string();
        assert!(
            refused.starts_with("x.yaml:3:1: values: 10001 values"),
            "{refused}"
        );
    }
}
