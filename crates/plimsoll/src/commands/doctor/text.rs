//! The output of `doctor` for people: one line per fact, and below it the consequence of one that limits.

use plimsoll_base::units::format_number;
use plimsoll_lab::doctor::{Fact, Judgement, NoneHeld, Stored, Trial};

/// Caveat of a ceiling.
const HONESTLY: &str = "Generator and mock share this host's processors: the ceiling is that of both together, and a lower bound for the generator alone.";

/// All facts as lines.
pub(super) fn render(facts: &[Fact], stored: &Stored) -> String {
    let width = facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for fact in facts {
        let word = match fact.judgement {
            Judgement::Ok => "ok",
            Judgement::Limits { .. } => "limits",
            Judgement::Unknown => "unknown",
        };
        text.push_str(&format!(
            "{:width$}  {word:7}  {}\n",
            fact.name, fact.finding
        ));
        if let Judgement::Limits { what, remedy } = &fact.judgement {
            let indent = " ".repeat(width + 2);
            text.push_str(&format!(
                "{indent}limits   {what}\n{indent}change   {remedy}\n"
            ));
        }
    }
    if let Stored::Usable(ceiling) = stored {
        let open = &ceiling.open;
        if let (Some(fails), Some(what)) = (open.fails_per_s, &open.gives_way) {
            text.push_str(&format!("\nFails at {}/s: {what}.", format_number(fails)));
        }
        text.push_str(&format!("\n{HONESTLY}\n"));
    }
    text
}

/// One try of a calibration.
pub(super) fn trial(trial: &Trial) -> String {
    match trial {
        Trial::Closed { achieved_per_s } => {
            format!("  closed throughput: {}/s", format_number(*achieved_per_s))
        }
        Trial::Open { rate, gives_way } => {
            let end = gives_way
                .as_ref()
                .map_or_else(|| "holds".to_owned(), |what| format!("fails: {what}"));
            format!("  open {}/s: {end}", format_number(*rate))
        }
    }
}

/// Why there is no ceiling.
pub(super) fn none_held(none: &NoneHeld) -> String {
    let (lowest, highest) = (
        format_number(none.lowest_per_s),
        format_number(none.highest_per_s),
    );
    let what = &none.gives_way;
    format!(
        "none of {lowest}/s to {highest}/s held (failed at {lowest}/s: {what}), so nothing is stored: stop other work on this host and measure again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_and_their_failure_are_sentences() {
        let open = |gives_way: Option<&str>| {
            trial(&Trial::Open {
                rate: 27_800.0,
                gives_way: gives_way.map(str::to_owned),
            })
        };
        assert_eq!(open(None), "  open 27,800/s: holds");
        assert_eq!(
            open(Some("criterion 2, lateness of arrivals")),
            "  open 27,800/s: fails: criterion 2, lateness of arrivals"
        );
        let closed = Trial::Closed {
            achieved_per_s: 204_742.0,
        };
        assert_eq!(trial(&closed), "  closed throughput: 204,742/s");
        let none = NoneHeld {
            lowest_per_s: 100.0,
            highest_per_s: 102_000.0,
            gives_way: "criterion 3, time stalled".to_owned(),
        };
        assert_eq!(
            none_held(&none),
            "none of 100/s to 102,000/s held (failed at 100/s: criterion 3, time stalled), so nothing is stored: stop other work on this host and measure again"
        );
    }
}
