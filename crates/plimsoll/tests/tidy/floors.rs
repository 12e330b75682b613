//! No two modules of one level need each other, straight or around: each stands on a floor above what it names.
//!
//! A level is what one module declares. One of its modules needs another if any file below the first names anything
//! that is defined below the second, however it is re-exported. What a module's own file names of its children ties
//! nothing; what children name of that file is counted, and not forbidden.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{Modules, Place};
use crate::{files, none};

/// One level: which of its modules needs which, with the places that say so.
type Level = BTreeMap<(String, String), BTreeSet<String>>;

/// Stands for the file of the module whose children make a level.
const OWN_FILE: &str = "";

#[derive(Default)]
struct Floors {
    levels: BTreeMap<Place, Level>,
}

impl Floors {
    fn of(modules: &Modules) -> Self {
        let mut floors = Self::default();
        for edge in modules.edges() {
            let shared = edge.from.iter().zip(edge.to);
            let shared = shared.take_while(|(from, to)| from == to).count();
            let side = |place: &[String]| {
                let child = place.get(shared);
                child.map_or_else(|| OWN_FILE.to_owned(), Clone::clone)
            };
            let (from, to) = (side(edge.from), side(edge.to));
            if from == OWN_FILE && edge.handed_on {
                continue;
            }
            let level = floors.levels.entry(edge.from[..shared].to_vec());
            let ties = level.or_default().entry((from, to)).or_default();
            ties.insert(format!("{}: {}", edge.file, edge.name));
        }
        floors
    }

    /// The circles of every level, with the modules of each in order.
    fn circles(&self) -> Vec<(&Place, BTreeSet<&str>)> {
        let levels = self.levels.iter().flat_map(|(place, level)| {
            let among = |(from, to): &&(String, String)| from != OWN_FILE && to != OWN_FILE;
            let found = circles(level.keys().filter(among));
            found.into_iter().map(move |circle| (place, circle))
        });
        levels.collect()
    }

    /// Modules that need the file of the one that declares them, which needs them.
    fn bound_to_their_parent(&self) -> usize {
        let levels = self.levels.values().flat_map(|level| circles(level.keys()));
        let with_parent = levels.filter(|circle| circle.contains(OWN_FILE));
        with_parent.map(|circle| circle.len() - 1).sum()
    }

    /// Each circle, and for each pair in it what ties the one to the other.
    fn told(&self) -> Vec<String> {
        let circles = self.circles().into_iter().flat_map(|(place, circle)| {
            let members: Vec<&str> = circle.iter().copied().collect();
            let title = format!("in {}: {}", level_name(place), members.join(", "));
            let ties = self.levels[place].iter().filter_map(move |(pair, ties)| {
                let (from, to) = (pair.0.as_str(), pair.1.as_str());
                let inside = circle.contains(from) && circle.contains(to);
                let ties: Vec<_> = ties.iter().map(|tie| format!("\n    {tie}")).collect();
                inside.then(|| format!("  {from} -> {to}{}", ties.concat()))
            });
            std::iter::once(title).chain(ties)
        });
        circles.collect()
    }
}

fn level_name(place: &[String]) -> String {
    let root = "crate".to_owned();
    [&[root], place].concat().join("::")
}

/// Sets of two or more modules in which each reaches every other.
fn circles<'a>(pairs: impl Iterator<Item = &'a (String, String)>) -> Vec<BTreeSet<&'a str>> {
    let mut arrows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in pairs {
        arrows.entry(from).or_default().push(to);
    }
    let reached = |start: &'a str| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = vec![start];
        while let Some(at) = next.pop() {
            let onward = arrows.get(at).into_iter().flatten();
            next.extend(onward.filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (*from, reached(from))).collect();
    let circle = |from: &str| -> BTreeSet<&str> {
        let back = |to: &&str| reach.get(to).is_some_and(|reach| reach.contains(from));
        reach[from].iter().copied().filter(back).collect()
    };
    let circles: BTreeSet<_> = reach.keys().map(|from| circle(from)).collect();
    circles.into_iter().filter(|c| c.len() > 1).collect()
}

/// Root files of the crates and of the programs beside them, by their crates' names.
fn roots(files: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    files.keys().filter_map(|path| {
        let directory = path.strip_suffix("/src/lib.rs");
        let directory = directory.or_else(|| path.strip_suffix("/src/main.rs"))?;
        Some((directory.rsplit('/').next()?, path.as_str()))
    })
}

#[test]
fn modules_of_a_level_need_each_other_one_way() {
    let mut offenders = Vec::new();
    for directory in ["crates", "bench", "calibration", "fuzz", "testbed"] {
        let files = files(directory, &[".rs"]);
        for (name, root) in roots(&files) {
            let modules = Modules::read(&files, root);
            let floors = Floors::of(&modules);
            let tied: usize = floors
                .circles()
                .iter()
                .map(|(_, circle)| circle.len())
                .sum();
            println!(
                "{name}: {} modules, {tied} of them in {} circles, {} bound to their parent's file",
                modules.places().count(),
                floors.circles().len(),
                floors.bound_to_their_parent(),
            );
            let told = floors.told().into_iter();
            offenders.extend(told.map(|line| format!("{name} {line}")));
        }
    }
    none(offenders, "modules of one level that need each other");
}

/// The floors that a root file's header draws below `# Floors`: in each row modules, then three spaces and words.
fn drawn(root: &str) -> Option<Vec<&str>> {
    let (_, map) = root.split_once("//! # Floors\n")?;
    let map = map.split("```").nth(1)?;
    let rows = map.lines().filter_map(|row| row.strip_prefix("//! "));
    let names = rows.filter_map(|row| row.split("   ").next());
    Some(names.flat_map(str::split_whitespace).collect())
}

/// Where a header's map and the modules differ: each stands in it once, and needs only what comes after it.
fn misdrawn(map: &[&str], modules: &Modules) -> Vec<String> {
    let floors = Floors::of(modules);
    let at = |name: &str| map.iter().position(|drawn| *drawn == name);
    let top = modules.places().filter(|place| place.len() == 1);
    let top: BTreeSet<&str> = top.map(|place| place[0].as_str()).collect();
    let known: BTreeSet<&str> = map.iter().copied().collect();
    let lacking = top
        .difference(&known)
        .map(|name| format!("{name} is not drawn"));
    let beyond = known
        .difference(&top)
        .map(|name| format!("there is no {name}"));
    let twice = (known.len() < map.len()).then(|| "a module is drawn twice".to_owned());
    let level = floors.levels.get(&Place::new()).into_iter().flatten();
    let back = level.filter(|((from, to), _)| at(from) > at(to) && at(to).is_some());
    let back = back.map(|((from, to), _)| format!("{from} needs {to}, which is drawn above it"));
    lacking.chain(beyond).chain(twice).chain(back).collect()
}

#[test]
fn drawn_floors_are_those_of_the_code() {
    let files = files("crates", &[".rs"]);
    let offenders = roots(&files).filter_map(|(name, root)| {
        let misdrawn = misdrawn(&drawn(&files[root])?, &Modules::read(&files, root));
        (!misdrawn.is_empty()).then(|| format!("{name}: {}", misdrawn.join("; ")))
    });
    none(
        offenders.collect(),
        "a map of floors that is not the code's",
    );
}

/// The circles of a crate of these files, and how many modules are bound to their parent's file.
fn check(files: &[(&str, &str)], expected: &[&str], bound: usize) {
    let owned = |(path, text): &(&str, &str)| (format!("src/{path}"), (*text).to_owned());
    let files = files.iter().map(owned).collect();
    let floors = Floors::of(&Modules::read(&files, "src/lib.rs"));
    assert_eq!(floors.told(), expected);
    assert_eq!(floors.bound_to_their_parent(), bound);
}

#[test]
fn a_circle_is_told_with_what_ties_it() {
    let a = ("a.rs", "use crate::b::{self, B};");
    let b = ("b.rs", "fn f() { crate::a::g(); }");
    let c = ("c.rs", "use super::{a::g, b};");
    let circle = [
        "in crate: a, b",
        "  a -> b\n    src/a.rs: crate::b\n    src/a.rs: crate::b::B",
        "  b -> a\n    src/b.rs: crate::a::g",
    ];
    check(&[("lib.rs", "mod a; mod b; mod c;"), a, b, c], &circle, 0);
}

#[test]
fn files_below_tie_what_they_stand_in() {
    let a = ("a.rs", "mod below;");
    let below = ("a/below.rs", "use crate::b; fn f() { b::g(); }");
    let b = ("b.rs", "fn f(a: crate::a::A) {}");
    let circle = [
        "in crate: a, b",
        "  a -> b\n    src/a/below.rs: b::g\n    src/a/below.rs: crate::b",
        "  b -> a\n    src/b.rs: crate::a::A",
    ];
    check(&[("lib.rs", "mod a; mod b;"), a, below, b], &circle, 0);
}

#[test]
fn a_name_leads_to_where_it_is_defined() {
    let root = ("lib.rs", "mod a; mod b; pub use a::A; pub(crate) use b::*;");
    let a = ("a.rs", "use crate::B;");
    let b = ("b.rs", "use crate::A; pub struct B;");
    let circle = [
        "in crate: a, b",
        "  a -> b\n    src/a.rs: crate::B",
        "  b -> a\n    src/b.rs: crate::A",
    ];
    check(&[root, a, b], &circle, 0);
}

#[test]
fn tests_tie_nothing() {
    let a = ("a.rs", "use crate::b::B;");
    let b = ("b.rs", "#[cfg(test)] mod tests { use crate::a::A; }");
    check(&[("lib.rs", "mod a; mod b;"), a, b], &[], 0);
}

#[test]
fn a_parent_that_uses_its_children_is_counted_where_they_use_it() {
    let handing_on = ("lib.rs", "mod a; pub use a::A; struct Root;");
    let using = ("lib.rs", "mod a; fn f(a: a::A) {} struct Root;");
    let a = ("a.rs", "use super::Root;");
    check(&[handing_on, a], &[], 0);
    check(&[using, a], &[], 1);
}

#[test]
fn a_map_that_errs_is_told_where() {
    let files = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "use crate::b::B;"),
        ("src/b.rs", "pub struct B;"),
        ("src/c.rs", ""),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let modules = Modules::read(&files.into(), "src/lib.rs");
    let check = |header: &str, expected: &[&str]| {
        let header =
            format!("//! A crate.\n//!\n//! # Floors\n//!\n//! ```text\n{header}//! ```\n");
        assert_eq!(misdrawn(&drawn(&header).unwrap(), &modules), expected);
    };
    check("//! a     what it is\n//! b c   other things\n", &[]);
    check(
        "//! b\n//! a d\n",
        &[
            "c is not drawn",
            "there is no d",
            "a needs b, which is drawn above it",
        ],
    );
    check("//! a c\n//! b c\n", &["a module is drawn twice"]);
}
