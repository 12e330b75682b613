//! From what the shard map's file says to what it means; everything that is wrong with it is collected.

use super::wire::{EntryBlock, MovingBlock, PhaseWord, ShardMapFile};
use super::{Assignment, DataShard, Entry, Moving, Prefixes, ShardMap, Step};
use crate::clients::identity::Identity;
use plimsoll_base::digest::Digest;
use plimsoll_base::document::{Document, MOST_PROBLEMS, Path, Problem, Problems};
use std::collections::HashMap;

/// Reads a map whose shards are kept by the upstreams of these names.
///
/// # Errors
/// Every problem of the text.
pub(crate) fn read(file: &str, text: &str, upstreams: &[&str]) -> Result<ShardMap, Problems> {
    let document = Document::parse_yaml(file, text)?;
    let wire: ShardMapFile = document.decode()?;
    let mut checker = Checker {
        document: &document,
        problems: Vec::new(),
        further: 0,
        shards: Vec::new(),
    };
    let map = checker.map(&wire, upstreams, Digest::of(text.as_bytes()));
    checker.into_problems().or_ok(map)
}

struct Checker<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
    /// How many there are beyond [`MOST_PROBLEMS`]: each is looked for from the top of the document.
    further: usize,
    shards: Vec<DataShard>,
}

impl Checker<'_> {
    fn into_problems(self) -> Problems {
        let mut problems = Problems::from_iter(self.problems);
        problems.count_further(self.further);
        problems
    }

    fn refuse(&mut self, path: impl Into<Path>, message: impl Into<String>) {
        if self.problems.len() == MOST_PROBLEMS {
            self.further += 1;
            return;
        }
        self.problems.push(self.document.problem(path, message));
    }

    fn map(&mut self, wire: &ShardMapFile, upstreams: &[&str], fingerprint: Digest) -> ShardMap {
        if wire.version != 1 {
            let message = format!(
                "version {} is not available in this version: write 1",
                wire.version
            );
            self.refuse("version", message);
        }
        self.read_shards(wire, upstreams);
        let default = wire.default.as_ref();
        let mut map = ShardMap {
            version: wire.map_version,
            fingerprint,
            shards: Vec::new(),
            exact: HashMap::with_capacity(wire.exact.len()),
            prefixes: Prefixes::default(),
            default: default.and_then(|name| self.shard(&Path::root().key("default"), name)),
        };
        for (index, block) in wire.exact.iter().enumerate() {
            let at = Path::root().key("exact").index(index);
            if let Some((identity, entry)) = self.entry(&at, block)
                && let Some(first) = map.exact.insert(identity, entry)
            {
                let message = format!("line {} has this identity already", first.line);
                self.refuse(at, message);
            }
        }
        for (index, block) in wire.prefix.iter().enumerate() {
            let at = Path::root().key("prefix").index(index);
            if let Some((identity, entry)) = self.entry(&at, block) {
                self.add_prefix(&mut map, &at, &identity, entry);
            }
        }
        map.shards = std::mem::take(&mut self.shards);
        map
    }

    fn read_shards(&mut self, wire: &ShardMapFile, upstreams: &[&str]) {
        if wire.shards.0.is_empty() {
            self.refuse("shards", "at least one shard is needed");
        }
        for (name, block) in wire.shards.iter() {
            let upstream = upstreams.iter().position(|known| *known == block.upstream);
            if upstream.is_none() {
                let message = format!(
                    "there is no upstream `{}`: the upstreams are {}",
                    block.upstream,
                    upstreams.join(", ")
                );
                let at = Path::root().key("shards").key(name).key("upstream");
                self.refuse(at, message);
            }
            if !is_field_value(name) {
                let at = Path::root().key("shards").key(name);
                self.refuse(
                    at,
                    "a shard's name is sent in header fields: write letters, digits, `-`, `_` or `.`",
                );
            }
            self.shards.push(DataShard {
                name: name.to_owned(),
                upstream: upstream.unwrap_or(0),
                upstream_name: block.upstream.clone(),
            });
        }
    }

    fn shard(&mut self, at: &Path, name: &str) -> Option<usize> {
        let found = self.shards.iter().position(|shard| shard.name == name);
        if found.is_none() {
            let names: Vec<&str> = self.shards.iter().map(|s| s.name.as_str()).collect();
            let message = format!(
                "there is no shard `{name}`: the shards are {}",
                names.join(", ")
            );
            self.refuse(at, message);
        }
        found
    }

    fn entry(&mut self, at: &Path, block: &EntryBlock) -> Option<(Identity, Entry)> {
        let shard = self.shard(&at.key("shard"), &block.shard);
        let moving = block.moving.as_ref();
        let moving = moving.map(|moving| self.moving(&at.key("moving"), block, moving));
        let identity = match identity(block) {
            Ok(identity) => Some(identity),
            Err(message) => {
                self.refuse(at, message);
                None
            }
        };
        let place = self.document.problem(at.clone(), "");
        let entry = Entry {
            assignment: Assignment {
                shard: shard?,
                moving: match moving {
                    None => None,
                    Some(moving) => Some(moving?),
                },
            },
            line: place.line,
            column: place.column,
        };
        Some((identity?, entry))
    }

    fn moving(&mut self, at: &Path, entry: &EntryBlock, block: &MovingBlock) -> Option<Moving> {
        if block.to == entry.shard {
            let message = format!("it is in `{}` already: name another shard", block.to);
            self.refuse(at.key("to"), message);
        }
        Some(Moving {
            to: self.shard(&at.key("to"), &block.to)?,
            step: match block.phase {
                PhaseWord::Mirroring => Step::Mirroring,
                PhaseWord::Frozen => Step::Frozen,
            },
        })
    }

    fn add_prefix(&mut self, map: &mut ShardMap, at: &Path, identity: &Identity, entry: Entry) {
        let text = match identity {
            Identity::Uri(uri) => uri,
            Identity::Dns(host) => host,
            Identity::IssuerCn { cn, .. } => cn,
            Identity::Sha256(_) => {
                return self.refuse(at, "a fingerprint has no prefix: list it under `exact`");
            }
        };
        if matches!(identity, Identity::Uri(_)) && !text.ends_with(['/', ':']) {
            let message =
                format!("`{text}` would cover `{text}x` too: end a prefix with `/` or `:`");
            return self.refuse(at.key("uri"), message);
        }
        let first = map
            .prefixes
            .of(identity)
            .and_then(|prefixes| prefixes.insert(text, entry));
        if let Some(first) = first {
            let message = format!("line {} has this prefix already", first.line);
            self.refuse(at, message);
        }
    }
}

/// The identity that an entry names, in exactly one way.
fn identity(block: &EntryBlock) -> Result<Identity, String> {
    let EntryBlock {
        uri,
        dns,
        cn,
        issuer,
        sha256,
        ..
    } = block;
    match (uri, dns, cn, issuer, sha256) {
        (Some(uri), None, None, None, None) => {
            named(uri).map(|uri| Identity::Uri(uri.into()))
        }
        (None, Some(host), None, None, None) => {
            named(host).map(|host| Identity::Dns(host.to_ascii_lowercase().into()))
        }
        (None, None, Some(cn), Some(issuer), None) => Ok(Identity::IssuerCn {
            issuer: named(issuer)?.into(),
            cn: named(cn)?.into(),
        }),
        (None, None, Some(_), None, None) => {
            Err("a common name says nothing without its `issuer`: write `openssl x509 -noout -issuer -nameopt RFC2253` of the certificate".to_owned())
        }
        (None, None, None, None, Some(hex)) => Digest::from_hex(hex)
            .map(Identity::Sha256)
            .ok_or_else(|| "`sha256` is 64 hexadecimal digits".to_owned()),
        _ => Err("name an identity in one way: `uri`, `dns`, `issuer` and `cn`, or `sha256`".to_owned()),
    }
}

fn named(text: &str) -> Result<&str, String> {
    match text.is_empty() || text.trim() != text || text.chars().any(char::is_control) {
        true => Err("a name is not empty and has no space at its ends".to_owned()),
        false => Ok(text),
    }
}

fn is_field_value(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}
