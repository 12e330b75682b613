//! Shard maps: where a map puts an identity, held against a search of every entry; and which maps are taken at all.

use plimsoll_gateway::fuzzing::{Map, Who};
use serde_json::{Value, json};

/// A map and whom to look up.
#[derive(Debug)]
pub struct Case {
    exact: Vec<Entry>,
    prefixes: Vec<Entry>,
    default: Option<usize>,
    asked: Vec<Who>,
}

/// An identity, or what it begins with, and its shard.
#[derive(Debug)]
struct Entry {
    who: Who,
    shard: usize,
}

const SHARDS: [&str; 3] = ["eu", "us", "ap"];
/// A shard that no map has.
const UNKNOWN: usize = 3;
/// Not in the order of their shards: an index of one kind for one of the other would not pass.
const UPSTREAMS: [&str; 3] = ["for-ap", "for-eu", "for-us"];
const UPSTREAM_OF: [usize; 3] = [1, 2, 0];
/// Few, so that names meet; and what text of another kind could be taken for.
const LETTERS: [&str; 16] = [
    "a", "b", "/", ":", "a", "b", "/", "A", "é", " ", "\"", "\n", "\\", "*", "{", "\u{1}",
];

impl Case {
    /// The case that these bytes make.
    pub fn of(bytes: &[u8]) -> Self {
        let mut rest = bytes.iter().copied();
        let mut case = Self {
            exact: Vec::new(),
            prefixes: Vec::new(),
            default: None,
            asked: Vec::new(),
        };
        while let Some(first) = rest.next() {
            let shard = usize::from(first >> 3) % 3;
            match first % 8 {
                0 if first > 0xf0 => case.default = Some(UNKNOWN),
                0 => case.default = Some(shard),
                1..=2 => case.exact.push(Entry::of(&mut rest, shard)),
                3..=4 => case.prefixes.push(Entry::of(&mut rest, shard)),
                _ => case.asked.push(who(&mut rest)),
            }
        }
        case
    }

    /// Every identity that is worth asking for: those named, those that entries name, and what is a little longer or shorter.
    fn questions(&self) -> impl Iterator<Item = Who> {
        let entries = self.exact.iter().chain(&self.prefixes);
        let near = entries.flat_map(|entry| {
            let name = name_of(&entry.who);
            let shorter = name
                .char_indices()
                .next_back()
                .map_or("", |(at, _)| &name[..at]);
            [name.to_owned(), format!("{name}a"), shorter.to_owned()]
                .map(|name| with_name(&entry.who, name))
        });
        self.asked.iter().cloned().chain(near)
    }

    fn text(&self) -> String {
        let shards: serde_json::Map<String, Value> = (SHARDS.iter().zip(UPSTREAM_OF))
            .map(|(shard, upstream)| {
                let upstream = json!({ "upstream": UPSTREAMS[upstream] });
                ((*shard).to_owned(), upstream)
            })
            .collect();
        let entries = |entries: &[Entry]| entries.iter().map(Entry::block).collect::<Vec<_>>();
        let mut map = json!({
            "version": 1,
            "map_version": 1,
            "shards": shards,
            "exact": entries(&self.exact),
            "prefix": entries(&self.prefixes),
        });
        if let Some(default) = self.default {
            map["default"] = json!(SHARDS.get(default).unwrap_or(&"nowhere"));
        }
        // JSON is YAML.
        map.to_string()
    }

    /// Whether the map says one thing, of names that identities can have.
    fn is_sound(&self) -> bool {
        let all = || self.exact.iter().chain(&self.prefixes);
        let once = |entries: &[Entry]| {
            let mut rest = entries.iter().enumerate();
            rest.all(|(at, entry)| entries[..at].iter().all(|e| e.as_kept() != entry.as_kept()))
        };
        let whole = |entry: &Entry| match &entry.who {
            Who::Uri(name) => name.ends_with(['/', ':']),
            Who::Dns(_) | Who::IssuerCn(..) => true,
            Who::Sha256(_) => false,
        };
        let named = |name: &str| {
            !name.is_empty() && name.trim() == name && !name.chars().any(char::is_control)
        };
        self.default != Some(UNKNOWN)
            && all().all(|entry| named(name_of(&entry.who)))
            && once(&self.exact)
            && once(&self.prefixes)
            && self.prefixes.iter().all(whole)
    }

    /// Where an identity belongs, by looking at every entry.
    fn search(&self, who: &Who) -> Option<usize> {
        let mut exact = self.exact.iter();
        if let Some(entry) = exact.find(|entry| entry.as_kept() == *who) {
            return Some(entry.shard);
        }
        let covers = |entry: &Entry| {
            let kept = entry.as_kept();
            let same_kind = match (&kept, who) {
                (Who::Uri(_), Who::Uri(_)) | (Who::Dns(_), Who::Dns(_)) => true,
                (Who::IssuerCn(one, _), Who::IssuerCn(other, _)) => one == other,
                _ => false,
            };
            let prefix = name_of(&kept);
            (same_kind && name_of(who).starts_with(prefix)).then_some((prefix.len(), entry.shard))
        };
        let longest = self.prefixes.iter().filter_map(covers).max();
        longest.map(|(_, shard)| shard).or(self.default)
    }
}

impl Entry {
    fn of(rest: &mut impl Iterator<Item = u8>, shard: usize) -> Self {
        Self {
            who: who(rest),
            shard,
        }
    }

    /// As the map keeps it: host names in small letters.
    fn as_kept(&self) -> Who {
        match &self.who {
            Who::Dns(host) => Who::Dns(host.to_ascii_lowercase()),
            other => other.clone(),
        }
    }

    fn block(&self) -> Value {
        let mut block = match &self.who {
            Who::Uri(uri) => json!({ "uri": uri }),
            Who::Dns(host) => json!({ "dns": host }),
            Who::IssuerCn(issuer, cn) => json!({ "issuer": issuer, "cn": cn }),
            Who::Sha256(digest) => json!({ "sha256": digest }),
        };
        block["shard"] = json!(SHARDS[self.shard]);
        block
    }
}

fn who(rest: &mut impl Iterator<Item = u8>) -> Who {
    let mut next = || rest.next().unwrap_or(0);
    let (kind, length) = (next(), next() % 6);
    let name: String = (0..length)
        .map(|_| LETTERS[usize::from(next()) % 16])
        .collect();
    match kind % 8 {
        0..=2 => Who::Uri(name),
        3..=4 => Who::Dns(name),
        5..=6 => Who::IssuerCn(["CN=1", "CN=2"][usize::from(kind >> 7)].to_owned(), name),
        _ => Who::Sha256(format!("{:064x}", kind >> 3)),
    }
}

/// The part of an identity that prefixes are of.
fn name_of(who: &Who) -> &str {
    match who {
        Who::Uri(name) | Who::Dns(name) | Who::IssuerCn(_, name) | Who::Sha256(name) => name,
    }
}

fn with_name(who: &Who, name: String) -> Who {
    match who {
        Who::Uri(_) => Who::Uri(name),
        // A certificate's are in small letters when they come here.
        Who::Dns(_) => Who::Dns(name.to_ascii_lowercase()),
        Who::IssuerCn(issuer, _) => Who::IssuerCn(issuer.clone(), name),
        Who::Sha256(digest) => Who::Sha256(digest.clone()),
    }
}

/// Reads the map and asks it.
///
/// # Panics
/// With a finding.
pub fn check(case: &Case) {
    let map = Map::read(&case.text(), &UPSTREAMS);
    let answers = |who: &Who| map.as_ref().ok()?.upstream_of(who).ok();
    if let Err(finding) = agree(case, map.as_ref().err(), answers) {
        panic!("{finding}\nin {case:#?}\n{}", case.text());
    }
}

/// Checks a map that is refused for this reason, or else answers so; the error says what is wrong.
fn agree(
    case: &Case,
    refused: Option<&String>,
    answers: impl Fn(&Who) -> Option<usize>,
) -> Result<(), String> {
    match (case.is_sound(), refused) {
        (false, Some(_)) => return Ok(()),
        (false, None) => return Err("an unsound map is taken".to_owned()),
        (true, Some(reason)) => return Err(format!("a sound map is refused: {reason}")),
        (true, None) => {}
    }
    for who in case.questions() {
        let expected = case.search(&who).map(|shard| UPSTREAM_OF[shard]);
        let found = answers(&who);
        if found != expected {
            return Err(format!(
                "{who:?} goes to {found:?}, and not to {expected:?}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a map sends whom.
    type Answers<'a> = &'a dyn Fn(&Who) -> Option<usize>;

    /// `u:` is `eu`'s but for `u:7`, which is `us`'s; a host is `ap`'s.
    fn case() -> Case {
        let uri = |name: &str| Who::Uri(name.to_owned());
        Case {
            exact: vec![Entry {
                who: uri("u:7"),
                shard: 1,
            }],
            prefixes: vec![
                Entry {
                    who: uri("u:"),
                    shard: 0,
                },
                Entry {
                    who: Who::Dns("Site".to_owned()),
                    shard: 2,
                },
            ],
            default: None,
            asked: vec![
                uri("u:77"),
                uri("v:"),
                Who::Dns("site.example".to_owned()),
                Who::Sha256("0".repeat(64)),
            ],
        }
    }

    #[test]
    fn the_map_and_the_search_agree() {
        let case = case();
        assert!(case.is_sound());
        let map = Map::read(&case.text(), &UPSTREAMS).unwrap();
        let found: Vec<_> = case
            .asked
            .iter()
            .map(|who| map.upstream_of(who).ok())
            .collect();
        assert_eq!(found, [Some(1), None, Some(0), None]);
        check(&case);
    }

    /// The oracle is worth nothing if it agrees with everything: each of these is what a map with that defect would answer.
    #[test]
    fn another_answer_is_a_finding() {
        let case = case();
        let map = Map::read(&case.text(), &UPSTREAMS).unwrap();
        let right = |who: &Who| map.upstream_of(who).ok();
        assert_eq!(agree(&case, None, right), Ok(()));
        let defects: [(&str, Answers); 5] = [
            ("the unmapped go to the first", &|who| {
                right(who).or(Some(0))
            }),
            ("prefixes before exact ones", &|who| match right(who) {
                Some(2) => Some(1),
                other => other,
            }),
            ("a shard's place for its upstream's", &|who| {
                UPSTREAM_OF.iter().position(|u| Some(*u) == right(who))
            }),
            ("hosts with case", &|who| match who {
                Who::Dns(_) => None,
                other => right(other),
            }),
            ("nobody", &|_| None),
        ];
        for (defect, answers) in defects {
            assert!(
                agree(&case, None, answers).is_err(),
                "{defect} went unnoticed"
            );
        }
        let refused = "no".to_owned();
        assert!(agree(&case, Some(&refused), right).is_err());
    }

    #[test]
    fn an_unsound_map_must_be_refused() {
        let changes: [fn(&mut Case); 5] = [
            |case| case.default = Some(UNKNOWN),
            |case| {
                case.exact.push(Entry {
                    who: Who::Uri("u:7".to_owned()),
                    shard: 0,
                })
            },
            |case| case.prefixes[0].who = Who::Uri("u".to_owned()),
            |case| case.prefixes[1].who = Who::Sha256("0".repeat(64)),
            |case| case.exact[0].who = Who::Uri(" u:7".to_owned()),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut case = case();
            change(&mut case);
            assert!(!case.is_sound(), "{index}");
            assert!(agree(&case, None, |_| None).is_err(), "{index}");
            check(&case);
        }
    }
}
