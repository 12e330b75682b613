//! Rows of validity by what they look at, so that what they say alike stands once.

use crate::record::ValidityRow;

/// The rows of one thing that one criterion looks at.
pub(super) struct Looked<'a> {
    /// The criterion's number.
    pub(super) criterion: u32,
    /// Its subject.
    pub(super) name: &'a str,
    /// Words that every row shares, in their order; empty when they have nothing in common.
    pub(super) common: String,
    /// The rows, each with what it says beyond that.
    pub(super) rows: Vec<(&'a ValidityRow, String)>,
}

/// Rows by criterion and name, in the order in which these come first.
pub(super) fn grouped<'a>(rows: impl IntoIterator<Item = &'a ValidityRow>) -> Vec<Looked<'a>> {
    let mut groups: Vec<Vec<&ValidityRow>> = Vec::new();
    for row in rows {
        let is_alike = |group: &&mut Vec<&ValidityRow>| {
            let first = group[0];
            (first.criterion, &first.name) == (row.criterion, &row.name)
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().map(looked).collect()
}

/// Words of a group of rows, apart.
fn looked(group: Vec<&ValidityRow>) -> Looked<'_> {
    let first = group[0];
    let said: Vec<Vec<&str>> = group.iter().map(|row| clauses(&row.advice)).collect();
    let is_common = |clause: &str| said.iter().all(|clauses| clauses.contains(&clause));
    let own = |clauses: &Vec<&str>| told(clauses, |clause| !is_common(clause));
    Looked {
        criterion: first.criterion,
        name: &first.name,
        common: told(&said[0], is_common),
        rows: group.iter().copied().zip(said.iter().map(own)).collect(),
    }
}

/// A text cut behind every full stop and colon that a space follows.
fn clauses(text: &str) -> Vec<&str> {
    text.split_inclusive(". ")
        .flat_map(|sentence| sentence.split_inclusive(": "))
        .map(str::trim_end)
        .collect()
}

/// The clauses that are kept, as a text: where some were left out before, it begins anew, and where some follow, it ends.
fn told(clauses: &[&str], is_kept: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut begins = true;
    for (index, clause) in clauses.iter().enumerate() {
        if !is_kept(clause) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        let mut characters = clause.chars();
        match characters.next().filter(|_| begins) {
            Some(first) => text.extend(first.to_uppercase().chain(characters)),
            None => text.push_str(clause),
        }
        begins = !clauses.get(index + 1).is_some_and(|next| is_kept(next));
        if begins {
            text.truncate(text.trim_end_matches([':', '.']).len());
            text.push('.');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Bias, Effect, Sense};

    fn row(criterion: u32, arm: &str, advice: &str) -> ValidityRow {
        ValidityRow {
            criterion,
            name: format!("thing {criterion}"),
            arm: arm.to_owned(),
            level: None,
            value: None,
            limit: 0.0,
            unit: "s".to_owned(),
            sense: Sense::AtMost,
            ok: false,
            effect: Effect::Marked,
            bias: Bias::Either,
            affects: Vec::new(),
            advice: advice.to_owned(),
        }
    }

    #[test]
    fn what_rows_say_alike_stands_once_and_their_figures_each() {
        let rows = [
            row(
                3,
                "a",
                "It stalled, for 20.5 ms: something took its processor. Stop what runs here.",
            ),
            row(4, "a", "It had to wait: give it more."),
            row(
                3,
                "b",
                "It stalled, for 1.5 s: something took its processor. Stop what runs here. Only figures beyond the p99 are affected.",
            ),
        ];
        let groups = grouped(&rows);
        let shown: Vec<_> = groups
            .iter()
            .map(|group| {
                let rows = group.rows.iter();
                let rows: Vec<_> = rows
                    .map(|(row, own)| (row.arm.as_str(), own.as_str()))
                    .collect();
                (group.criterion, group.name, group.common.as_str(), rows)
            })
            .collect();
        assert_eq!(
            shown,
            [
                (
                    3,
                    "thing 3",
                    "Something took its processor. Stop what runs here.",
                    vec![
                        ("a", "It stalled, for 20.5 ms."),
                        (
                            "b",
                            "It stalled, for 1.5 s. Only figures beyond the p99 are affected."
                        ),
                    ]
                ),
                (
                    4,
                    "thing 4",
                    "It had to wait: give it more.",
                    vec![("a", "")]
                ),
            ]
        );
    }
}
