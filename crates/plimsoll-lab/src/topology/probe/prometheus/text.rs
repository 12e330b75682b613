//! Prometheus' text format (version 0.0.4) and OpenMetrics' as far as both agree: `name{label="value",…} number [timestamp]`, one a line.

use std::collections::BTreeMap;

/// More samples of the wanted families than any host has.
const MOST_SAMPLES: usize = 50_000;

/// The samples of some families.
#[derive(Debug, Default)]
pub(super) struct Metrics(Vec<Sample>);

#[derive(Debug, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
    /// When it was taken, in milliseconds since 1970.
    at_ms: Option<f64>,
}

impl Metrics {
    /// Reads the samples of these names. What is not understood, or not a number, is left out.
    pub(super) fn parse(text: &str, names: &[&str]) -> Self {
        let wanted = |line: &&str| {
            let end = line.find(['{', ' ', '\t']).unwrap_or(line.len());
            names.contains(&&line[..end])
        };
        let lines = text.lines().filter(wanted).take(MOST_SAMPLES);
        Self(lines.filter_map(parse_line).collect())
    }

    /// The sum of the samples of a name whose labels satisfy a condition; `None` without one.
    pub(super) fn sum_where(
        &self,
        name: &str,
        wanted: impl Fn(&BTreeMap<String, String>) -> bool,
    ) -> Option<f64> {
        let samples = self.0.iter().filter(|sample| sample.name == name);
        let values = samples.filter(|sample| wanted(&sample.labels));
        values.map(|sample| sample.value).reduce(|a, b| a + b)
    }

    /// The sum of all samples of a name; `None` without one.
    pub(super) fn sum(&self, name: &str) -> Option<f64> {
        self.sum_where(name, |_| true)
    }

    /// When the newest of the samples was taken whose labels satisfy a condition, in seconds since 1970; `None` where none says so.
    pub(super) fn newest(
        &self,
        name: &str,
        wanted: impl Fn(&BTreeMap<String, String>) -> bool,
    ) -> Option<f64> {
        let samples = self.0.iter().filter(|sample| sample.name == name);
        let times = samples.filter(|sample| wanted(&sample.labels));
        let newest = times.filter_map(|sample| sample.at_ms).reduce(f64::max);
        newest.map(|millis| millis / 1e3)
    }

    /// How many values a label of a name has.
    pub(super) fn values_of(&self, name: &str, label: &str) -> usize {
        let samples = self.0.iter().filter(|sample| sample.name == name);
        let values: std::collections::BTreeSet<&String> = samples
            .filter_map(|sample| sample.labels.get(label))
            .collect();
        values.len()
    }
}

fn parse_line(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => parse_labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    value.is_finite().then(|| Sample {
        name: name.to_owned(),
        labels,
        value,
        at_ms: words.next().and_then(|word| word.parse().ok()),
    })
}

/// Labels up to the closing brace, and what follows it. In values `\\`, `\"` and `\n` are escaped.
fn parse_labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        let end = loop {
            match characters.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match characters.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, other) => value.push(other),
            }
        };
        labels.insert(name.trim().to_owned(), value);
        rest = &quoted[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn captured_text() {
        let text = "# HELP a b\n# TYPE a counter\na{mode=\"idle\",cpu=\"0\"} 1.5e3\na{mode=\"user\",cpu=\"1\",} 2 1700000000\nb 7\na{mode=\"nice\"} NaN\nab 9\na{broken\n";
        let metrics = Metrics::parse(text, &["a", "b"]);
        assert_eq!(metrics.sum("a"), Some(1_502.0));
        assert_eq!(metrics.sum_where("a", |l| l["mode"] == "user"), Some(2.0));
        assert_eq!(metrics.values_of("a", "cpu"), 2);
        assert_eq!(metrics.newest("a", |_| true), Some(1_700_000.0));
        assert_eq!(metrics.newest("b", |_| true), None);
        assert_eq!((metrics.sum("b"), metrics.sum("ab")), (Some(7.0), None));
    }

    #[test]
    fn escapes_in_values() {
        let line = r#"a{x="a\"}\\b\n",y="2"} 1"#;
        let sample = parse_line(line).unwrap();
        assert_eq!(sample.labels["x"], "a\"}\\b\n");
        assert_eq!(sample.labels["y"], "2");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC*", line in r#"a\{[a-z="\\,}]{0,30} ?[0-9.]{0,4}"#) {
            Metrics::parse(&text, &["a"]);
            Metrics::parse(&line, &["a"]);
        }
    }
}
