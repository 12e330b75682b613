//! JUnit XML for continuous integration: one case per threshold and one per criterion of validity.
//!
//! What failed is a failure, what cannot be judged is an error, what is undecided is a failure that says so.

use crate::record::{ThresholdOutcome, ValidityRow, VerdictResult};
use crate::view::RunView;

/// Renders one test suite.
#[must_use]
pub fn render(view: &RunView) -> String {
    let summary = &view.summary;
    let cases: Vec<String> = summary
        .validity
        .iter()
        .map(validity_case)
        .chain(summary.thresholds.iter().map(threshold_case))
        .collect();
    let counted = |tag: &str| cases.iter().filter(|case| case.contains(tag)).count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" timestamp=\"{}\">\n{}</testsuite>\n",
        escape(&summary.experiment),
        cases.len(),
        counted("<failure"),
        counted("<error"),
        escape(&view.manifest.started_at),
        cases.concat()
    )
}

fn validity_case(row: &ValidityRow) -> String {
    let name = format!("{}: criterion {}, {}", row.arm, row.criterion, row.name);
    let problem = (!row.ok).then_some(("error", row.advice.as_str()));
    case("validity", &name, problem)
}

fn threshold_case(outcome: &ThresholdOutcome) -> String {
    let name = format!(
        "{}: {} {}",
        outcome.arm,
        outcome.metric,
        super::words::bound(outcome)
    );
    let problem = match outcome.result {
        VerdictResult::Passed => None,
        VerdictResult::Invalid | VerdictResult::Unknown => Some(("error", outcome.reason.as_str())),
        VerdictResult::Failed | VerdictResult::Inconclusive => {
            Some(("failure", outcome.reason.as_str()))
        }
    };
    case("thresholds", &name, problem)
}

fn case(class: &str, name: &str, problem: Option<(&str, &str)>) -> String {
    let name = escape(name);
    match problem {
        None => format!("  <testcase classname=\"{class}\" name=\"{name}\"/>\n"),
        Some((tag, message)) => format!(
            "  <testcase classname=\"{class}\" name=\"{name}\"><{tag} message=\"{}\"/></testcase>\n",
            escape(message)
        ),
    }
}

/// Text inside an XML attribute. Characters that XML 1.0 cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_an_attribute() {
        assert_eq!(
            case("c", "a\"><x>\u{1}&", None),
            "  <testcase classname=\"c\" name=\"a&quot;&gt;&lt;x&gt;\u{fffd}&amp;\"/>\n"
        );
    }
}
