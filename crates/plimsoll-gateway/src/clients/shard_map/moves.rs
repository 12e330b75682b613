//! Which map may follow which: versions count up, and no identity changes its shard without having been frozen. Pure.
//!
//! ```text
//! stable(A) -> [mirroring(A, B)] -> frozen(A, B) -> stable(B)     (every step but the last may be taken back)
//! ```
//!
//! While an identity is mirrored both shards get its requests, which says whether the new one can bear them, and makes no move safe by
//! itself. While it is frozen nothing changes its data, so that whoever moves it can finish copying; requests that wanted to wait for the
//! map that ends the move. Who is taken out of the map is refused, which is as good as frozen: a later map may have it anywhere. In both
//! cases requests may be under way still that began by an earlier map, so a map is held against every one by which any of those began, see
//! [`moves_any`].
//!
//! Two maps are compared at every name at which either can change its mind, see [`witnesses`].

use super::{Assignment, ByLength, DataShard, Entry, Moving, ShardMap, Step};
use crate::clients::identity::Identity;
use plimsoll_base::document::Problem;

/// Objections to `next` after `before`; `file` is where it was read from.
pub(crate) fn problems(before: &ShardMap, next: &ShardMap, file: &str) -> Vec<Problem> {
    let (old, new) = (before.version, next.version);
    if new < old {
        let message = format!("map version {old} is served already: this one is older");
        return vec![Problem::of_file(file, message)];
    }
    if new == old && next.fingerprint != before.fingerprint {
        let message = format!(
            "another map of version {old} is served already: write `map_version: {}`",
            old + 1
        );
        return vec![Problem::of_file(file, message)];
    }
    let mut problems = other_upstreams(before, next, file);
    problems.extend(witnesses(before, next).filter_map(|witness| witness.judge(file)));
    problems.sort();
    problems.dedup();
    problems
}

/// A shard is its upstream's data, so it keeps its upstream: whoever is in it would move without having been frozen.
fn other_upstreams(before: &ShardMap, next: &ShardMap, file: &str) -> Vec<Problem> {
    let known = |shard: &DataShard| before.shards.iter().find(|old| old.name == shard.name);
    let pairs = next
        .shards
        .iter()
        .filter_map(|new| Some((known(new)?, new)));
    let differ = pairs.filter(|(old, new)| old.upstream_name != new.upstream_name);
    let problem = |(old, new): (&DataShard, &DataShard)| {
        let message = format!(
            "shard `{}` would change its upstream from `{}` to `{}` while its data may change: name another shard for `{}`, and move those who are in it",
            old.name, old.upstream_name, new.upstream_name, new.upstream_name
        );
        Problem::of_file(file, message)
    };
    differ.map(problem).collect()
}

/// Whether anybody who has a shard in `before` has another one in `next`.
pub(crate) fn moves_any(before: &ShardMap, next: &ShardMap) -> bool {
    witnesses(before, next).any(|witness| witness.moves().is_some())
}

/// The names at which either of two maps can change its mind: every exact one, every beginning of names, as what begins so and nothing
/// longer has to do with, and whoever is in none of them. Each identity is, by both maps, where one of these is.
fn witnesses<'a>(
    before: &'a ShardMap,
    next: &'a ShardMap,
) -> impl Iterator<Item = Witness<'a>> + 'a {
    let place = |map: &'a ShardMap, found: Option<Assignment>| {
        let moving = |moving: Moving| (moving.step, &*map.shards[moving.to].name);
        found.map(|found| (&*map.shards[found.shard].name, found.moving.map(moving)))
    };
    let witness = move |who, from, to, entry| Witness {
        who,
        from: place(before, from),
        to: place(next, to).map(|(shard, _)| shard),
        entry,
    };
    let named = before.exact.keys().chain(next.exact.keys());
    let named = named.map(move |identity| {
        let (from, to) = (before.find(identity), next.find(identity));
        witness(Who::Named(identity), from, to, next.entry(identity))
    });
    let begun = before.prefix_identities().chain(next.prefix_identities());
    let begun = begun.map(move |prefix| {
        let (from, to) = (before.beyond_exact(&prefix), next.beyond_exact(&prefix));
        let entry = next.prefixes.find(&prefix);
        witness(Who::Beginning(prefix), from, to, entry)
    });
    let (from, to) = (before.by_default(), next.by_default());
    let others = witness(Who::AnybodyElse, from, to, None);
    named.chain(begun).chain(std::iter::once(others))
}

/// Somebody, and where two maps have its data.
struct Witness<'a> {
    who: Who<'a>,
    /// The shard, and how far a move to which one is.
    from: Option<(&'a str, Option<(Step, &'a str)>)>,
    to: Option<&'a str>,
    /// Entry of the later map that says so.
    entry: Option<&'a Entry>,
}

enum Who<'a> {
    Named(&'a Identity),
    /// Whose names begin so.
    Beginning(Identity),
    AnybodyElse,
}

impl Witness<'_> {
    /// From where to where it moves. Who had no shard had no data, and who has none is refused.
    fn moves(&self) -> Option<(&str, &str)> {
        let ((from, _), to) = (self.from?, self.to?);
        (from != to).then_some((from, to))
    }

    /// Objection to where it is.
    fn judge(&self, file: &str) -> Option<Problem> {
        let (old, new) = self.moves()?;
        let (_, moving) = self.from?;
        if moving == Some((Step::Frozen, new)) {
            return None;
        }
        let who = match &self.who {
            Who::Named(identity) => *identity,
            Who::Beginning(prefix) => prefix,
            Who::AnybodyElse => {
                let message = "the default cannot change while anybody may be served by it: name those who move, with their moves, and leave it out first";
                return Some(Problem::of_file(file, message));
            }
        };
        let mut problem = Problem::of_file(
            file,
            format!(
                "{who} would move from `{old}` to `{new}` while its data may change: write `shard: {old}, moving: {{ to: {new}, phase: frozen }}` first, and load that"
            ),
        );
        if let Some(entry) = self.entry {
            (problem.line, problem.column) = (entry.line, entry.column);
        }
        Some(problem)
    }
}

impl ShardMap {
    /// Where an identity would be if it were in no exact entry.
    fn beyond_exact(&self, identity: &Identity) -> Option<Assignment> {
        let entry = self.prefixes.find(identity);
        entry.map(|entry| entry.assignment).or(self.by_default())
    }

    /// Every prefix, as the identity that is just that.
    fn prefix_identities(&self) -> impl Iterator<Item = Identity> {
        let texts = |by: &ByLength| -> Vec<Box<str>> {
            let entries = by.0.iter().flat_map(|(_, entries)| entries.keys());
            entries.cloned().collect()
        };
        let uris = texts(&self.prefixes.uri).into_iter().map(Identity::Uri);
        let hosts = texts(&self.prefixes.dns).into_iter().map(Identity::Dns);
        let names = self.prefixes.cn.iter().flat_map(move |(issuer, by)| {
            let issuer = issuer.clone();
            texts(by).into_iter().map(move |cn| Identity::IssuerCn {
                issuer: issuer.clone(),
                cn,
            })
        });
        uris.chain(hosts).chain(names)
    }
}
