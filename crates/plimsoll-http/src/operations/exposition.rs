//! Prometheus' text format (version 0.0.4), as far as our servers need it.

use crate::operations::meters::{BUCKET_MICROS, Buckets};
use std::fmt::{Display, Write as _};
use std::time::Duration;

/// `Content-Type` of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The text as it grows.
#[derive(Debug)]
pub struct Exposition {
    prefix: &'static str,
    text: String,
}

impl Exposition {
    /// An empty one, in which every name begins with this prefix and `_`.
    #[must_use]
    pub fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            text: String::new(),
        }
    }

    /// Begins a family.
    pub fn head(&mut self, name: &str, kind: &str, help: &str) {
        let prefix = self.prefix;
        self.write(format_args!(
            "# HELP {prefix}_{name} {help}\n# TYPE {prefix}_{name} {kind}\n"
        ));
    }

    /// Adds a sample to the family.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}=\"{}\"", escape(value)))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let prefix = self.prefix;
        self.write(format_args!("{prefix}_{name}{labels} {value}\n"));
    }

    /// Adds the samples of one histogram, in seconds, to the family: the sum of what each shard has.
    pub fn histogram<'a>(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        shards: impl Iterator<Item = &'a Buckets> + Clone,
    ) {
        let count = |index| -> u64 { shards.clone().map(|own| own.count(index)).sum() };
        let bucket = format!("{name}_bucket");
        let mut total = 0;
        for (index, micros) in BUCKET_MICROS.iter().enumerate() {
            total += count(index);
            let edge = seconds(*micros).to_string();
            self.sample(&bucket, &[labels, &[("le", &edge)]].concat(), total);
        }
        total += count(BUCKET_MICROS.len());
        self.sample(&bucket, &[labels, &[("le", "+Inf")]].concat(), total);
        let micros = shards.clone().map(Buckets::sum_micros).sum();
        self.sample(&format!("{name}_sum"), labels, seconds(micros));
        self.sample(&format!("{name}_count"), labels, total);
    }

    /// The text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        let written = self.text.write_fmt(text);
        written.expect("invariant: writing to memory does not fail");
    }
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_shards_added_up() {
        let mut text = Exposition::new("p");
        text.head("times_seconds", "histogram", "Times.");
        let shards = [Buckets::default(), Buckets::default()];
        shards[0].record(Duration::from_micros(30));
        shards[1].record(Duration::from_secs(20));
        text.histogram("times_seconds", &[("a", "x\"\\\n")], shards.iter());
        let text = text.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "# HELP p_times_seconds Times.");
        assert_eq!(
            lines[2],
            r#"p_times_seconds_bucket{a="x\"\\\n",le="0.00002"} 0"#
        );
        assert_eq!(
            lines[3],
            r#"p_times_seconds_bucket{a="x\"\\\n",le="0.00005"} 1"#
        );
        assert_eq!(
            lines[20],
            r#"p_times_seconds_bucket{a="x\"\\\n",le="+Inf"} 2"#
        );
        assert_eq!(lines[21], r#"p_times_seconds_sum{a="x\"\\\n"} 20.00003"#);
        assert_eq!(lines[22], r#"p_times_seconds_count{a="x\"\\\n"} 2"#);
    }
}
