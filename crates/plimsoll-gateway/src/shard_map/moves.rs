//! Which map may follow which: versions count up, and no identity changes its shard without having been frozen. Pure.
//!
//! ```text
//! stable(A) -> [mirroring(A, B)] -> frozen(A, B) -> stable(B)     (every step but the last may be taken back)
//! ```
//!
//! While an identity is mirrored both shards get its requests, which says whether the new one can bear them, and makes no move safe by
//! itself. While it is frozen nothing changes its data, so that whoever moves it can finish copying; requests that wanted to wait for the
//! map that ends the move. Two maps are compared at every entry and every prefix of either: between those an identity's assignment is the
//! same as that of the longest prefix before it.

use super::{Assignment, ByLength, DataShard, Entry, ShardMap, Step};
use crate::identity::Identity;
use plimsoll_base::document::Problem;

/// What speaks against `next` after `before`; `file` is what it was read from.
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
    for identity in before.exact.keys().chain(next.exact.keys()) {
        let from = before.find(identity);
        let to = next.entry(identity);
        judge(before, next, (from, to), identity, file, &mut problems);
    }
    for identity in before.prefix_identities().chain(next.prefix_identities()) {
        let from = before.beyond_exact(&identity);
        let to = next.prefixes.find(&identity).map(|e| e.assignment);
        let to = (to.or(next.by_default()), next.prefixes.find(&identity));
        judge(before, next, (from, to), &identity, file, &mut problems);
    }
    if let (Some(from), Some(to)) = (before.by_default(), next.by_default())
        && before.shards[from.shard].name != next.shards[to.shard].name
    {
        let message = "the default cannot change while anybody may be served by it: name those who move, with their moves, and leave it out first";
        problems.push(Problem::of_file(file, message));
    }
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

/// Whether `next` ends a move: somebody who was frozen gets another shard.
pub(crate) fn ends_any(before: &ShardMap, next: &ShardMap) -> bool {
    let moved = |identity: &Identity| match (before.find(identity), next.find(identity)) {
        (Some(from), Some(to)) => before.shards[from.shard].name != next.shards[to.shard].name,
        _ => false,
    };
    let frozen = |(_, entry): &(&Identity, &Entry)| entry.assignment.moving.is_some();
    before
        .exact
        .iter()
        .filter(frozen)
        .any(|(identity, _)| moved(identity))
        || before.prefix_identities().any(|identity| moved(&identity))
}

type Destination<'a> = (Option<Assignment>, Option<&'a Entry>);

fn judge(
    before: &ShardMap,
    next: &ShardMap,
    (from, (to, entry)): (Option<Assignment>, Destination<'_>),
    identity: &Identity,
    file: &str,
    problems: &mut Vec<Problem>,
) {
    let (Some(from), Some(to)) = (from, to) else {
        return; // who had no shard had no data, and who has none is refused
    };
    let old = &before.shards[from.shard].name;
    let new = &next.shards[to.shard].name;
    let frozen = from.moving.filter(|moving| moving.step == Step::Frozen);
    let frozen_for = frozen.map(|moving| &before.shards[moving.to].name);
    if old == new || frozen_for == Some(new) {
        return;
    }
    let mut problem = Problem::of_file(
        file,
        format!(
            "{identity} would move from `{old}` to `{new}` while its data may change: write `shard: {old}, moving: {{ to: {new}, phase: frozen }}` first, and load that"
        ),
    );
    if let Some(entry) = entry {
        (problem.line, problem.column) = (entry.line, entry.column);
    }
    problems.push(problem);
}

impl ShardMap {
    fn by_default(&self) -> Option<Assignment> {
        self.default.map(|shard| Assignment {
            shard,
            moving: None,
        })
    }

    /// Where an identity is, and the entry that says so.
    fn entry(&self, identity: &Identity) -> Destination<'_> {
        let exact = self.exact.get(identity);
        let entry = exact.or_else(|| self.prefixes.find(identity));
        (self.find(identity), entry)
    }

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
