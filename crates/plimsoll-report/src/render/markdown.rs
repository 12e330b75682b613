//! The summary as Markdown, for a pull request or a job's summary page: short, with what is long folded away.

use super::cause;
use super::composition;
use super::rates::{self, PerIteration};
use super::table::{Table, escape_markdown};
use super::words::{
    bound, comparison_method, conclusion, figure_label, has_differences, headline, interval,
    left_out, mark_legend, method, signed_time, trust, validity_limit, validity_value,
};
use super::{figures, strain};
use crate::record::{MethodName, Summary};
use crate::render::view::RunView;

/// Renders the whole summary. Everything that comes from outside is escaped.
#[must_use]
pub fn render(view: &RunView) -> String {
    let summary = &view.summary;
    let mut parts = vec![
        format!("# {}\n", escape_markdown(&summary.experiment)),
        format!(
            "{} · seed {} · {}\n",
            escape_markdown(&method(view)),
            summary.seed,
            escape_markdown(&view.manifest.started_at)
        ),
        verdict(summary),
        bottleneck(summary),
        format!(
            "## Validity\n\n{}\n{}",
            trust(&summary.validity),
            broken(summary)
        ),
    ];
    if !summary.thresholds.is_empty() {
        parts.push(format!(
            "## Thresholds\n\n{}",
            thresholds(summary).to_markdown()
        ));
    }
    parts.extend(of_methods(summary));
    if summary.method != MethodName::Levels {
        parts.push(format!(
            "## Arms\n\n{}{}",
            figures::arms(summary).to_markdown(),
            notes(summary)
        ));
    }
    if summary.comparison.is_some() {
        let how = comparison_method(summary).unwrap_or_default();
        let table = if has_differences(summary) {
            format!("{}\n", added(summary).to_markdown())
        } else {
            String::new()
        };
        parts.push(format!(
            "## Added to the baseline\n\n{table}{}\n",
            escape_markdown(&how)
        ));
    }
    let failures = figures::failures_by_kind(summary);
    if !failures.rows.is_empty() {
        parts.push(format!("## Failures by kind\n\n{}", failures.to_markdown()));
    }
    let checks = figures::checks(summary);
    if !checks.rows.is_empty() {
        parts.push(folded("Checks", &checks.to_markdown()));
    }
    if let Some(table) = composition::table(summary) {
        let rest = composition::rest(summary).unwrap_or_default();
        let content = format!("{}\n{rest}", table.to_markdown());
        parts.push(folded("Response time breakdown", content.trim_end()));
    }
    if let Some(steps) = figures::steps(summary) {
        parts.push(folded("Steps", &steps.to_markdown()));
    }
    if let Some(groups) = figures::groups(summary) {
        parts.push(folded("Groups", &groups.to_markdown()));
    }
    parts.extend(resources(summary));
    parts.push(folded(
        "All criteria of validity",
        &validity(summary).to_markdown(),
    ));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Resources of components and machine, and other things that held them up.
fn resources(summary: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    let components = figures::components(summary);
    if let Some(components) = components.filter(|_| summary.method != MethodName::Levels) {
        parts.push(folded(
            "Components, CPU in cores",
            &components.to_markdown(),
        ));
    }
    if let Some(table) = strain::components(summary) {
        let machine = strain::hosts(summary)
            .map_or_else(String::new, |table| format!("\n{}", table.to_markdown()));
        parts.push(folded(
            "Components and machine, what else may have held them up",
            &(table.to_markdown() + &machine),
        ));
    }
    if let Some(table) = strain::servers(summary) {
        parts.push(folded(
            "What servers say of themselves",
            &table.to_markdown(),
        ));
    }
    parts
}

/// The bottleneck of each arm; empty where nobody asked.
fn bottleneck(summary: &Summary) -> String {
    let arms = cause::of_arms(summary);
    let mut text = String::new();
    for (name, found) in &arms {
        if arms.len() > 1 {
            text.push_str(&format!("\n**{}**\n\n", escape_markdown(name)));
        }
        for (depth, line) in cause::lines(found) {
            let indent = "  ".repeat(depth);
            text.push_str(&format!("{indent}- {}\n", escape_markdown(&line)));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("## What gives way first\n\n{text}"),
    }
}

/// Outages by fault, a year of them, and every trial.
fn availability(summary: &Summary) -> Vec<String> {
    let sentences = |said: Vec<String>| -> String {
        let lines = said
            .iter()
            .map(|said| format!("- {}\n", escape_markdown(said)));
        lines.collect()
    };
    let Some(table) = figures::availability::outages(summary) else {
        return Vec::new();
    };
    let said = sentences(figures::availability::sentences(summary));
    let mut parts = vec![format!("## Outages\n\n{}\n{said}", table.to_markdown())];
    for (name, found) in figures::availability::of_arms(summary) {
        let name = escape_markdown(name);
        if let Some(annual) = &found.annual {
            let year = figures::availability::year(annual).to_markdown();
            let said = sentences(figures::availability::of_year(found));
            parts.push(format!("## A year of {name}\n\n{year}\n{said}"));
        }
        let trials = figures::availability::trials(found).to_markdown();
        parts.push(folded(&format!("Trials of {name}"), trials.trim_end()));
    }
    parts
}

/// Results of the methods `levels`, `capacity`, `sensitivity` and `availability`, and faults.
fn of_methods(summary: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(levels) = figures::levels::levels(summary) {
        let remarks = figures::levels::remarks(summary);
        let remarks: String = remarks
            .iter()
            .map(|remark| format!("- {}\n", escape_markdown(remark)))
            .collect();
        let content = [levels.to_markdown(), remarks];
        parts.push(format!("## Levels\n\n{}", content.join("\n").trim_end()) + "\n");
    }
    if let Some(links) = figures::links::links(summary) {
        let answers = figures::links::answers(summary).into_iter();
        let answers: String = answers
            .map(|said| format!("- {}\n", escape_markdown(&said)))
            .collect();
        let steps = figures::links::by_step(summary);
        let steps = steps.map_or(String::new(), |steps| {
            format!("\n### By step\n\n{}", steps.to_markdown())
        });
        parts.push(format!(
            "## Links\n\n{}\n{answers}{steps}",
            links.to_markdown()
        ));
    }
    parts.extend(availability(summary));
    if let Some(faults) = figures::faults::faults(summary) {
        let proofs = figures::faults::proofs(summary).into_iter();
        let proofs: String = proofs
            .map(|said| format!("- {}\n", escape_markdown(&said)))
            .collect();
        parts.push(format!("## Faults\n\n{}\n{proofs}", faults.to_markdown()));
    }
    if let Some(found) = figures::capacity::capacities(summary) {
        parts.push(format!("## Capacity\n\n{}", found.to_markdown()));
    }
    for (name, arm) in &summary.arms {
        let Some(found) = &arm.capacity else { continue };
        let notes = found.notes.iter();
        let notes: String = notes
            .map(|note| format!("- {}\n", escape_markdown(note)))
            .collect();
        let content = format!(
            "{}\n{notes}",
            figures::capacity::trials(found, PerIteration::of_arm(arm)).to_markdown()
        );
        let title = format!("Trials of {}", escape_markdown(name));
        parts.push(folded(&title, content.trim_end()));
    }
    parts
}

/// A part that readers open if they want it; shown as it is where Markdown has no such thing.
fn folded(title: &str, content: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{content}\n</details>\n")
}

fn verdict(summary: &Summary) -> String {
    let mut text = format!("**{}**\n\n", headline(summary).to_uppercase());
    for reason in summary.verdict.reasons.iter().chain(&left_out(summary)) {
        text.push_str(&format!("- {}\n", escape_markdown(reason)));
    }
    text
}

fn thresholds(summary: &Summary) -> Table {
    let mut table = Table::new(["threshold", "result", "reason"]).with_words(&[1, 2]);
    for outcome in &summary.thresholds {
        table.rows.push(vec![
            format!("{} {} {}", outcome.arm, outcome.metric, bound(outcome)),
            outcome.result.name().to_owned(),
            outcome.reason.clone(),
        ]);
    }
    table
}

fn notes(summary: &Summary) -> String {
    let legend = mark_legend(summary);
    let noted = summary
        .arms
        .iter()
        .flat_map(|(name, arm)| arm.notes.iter().map(move |note| format!("{name}: {note}")));
    let mut lines: Vec<String> = rates::said(summary).into_iter().chain(noted).collect();
    if !legend.is_empty() {
        lines.push(legend.to_owned());
    }
    let items: String = lines
        .iter()
        .map(|line| format!("- {}\n", escape_markdown(line)))
        .collect();
    if items.is_empty() {
        items
    } else {
        format!("\n{items}")
    }
}

fn added(summary: &Summary) -> Table {
    let mut table = Table::new(["arm", "figure", "difference", "95 % interval", "conclusion"])
        .with_words(&[1, 4]);
    for (name, arm) in &summary.arms {
        let Some(added) = &arm.added else { continue };
        for (figure, difference) in added.all() {
            table.rows.push(vec![
                name.clone(),
                figure_label(figure).to_owned(),
                signed_time(difference.value),
                interval(difference),
                conclusion(difference),
            ]);
        }
    }
    table
}

/// Advice on each criterion that does not hold.
fn broken(summary: &Summary) -> String {
    let broken = summary.validity.iter().filter(|row| !row.ok);
    let items: String = broken
        .map(|row| {
            let (value, limit) = (validity_value(row.value, row), validity_limit(row));
            let what = format!(
                "{} {}, {}: {value} ({limit})",
                row.criterion,
                row.name,
                row.place()
            );
            format!(
                "- {}. {}\n",
                escape_markdown(&what),
                escape_markdown(&row.advice)
            )
        })
        .collect();
    if items.is_empty() {
        items
    } else {
        format!("\n{items}")
    }
}

fn validity(summary: &Summary) -> Table {
    let mut table = Table::new(["criterion", "arm", "value", "limit", "ok"]).with_words(&[1, 4]);
    for row in &summary.validity {
        table.rows.push(vec![
            format!("{} {}", row.criterion, row.name),
            row.place(),
            validity_value(row.value, row),
            validity_limit(row),
            if row.ok { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}
