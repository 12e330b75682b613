//! The fields of a kind of file as a tree of names, so that a file is judged in one walk: at each of its nodes only what is listed there is
//! looked at.

use super::{CONF, Class, DEFINITION, Field, Kind, POLICY, SESSION, folded};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Sign in the list for any key or place.
const ANY: &str = "*";

/// The tree of one kind. Its nodes are numbered in the order of the list.
pub(super) struct Ways {
    nodes: Vec<Listed>,
    /// Bytes of the longest name: a longer one is not looked for.
    longest: usize,
}

/// Entries at the end of a way.
#[derive(Default)]
struct Listed {
    field: Option<Field>,
    below: HashMap<&'static str, usize>,
    /// The first of the names below that is this one to Go.
    folded: HashMap<String, usize>,
    name: &'static str,
    /// Whether it or a field below it is read.
    is_read: bool,
}

/// Where a way from the top of a file stands in the list.
pub(super) struct Within {
    /// Entries there: by name, by `*`, or both.
    at: Vec<usize>,
    /// The field at the end of the way, or the nearest above it.
    pub(super) covering: Option<Field>,
}

impl Ways {
    /// Those of this kind.
    pub(super) fn of(kind: &Kind) -> &'static Self {
        static OF_KINDS: LazyLock<[(&str, Ways); 4]> = LazyLock::new(|| {
            [CONF, DEFINITION, POLICY, SESSION].map(|it| (it.name, Ways::new(it)))
        });
        let mut kinds = OF_KINDS.iter();
        let found = kinds.find(|(name, _)| *name == kind.name);
        &found.expect("invariant: all kinds are there").1
    }

    fn new(kind: &Kind) -> Self {
        let mut ways = Self {
            nodes: vec![Listed::default()],
            longest: 0,
        };
        for field in kind.fields() {
            ways.add(field);
        }
        ways
    }

    fn add(&mut self, field: Field) {
        let is_read = field.1 == Class::Supported;
        let mut at = 0;
        self.nodes[at].is_read |= is_read;
        for name in field.way() {
            let (above, next) = (at, self.nodes.len());
            at = *self.nodes[at].below.entry(name).or_insert(next);
            if at == next {
                self.nodes.push(Listed {
                    name,
                    ..Listed::default()
                });
                self.nodes[above].folded.entry(folded(name)).or_insert(at);
                self.longest = self.longest.max(name.len());
            }
            self.nodes[at].is_read |= is_read;
        }
        self.nodes[at].field.get_or_insert(field);
    }

    /// The top of a file.
    pub(super) fn top(&self) -> Within {
        Within {
            at: vec![0],
            covering: None,
        }
    }

    /// One name further.
    pub(super) fn below(&self, above: &Within, name: &str) -> Within {
        let mut at: Vec<usize> = Vec::new();
        for listed in self.at(above) {
            if name != ANY && name.len() <= self.longest {
                at.extend(listed.below.get(name));
            }
            at.extend(listed.below.get(ANY));
        }
        let own = at
            .iter()
            .filter(|at| self.nodes[**at].field.is_some())
            .min();
        let own = own.and_then(|at| self.nodes[*at].field);
        Within {
            covering: own.or(above.covering),
            at,
        }
    }

    /// Whether there are fields below.
    pub(super) fn goes_on(&self, within: &Within) -> bool {
        self.at(within).any(|listed| !listed.below.is_empty())
    }

    /// Whether the field here or one below it is read, so that decoding finds what is wrong here.
    pub(super) fn is_read_below(&self, within: &Within) -> bool {
        self.at(within).any(|listed| listed.is_read)
    }

    /// How a field is listed that is the same to Go, if it is written otherwise. Names that a file chooses are as they are.
    pub(super) fn spelling(&self, above: &Within, name: &str) -> Option<&'static str> {
        let is_as_it_is =
            |listed: &Listed| listed.below.contains_key(ANY) || listed.below.contains_key(name);
        // A letter has at most four bytes, and one that is folded comes to one.
        if name.len() > 4 * self.longest || self.at(above).any(is_as_it_is) {
            return None;
        }
        let folded = folded(name);
        let found = self
            .at(above)
            .filter_map(|listed| listed.folded.get(&folded));
        Some(self.nodes[*found.min()?].name)
    }

    /// The names of the fields below.
    pub(super) fn names_below(&self, above: &Within) -> Vec<String> {
        let below = self.at(above).flat_map(|listed| listed.below.iter());
        let mut below: Vec<(usize, &str)> = below
            .filter(|(name, _)| **name != ANY)
            .map(|(name, at)| (*at, *name))
            .collect();
        below.sort_unstable();
        below.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    fn at<'a>(&'a self, within: &'a Within) -> impl Iterator<Item = &'a Listed> {
        within.at.iter().map(|at| &self.nodes[*at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_meets_few_of_the_listed_names() {
        for kind in [CONF, DEFINITION, POLICY, SESSION] {
            let ways = Ways::of(kind);
            for field in kind.fields() {
                let end = field
                    .way()
                    .fold(ways.top(), |at, name| ways.below(&at, name));
                assert!(end.at.len() <= 2, "{}", field.0);
                let covering = end.covering.map(|covering| covering.0);
                assert_eq!(covering, Some(field.0), "{}", kind.name);
            }
        }
    }
}
