//! A diagnosis for the terminal.

use super::{Conclusion, Diagnosis};

/// The tested system, then each conclusion with its arithmetic below it.
#[must_use]
pub fn render(diagnosis: &Diagnosis) -> String {
    let mut lines = vec![diagnosis.name.clone()];
    lines.extend(diagnosis.conclusions.iter().flat_map(block));
    lines.join("\n") + "\n"
}

fn block(conclusion: &Conclusion) -> Vec<String> {
    let mut lines = vec![String::new()];
    if !conclusion.observations.is_empty() {
        lines.push(conclusion.observations.join("; "));
    }
    lines.push(format!(
        "  {}: {}",
        conclusion.cause.words(),
        conclusion.statement
    ));
    lines.extend(conclusion.evidence.iter().map(|line| format!("    {line}")));
    if !conclusion.ruled_out.is_empty() {
        lines.push(format!(
            "    ruled out: {}",
            conclusion.ruled_out.join("; ")
        ));
    }
    lines
}
