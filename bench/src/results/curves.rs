//! Curves over numbers of connections: read from the rows of committed tables, drawn by the report's own renderer and written as a table.

use super::cells::cells;
use crate::figures::thousands::thousands;
use plimsoll_report::render::picture::{Curve, Picture};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Contents of one picture.
struct Figure {
    /// The work of its rows, before the number of connections, and the name of ours.
    ours: (&'static str, &'static str),
    /// Ours with something more.
    more: Option<(&'static str, &'static str)>,
    title: &'static str,
    /// The file, beside the document.
    file: &'static str,
}

/// Every picture, in the order of the document.
const FIGURES: [Figure; 3] = [
    Figure {
        ours: ("generator, closed", "plimsoll"),
        more: None,
        title: "Generators: processor time per request",
        file: "connections-generator.svg",
    },
    Figure {
        ours: ("mock, one stub", "plimsoll mock"),
        more: Some(("mock, one stub, journal", "plimsoll mock, journal")),
        title: "Mock: processor time per request",
        file: "connections-mock.svg",
    },
    Figure {
        ours: ("gateway, plain", "plimsoll gateway"),
        more: None,
        title: "Reverse proxies: processor time per request",
        file: "connections-gateway.svg",
    },
];
/// The quantity of their rows.
const QUANTITY: &str = "CPU µs per request";
/// Text in the place of a picture until something was measured.
const NOTHING: &str = "Not measured yet.\n";

/// A table by the name of its file, and its text.
pub type Committed = (String, String);

/// The curves as a document shows them, each of the first of these tables that has it, and the files of their pictures. `directory`: the
/// tables' as seen from the document.
pub fn shown(tables: &[Committed], directory: &str) -> (String, Vec<(&'static str, String)>) {
    let mut text = String::new();
    let mut files = Vec::new();
    for figure in &FIGURES {
        let of = |(name, table): &Committed| Some((name.clone(), figure.curves(table)?));
        let Some((name, curves)) = tables.iter().find_map(of) else {
            continue;
        };
        let picture = figure.picture(&curves);
        if let Some(svg) = picture.svg() {
            files.push((figure.file, svg));
        }
        let (title, file) = (figure.title, figure.file);
        text.push_str(&format!("![{title}]({file})\n\n{}\n", table(&curves)));
        let date = name.split('T').next().unwrap_or(&name);
        text.push_str(&format!("Measured: [{date}]({directory}/{name}).\n\n"));
    }
    if text.is_empty() {
        text.push_str(NOTHING);
    }
    (text, files)
}

/// Microseconds by number of connections, of each side by its name; ours first.
type Curves = Vec<(String, BTreeMap<u32, f64>)>;

impl Figure {
    /// Its curves of a table; `None` where that has not two points.
    fn curves(&self, table: &str) -> Option<Curves> {
        let mut curves = Curves::new();
        let mut add = |name: &str, count: u32, us: Option<f64>| {
            let Some(us) = us else { return };
            let place = curves.iter().position(|(known, _)| known == name);
            let place = place.unwrap_or_else(|| {
                curves.push((name.to_owned(), BTreeMap::new()));
                curves.len() - 1
            });
            curves[place].1.insert(count, us);
        };
        for cells in table.lines().filter_map(cells) {
            let Some((work, count)) = point(&cells[0]).filter(|_| cells[1] == QUANTITY) else {
                continue;
            };
            let ours = cells[2].parse().ok();
            if work == self.ours.0 {
                add(self.ours.1, count, ours);
                if let Some((name, us)) = cells[3].rsplit_once(": ") {
                    add(name, count, us.parse().ok());
                }
            } else if let Some((_, name)) = self.more.filter(|more| more.0 == work) {
                add(name, count, ours);
            }
        }
        let is_curve = curves.first().is_some_and(|(_, points)| points.len() > 1);
        is_curve.then_some(curves)
    }

    fn picture(&self, curves: &Curves) -> Picture {
        let curve = |(name, points): &(String, BTreeMap<u32, f64>)| Curve {
            name: name.replace('`', ""),
            points: points
                .iter()
                .map(|(count, us)| (f64::from(*count), *us))
                .collect(),
        };
        Picture {
            title: self.title.to_owned(),
            x: "connections".to_owned(),
            y: QUANTITY.to_owned(),
            curves: curves.iter().map(curve).collect(),
        }
    }
}

/// Work and number of connections of `WORK, 1,000 connections`.
fn point(work: &str) -> Option<(&str, u32)> {
    let (work, count) = work.strip_suffix(" connections")?.rsplit_once(", ")?;
    Some((work, count.replace(',', "").parse().ok()?))
}

/// A row for every number of connections.
fn table(curves: &Curves) -> String {
    let counts: BTreeSet<u32> = curves
        .iter()
        .flat_map(|(_, points)| points.keys().copied())
        .collect();
    let names: Vec<&str> = curves.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = format!("| connections | {} |\n|---|", names.join(" | "));
    text.push_str(&"---|".repeat(names.len()));
    text.push('\n');
    for count in counts {
        let us = |(_, points): &(String, BTreeMap<u32, f64>)| {
            let us = points.get(&count);
            us.map_or_else(|| "—".to_owned(), |us| format!("{us:.2}"))
        };
        let cells: Vec<String> = curves.iter().map(us).collect();
        // Writing to a string does not fail.
        writeln!(text, "| {} | {} |", thousands(count), cells.join(" | ")).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| mock, one stub, saturated | CPU µs per request | 7.00 | nginx `return 200`: 8.00 | 0.9 | ≤ 1.00 × |  | held |
| mock, one stub, 50 connections | CPU µs per request | 8.00 | nginx `return 200`: 8.50 | 0.9 | ≤ 1.00 × |  | held |
| mock, one stub, journal, 50 connections | CPU µs per request | 9.00 | nginx `return 200`: 8.50 | 0.9 |  |  |  |
| mock, one stub, 10,000 connections | CPU µs per request | 11.00 | nginx `return 200`: — | — | ≤ 1.00 × |  | not measured |
| mock, one stub, 50 to 10,000 connections | growth of CPU per request | 1.4 × | nginx `return 200`: — | — | ≤ 1.00 × |  | not measured |
";

    #[test]
    fn curves_are_read_from_the_newest_table_that_has_them() {
        let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let tables = [
            named("2026-12-02T010000Z-a.md", "| work |\n"),
            named("2026-12-01T010000Z-a.md", TABLE),
            named("2026-11-30T010000Z-a.md", &TABLE.replace("8.00", "7.77")),
        ];
        let (text, files) = shown(&tables, "../results");
        insta::assert_snapshot!(text, @r"
        ![Mock: processor time per request](connections-mock.svg)

        | connections | plimsoll mock | nginx `return 200` | plimsoll mock, journal |
        |---|---|---|---|
        | 50 | 8.00 | 8.50 | 9.00 |
        | 10,000 | 11.00 | — | — |

        Measured: [2026-12-01](../results/2026-12-01T010000Z-a.md).
        ");
        assert_eq!(files.len(), 1);
        let (name, svg) = &files[0];
        assert_eq!(*name, "connections-mock.svg");
        assert!(svg.contains("plimsoll mock, journal"), "{svg}");
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        assert_eq!(shown(&[], ".."), (NOTHING.to_owned(), Vec::new()));
    }
}
