//! The modules of one crate and where the names that they use are defined, read from `mod`, `use` and paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::{group_end, tokens};

/// A module's names from the crate's root down; the root itself is empty.
pub(crate) type Place = Vec<String>;

/// Re-exports that are followed at most, so that two that name each other end.
const MOST_STEPS: usize = 8;

/// A crate's modules.
#[derive(Default)]
pub(crate) struct Modules(BTreeMap<Place, Module>);

#[derive(Default)]
struct Module {
    file: String,
    /// Names that `use` brings in, by the path that it says.
    imports: BTreeMap<String, Place>,
    /// Paths of `use …::*`.
    globs: Vec<Place>,
    items: BTreeSet<String>,
    names: Vec<Name>,
}

struct Name {
    path: Place,
    handed_on: bool,
}

/// A module that names something of another one.
pub(crate) struct Edge<'a> {
    pub(crate) from: &'a [String],
    pub(crate) to: &'a [String],
    /// The file that names it, and how.
    pub(crate) file: &'a str,
    pub(crate) name: String,
    /// By `pub use`.
    pub(crate) handed_on: bool,
}

impl Modules {
    /// The modules below the root file, `files` by their paths.
    pub(crate) fn read(files: &BTreeMap<String, String>, root: &str) -> Self {
        let mut modules = Self::default();
        let (directory, _) = root.rsplit_once('/').unwrap_or(("", root));
        modules.load(files, root, directory, &[]);
        modules
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.0.keys()
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = Edge<'_>> {
        self.0.iter().flat_map(move |(from, module)| {
            module.names.iter().filter_map(move |name| {
                let to = self.defined(&self.absolute(from, &name.path, 0)?, 0)?;
                (to != from).then(|| Edge {
                    from,
                    to,
                    file: &module.file,
                    name: name.path.join("::"),
                    handed_on: name.handed_on,
                })
            })
        })
    }

    fn load(
        &mut self,
        files: &BTreeMap<String, String>,
        file: &str,
        directory: &str,
        place: &[String],
    ) {
        let Some(text) = files.get(file) else { return };
        let module = Module {
            file: file.to_owned(),
            ..Module::default()
        };
        self.0.insert(place.to_vec(), module);
        self.body(files, &tokens(text), directory, place);
    }

    fn body(
        &mut self,
        files: &BTreeMap<String, String>,
        tokens: &[String],
        directory: &str,
        place: &[String],
    ) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1).map_or("", String::as_str);
            let after = tokens.get(at + 2).map_or("", String::as_str);
            at = match token.as_str() {
                "mod" if after == ";" || after == "{" => {
                    let child = [place, &[next.to_owned()]].concat();
                    let below = format!("{directory}/{next}");
                    if after == ";" {
                        self.load(files, &format!("{below}.rs"), &below, &child);
                        at + 3
                    } else {
                        let end = group_end(tokens, at + 2);
                        let file = self.0[place].file.clone();
                        self.0.entry(child.clone()).or_default().file = file;
                        self.body(files, &tokens[at + 3..end - 1], &below, &child);
                        end
                    }
                }
                "use" if next != "<" => {
                    let handed_on = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                    let end = at + tokens[at..].iter().take_while(|t| *t != ";").count();
                    self.import(place, &tokens[at + 1..end], handed_on);
                    end + 1
                }
                _ => self.word(place, tokens, at),
            };
        }
    }

    /// A definition, a path or another token at `at`; answers with what stands behind it.
    fn word(&mut self, place: &[String], tokens: &[String], at: usize) -> usize {
        let module = self.0.entry(place.to_vec()).or_default();
        let defines = [
            "struct", "enum", "fn", "trait", "type", "const", "static", "union",
        ];
        if defines.contains(&tokens[at].as_str()) {
            module.items.extend(tokens.get(at + 1).cloned());
            return at + 1;
        }
        let mut path = Vec::new();
        let mut end = at;
        while tokens.get(end).is_some_and(|token| is_word(token)) {
            path.push(tokens[end].clone());
            end += 1;
            if tokens.get(end).is_none_or(|token| token != "::")
                || tokens.get(end + 1).is_none_or(|token| !is_word(token))
            {
                break;
            }
            end += 1;
        }
        let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
        let visibility = before == "in" && at > 2 && tokens[at - 3] == "pub";
        if path.len() > 1 && !matches!(before, "." | "::") && !visibility {
            let handed_on = false;
            module.names.push(Name { path, handed_on });
        }
        end.max(at + 1)
    }

    fn import(&mut self, place: &[String], tree: &[String], handed_on: bool) {
        let module = self.0.entry(place.to_vec()).or_default();
        for (path, alias) in leaves(&[], tree) {
            if alias == "*" {
                module.globs.push(path.clone());
            } else if alias != "_" {
                module.imports.insert(alias, path.clone());
            }
            module.names.push(Name { path, handed_on });
        }
    }

    /// The path from the crate's root, if it begins in this crate.
    fn absolute(&self, place: &[String], path: &[String], steps: usize) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        let child = [place, std::slice::from_ref(first)].concat();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([place, rest].concat()),
            "super" if rest.first().is_some_and(|next| next == "super") => {
                self.absolute(place.split_last()?.1, rest, steps)
            }
            "super" => Some([place.split_last()?.1, rest].concat()),
            _ if self.0.contains_key(&child) => Some([&child, rest].concat()),
            _ => {
                let imported = self.0.get(place)?.imports.get(first)?;
                if steps == MOST_STEPS || imported.first() == Some(first) {
                    return None;
                }
                let imported = self.absolute(place, imported, steps + 1)?;
                Some([&imported, rest].concat())
            }
        }
    }

    /// The module in which the item at an absolute path is defined.
    fn defined(&self, path: &[String], steps: usize) -> Option<&[String]> {
        let length = (0..=path.len())
            .rev()
            .find(|length| self.0.contains_key(&path[..*length]))?;
        let (place, module) = self.0.get_key_value(&path[..length])?;
        let Some(item) = path.get(length).filter(|_| steps < MOST_STEPS) else {
            return Some(place);
        };
        if let Some(imported) = module.imports.get(item) {
            let elsewhere = self.absolute(place, imported, steps);
            let elsewhere = elsewhere.map(|at| [&at, &path[length + 1..]].concat());
            return match elsewhere.filter(|at| at != path) {
                Some(at) => self.defined(&at, steps + 1),
                None => Some(place),
            };
        }
        let behind = module.globs.iter().filter_map(|glob| {
            let glob = self.absolute(place, glob, steps)?;
            let holds = self.0.get(&glob)?.items.contains(item);
            self.0.get_key_value(&glob).filter(|_| holds)
        });
        Some(behind.map(|(glob, _)| glob).next().unwrap_or(place))
    }
}

fn is_word(token: &str) -> bool {
    let first = token.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
}

/// Imports of a tree of `use`: each path, and the name that it is known by.
fn leaves(above: &[String], tree: &[String]) -> Vec<(Place, String)> {
    let mut path = above.to_vec();
    let mut at = 0;
    while let Some(token) = tree.get(at) {
        match token.as_str() {
            "::" => {}
            "{" => {
                let inner = &tree[at + 1..group_end(tree, at) - 1];
                return branches(inner).flat_map(|t| leaves(&path, t)).collect();
            }
            "*" => return vec![(path, "*".to_owned())],
            "as" => return vec![(path, tree[at + 1].clone())],
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    let alias = path.last().cloned();
    alias.map(|alias| (path, alias)).into_iter().collect()
}

/// The parts of a brace, which commas divide.
fn branches(tokens: &[String]) -> impl Iterator<Item = &[String]> {
    let mut depth = 0;
    tokens.split(move |token| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && token == ","
    })
}
