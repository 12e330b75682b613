//! The summary on a terminal: verdict first, validity second, then the figures, in about forty lines.

use super::cause;
use super::figures;
use super::rates::{self, PerIteration};
use super::table::Table;
use super::words::{
    self, all_hold, comparison_method, conclusion, figure_label, has_differences, headline,
    interval, left_out, mark_legend, method, plain, signed_time, validity_limit, validity_value,
};
use crate::record::{Added, MethodName, Statistic, Summary, ValidityRow};
use crate::render::view::RunView;
use indexmap::IndexMap;

/// Rows of a table beyond this are left to the report.
const MOST_ROWS: usize = 12;
const MOST_REASONS: usize = 5;
/// Lines of what gives way first in one arm.
const MOST_LINES: usize = 10;
/// No heading before a sentence is longer.
const LONGEST_HEADING: usize = 16;

/// Renders plain text without colours; every line ends in a newline.
#[must_use]
pub fn render(view: &RunView) -> String {
    render_within(view, usize::MAX)
}

/// Renders a run for a terminal of so many columns.
#[must_use]
pub fn render_within(view: &RunView, width: usize) -> String {
    let table = |shown| table(shown, width);
    let summary = &view.summary;
    let mut parts = vec![
        format!(
            "{} · {} · seed {}\n",
            plain(&summary.experiment),
            plain(&method(view)),
            summary.seed
        ),
        verdict(summary) + &bottleneck(summary),
        validity(&summary.validity),
    ];
    parts.extend(levels(summary, width));
    parts.extend(links(summary, width));
    parts.extend(availability(summary, width));
    parts.extend(faults(summary, width));
    parts.extend(figures::capacity::capacities(summary).map(table));
    for (name, arm) in &summary.arms {
        let trials = arm
            .capacity
            .as_ref()
            .map(|found| figures::capacity::trials_in_short(found, PerIteration::of_arm(arm)));
        parts.extend(trials.map(|trials| format!("{}\n{}", plain(name), table(trials))));
    }
    if summary.method != MethodName::Levels {
        parts.push(table(figures::arms(summary)) + &notes(summary));
    }
    parts.extend(added(summary));
    let failures = figures::failures_by_kind(summary);
    if !failures.rows.is_empty() {
        parts.push(table(failures));
    }
    if summary.method != MethodName::Levels {
        parts.extend(figures::components(summary).map(table));
    }
    let mut text = parts.join("\n");
    if !view.location.is_empty() {
        text.push_str(&format!(
            "\nreport: {}/report.html\n",
            plain(&view.location)
        ));
    }
    text.lines().map(|line| wrapped(line, width)).collect()
}

/// A line as several for a terminal of so many columns, broken between words, the further ones as far to the right as the first one's text.
/// Every line ends in a newline.
#[must_use]
pub fn wrapped(line: &str, width: usize) -> String {
    let text = line.trim_start();
    let before = line.len() - text.len();
    // Behind a heading such as `FAILED`, which two spaces set apart.
    let heading = text.find("  ").filter(|end| *end < LONGEST_HEADING);
    let indent = before + heading.map_or(0, |end| end + 2);
    if line.chars().count() <= width || width <= 2 * indent {
        return format!("{line}\n");
    }
    let (first, rest) = line.split_at(indent);
    let mut lines = first.to_owned();
    let mut column = indent;
    for (place, word) in rest.split(' ').enumerate() {
        let length = word.chars().count();
        if place > 0 && column + 1 + length > width {
            lines.truncate(lines.trim_end().len());
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else if place > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}

/// The levels, whole: what is asked for is one row each.
fn levels(summary: &Summary, width: usize) -> Option<String> {
    let table = figures::levels::levels(summary)?;
    let remarks = figures::levels::remarks(summary);
    let remarks = remarks
        .iter()
        .map(|remark| format!("  {}\n", plain(remark)));
    Some(table.to_text_within(width) + &remarks.collect::<String>())
}

/// The links, and what follows from them.
fn links(summary: &Summary, width: usize) -> Option<String> {
    let table = figures::links::links(summary)?;
    let answers = figures::links::answers(summary);
    let answers = answers.iter().map(|said| format!("  {}\n", plain(said)));
    let steps = figures::links::by_step(summary);
    let steps = steps.map_or(String::new(), |steps| {
        format!("\nBy step\n{}", steps.to_text_within(width))
    });
    Some(table.to_text_within(width) + &answers.collect::<String>() + &steps)
}

/// Outages by fault, and a year of them.
fn availability(summary: &Summary, width: usize) -> Option<String> {
    let sentences = |said: Vec<String>| -> String {
        let lines = said.iter().map(|said| format!("  {}\n", plain(said)));
        lines.collect()
    };
    let table = figures::availability::outages(summary)?;
    let mut text =
        table.to_text_within(width) + &sentences(figures::availability::sentences(summary));
    for (_, found) in figures::availability::of_arms(summary) {
        if let Some(annual) = &found.annual {
            let year = figures::availability::year(annual).to_text_within(width);
            text.push_str(&format!("\n{year}"));
            text.push_str(&sentences(figures::availability::of_year(found)));
        }
    }
    Some(text)
}

/// Faults, with their proofs.
fn faults(summary: &Summary, width: usize) -> Option<String> {
    let table = figures::faults::faults(summary)?;
    let proofs = figures::faults::proofs(summary);
    let proofs = proofs.iter().map(|said| format!("  {}\n", plain(said)));
    Some(table.to_text_within(width) + &proofs.collect::<String>())
}

fn verdict(summary: &Summary) -> String {
    let headline = headline(summary).to_uppercase();
    let indent = " ".repeat(headline.chars().count());
    let reasons = &summary.verdict.reasons;
    let mut text = String::new();
    let left_out = left_out(summary);
    let shown = reasons.iter().take(MOST_REASONS).chain(&left_out);
    for (index, reason) in shown.enumerate() {
        let start = if index == 0 { &headline } else { &indent };
        text.push_str(&format!("{start}  {}\n", plain(reason)));
    }
    match reasons.len() {
        0 => format!("{headline}\n"),
        n if n > MOST_REASONS => {
            text + &format!("{indent}  … and {} more in the report\n", n - MOST_REASONS)
        }
        _ => text,
    }
}

/// The bottleneck of each arm; empty where nobody asked.
fn bottleneck(summary: &Summary) -> String {
    let arms = cause::of_arms(summary);
    let mut text = String::new();
    for (name, found) in &arms {
        let arm = if arms.len() > 1 {
            format!(" of {}", plain(name))
        } else {
            String::new()
        };
        let lines = cause::lines(found);
        for (place, (depth, line)) in lines.iter().take(MOST_LINES).enumerate() {
            let start = if place == 0 {
                format!("limit{arm}: ")
            } else {
                "  ".repeat(1 + depth)
            };
            text.push_str(&format!("{start}{}\n", plain(line)));
        }
        if lines.len() > MOST_LINES {
            text.push_str(&format!(
                "  … and {} lines more in the report\n",
                lines.len() - MOST_LINES
            ));
        }
    }
    text
}

fn validity(rows: &[ValidityRow]) -> String {
    let Some(said) = words::broken(rows) else {
        return format!("validity: {}\n", all_hold(rows));
    };
    let broken: Vec<&ValidityRow> = rows.iter().filter(|row| !row.ok).collect();
    let mut text = format!("validity: {said}\n");
    let criteria = by_criterion(&broken);
    let mut counted = None;
    for rows in criteria.iter().take(MOST_REASONS) {
        let found: Vec<String> = rows
            .iter()
            .map(|row| {
                let (value, limit) = (validity_value(row.value, row), validity_limit(row));
                format!("{} {value} ({limit})", plain(&row.place()))
            })
            .collect();
        let first = rows[0];
        // A criterion that looks at several things is one criterion: its number stands once.
        let number = match counted.replace(first.criterion) {
            Some(before) if before == first.criterion => " ".repeat(before.to_string().len()),
            _ => first.criterion.to_string(),
        };
        text.push_str(&format!(
            "  {number} {}: {}\n      {}\n",
            first.name,
            found.join(", "),
            plain(&first.advice)
        ));
    }
    if criteria.len() > MOST_REASONS {
        let more = criteria.len() - MOST_REASONS;
        text.push_str(&format!("  … and {more} more in the report\n"));
    }
    text
}

/// Broken rows by what they look at, in order of their criterion; of each arm the first, which has the strongest effect.
fn by_criterion<'a>(broken: &[&'a ValidityRow]) -> Vec<Vec<&'a ValidityRow>> {
    let mut criteria: IndexMap<(u32, &str), Vec<&ValidityRow>> = IndexMap::new();
    for row in broken {
        let rows = criteria
            .entry((row.criterion, row.name.as_str()))
            .or_default();
        if rows.iter().all(|known| known.place() != row.place()) {
            rows.push(row);
        }
    }
    criteria.sort_by(|a, _, b, _| a.0.cmp(&b.0));
    criteria.into_values().collect()
}

fn notes(summary: &Summary) -> String {
    let legend = mark_legend(summary);
    let mut text = if legend.is_empty() {
        String::new()
    } else {
        format!("  {legend}\n")
    };
    for said in rates::said(summary) {
        text.push_str(&format!("  {}\n", plain(&said)));
    }
    for (name, arm) in &summary.arms {
        for note in &arm.notes {
            text.push_str(&format!("  {}: {note}\n", plain(name)));
        }
    }
    text
}

fn added(summary: &Summary) -> Option<String> {
    let comparison = summary.comparison.as_ref()?;
    if !has_differences(summary) {
        return comparison_method(summary).map(|why| format!("{why}\n"));
    }
    let head = format!("added to {}", comparison.baseline);
    let mut table = Table::new([head.as_str(), "", "difference", "95 % interval"]);
    let mut conclusions = vec![String::new()];
    for (name, arm) in &summary.arms {
        let Some(added) = &arm.added else { continue };
        let headlines = [Statistic::P50.name(), Statistic::P99.name(), Added::CPU];
        let all = added.all();
        for (figure, difference) in all.filter(|(figure, _)| headlines.contains(figure)) {
            table.rows.push(vec![
                name.clone(),
                figure_label(figure).to_owned(),
                signed_time(difference.value),
                interval(difference),
            ]);
            conclusions.push(conclusion(difference));
        }
    }
    let lines = table.to_text();
    let lines = lines.lines().zip(&conclusions).take(1 + MOST_ROWS);
    let mut text: String = lines
        .map(|(line, words)| format!("{line}  {words}").trim_end().to_owned() + "\n")
        .collect();
    if let Some(how) = comparison_method(summary) {
        text.push_str(&format!("  {}\n", plain(&how)));
    }
    Some(text)
}

fn table(mut table: Table, width: usize) -> String {
    let more = table.rows.len().saturating_sub(MOST_ROWS);
    table.rows.truncate(MOST_ROWS);
    let mut text = table.to_text_within(width);
    if more > 0 {
        text.push_str(&format!("  … and {more} more in the report\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{validity, wrapped};
    use crate::record::Effect;
    use crate::render::words::tests::rows;

    /// As many criteria are listed as are said not to hold, also where one looks at two things, and one only marks.
    #[test]
    fn count_and_list_agree() {
        let mut rows = rows(&[
            (6, false, Effect::Invalid),
            (6, false, Effect::Marked),
            (8, true, Effect::Marked),
            (9, true, Effect::None),
        ]);
        rows[1].name = "something else".to_owned();
        insta::assert_snapshot!(validity(&rows), @r"
        validity: 1 of 3 criteria is not met, and 1 more is met but marks figures
          6 what 6 looks at: a 2 (≤ 1)
              Mend it.
            something else: a 2 (≤ 1)
              Mend it.
        ");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let check = |line: &str, expected: &str| assert_eq!(wrapped(line, 20), expected);
        check("short enough", "short enough\n");
        check(
            "FAILED  the p99 is 52.9 ms",
            "FAILED  the p99 is\n        52.9 ms\n",
        );
        check(
            "  note: one of two arms failed",
            "  note: one of two\n  arms failed\n",
        );
        check(
            "    a-word-that-is-longer-than-that",
            "    a-word-that-is-longer-than-that\n",
        );
    }
}
