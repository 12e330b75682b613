//! Functions at the end of a path, such as `.length()`. What they cannot be applied to gives nothing.

use crate::document::json::Json;
use bumpalo::Bump;

/// A function of one value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Function {
    Length,
    Min,
    Max,
    Sum,
    Average,
    Deviation,
    Keys,
    First,
    Last,
    /// The item at an index, from the end if negative.
    Index(i64),
}

/// The functions without parameters.
const NAMES: &[(&str, Function)] = &[
    ("avg", Function::Average),
    ("first", Function::First),
    ("keys", Function::Keys),
    ("last", Function::Last),
    ("length", Function::Length),
    ("max", Function::Max),
    ("min", Function::Min),
    ("size", Function::Length),
    ("stddev", Function::Deviation),
    ("sum", Function::Sum),
];

impl Function {
    /// The function of this name with the text between its parentheses.
    pub(super) fn of(name: &str, parameters: &str) -> Result<Self, String> {
        if name == "index" {
            let index = parameters.trim().parse();
            return index
                .map(Self::Index)
                .map_err(|_| "index() needs a whole number".to_owned());
        }
        let known = NAMES.iter().find(|(own, _)| *own == name);
        match known {
            Some((_, function)) if parameters.trim().is_empty() => Ok(*function),
            Some(_) => Err(format!(
                "{name}() with parameters is not available in this version"
            )),
            None => Err(format!(
                "the function {name}() is not available in this version"
            )),
        }
    }

    pub(super) fn apply<'v>(self, value: &Json<'v>, arena: &'v Bump) -> Option<Json<'v>> {
        match self {
            Self::Length => match value {
                Json::Array(items) => Some(Json::count(items.len())),
                Json::Object(map) => Some(Json::count(map.len())),
                _ => None,
            },
            Self::Keys => {
                let names = value.as_object()?.iter();
                let names = names.map(|(name, _)| Json::String(name));
                Some(Json::Array(arena.alloc_slice_fill_iter(names)))
            }
            Self::First => super::item(value, 0).cloned(),
            Self::Last => super::item(value, -1).cloned(),
            Self::Index(index) => super::item(value, index).cloned(),
            Self::Min | Self::Max | Self::Sum | Self::Average | Self::Deviation => {
                self.of_numbers(&numbers(value)).map(Json::number)
            }
        }
    }

    fn of_numbers(self, numbers: &[f64]) -> Option<f64> {
        if numbers.is_empty() {
            return None;
        }
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        Some(match self {
            Self::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Sum => sum,
            Self::Average => sum / count,
            // Of the whole population, not of a sample.
            Self::Deviation => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                (squares / count - (sum / count).powi(2)).max(0.0).sqrt()
            }
            _ => return None,
        })
    }
}

fn numbers(value: &Json<'_>) -> Vec<f64> {
    let items = value.as_array().unwrap_or_default();
    items.iter().filter_map(Json::as_f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_summed_up() {
        let check = |name: &str, expected: Option<f64>| {
            let function = Function::of(name, "").unwrap();
            let list = json!([1, 2, "x", 3, 4]);
            let arena = Bump::new();
            let value = function.apply(&Json::of(&list, &arena), &arena);
            assert_eq!(value.and_then(|value| value.as_f64()), expected, "{name}");
        };
        check("min", Some(1.0));
        check("max", Some(4.0));
        check("sum", Some(10.0));
        check("avg", Some(2.5));
        check("stddev", Some(1.25_f64.sqrt()));
        check("length", Some(5.0));
        assert!(Function::of("append", "1").is_err() && Function::of("sum", "1").is_err());
    }
}
