//! What `doctor` says to people: one line per fact, and below it what follows from one that limits.

use plimsoll_base::units::format_number;
use plimsoll_lab::doctor::{Fact, Judgement, Stored, Trial};

/// What a ceiling is worth.
const HONESTLY: &str = "Generator and mock share this host's processors: the ceiling is that of both together, and a lower bound of the generator's own.";

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
        if let Some(open) = &ceiling.open
            && let (Some(fails), Some(what)) = (open.fails_per_s, &open.gives_way)
        {
            text.push_str(&format!(
                "\nAt {}/s gives way: {what}.",
                format_number(fails)
            ));
        }
        text.push_str(&format!("\n{HONESTLY}\n"));
    }
    text
}

/// One try of a calibration.
pub(super) fn trial(trial: &Trial) -> String {
    match trial {
        Trial::Closed { achieved_per_s } => {
            format!("  closed: {}/s", format_number(*achieved_per_s))
        }
        Trial::Open { rate, gives_way } => {
            let end = gives_way
                .as_ref()
                .map_or_else(|| "holds".to_owned(), |what| format!("gives way: {what}"));
            format!("  open {}/s: {end}", format_number(*rate))
        }
    }
}
