//! The map's laws: it finds what a naive search finds, and only maps follow each other that keep data where it is being changed.

use super::*;
use plimsoll_base::document::Problems;

const UPSTREAMS: [&str; 3] = ["a", "b", "c"];

fn parse(version: u64, rest: &str) -> Result<ShardMap, Problems> {
    let text = format!(
        "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: a }}, us: {{ upstream: b }}, ap: {{ upstream: c }} }}\n{rest}"
    );
    read("shards.yaml", &text, &UPSTREAMS)
}

fn map(version: u64, rest: &str) -> ShardMap {
    parse(version, rest).unwrap_or_else(|problems| panic!("{problems}"))
}

fn uri(text: &str) -> Identity {
    Identity::Uri(text.into())
}

#[test]
fn a_map_may_be_large_and_what_is_wrong_with_it_is_said_once() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..count).map(line).collect();
        parse(1, &format!("exact:\n{lines}"))
    };
    let customer =
        |n| format!("  - {{ uri: 'spiffe://example.org/customers/{n:06}', shard: eu }}\n");
    assert!(lines(100_000, &customer).is_ok());
    let problems = lines(1_000, &|_| "  - { shard: eu }\n".to_owned()).unwrap_err();
    assert_eq!((problems.iter().count(), problems.len()), (100, 1_000));
}

#[test]
fn exact_wins_over_prefixes_and_longer_ones_over_shorter() {
    let rest = "exact:\n  - { uri: urn:x:eu/7, shard: us }\n  - { dns: Site.Example, shard: ap }\n  - { issuer: CN=one, cn: ann, shard: eu }\nprefix:\n  - { uri: 'urn:x:', shard: ap }\n  - { uri: 'urn:x:eu/', shard: eu }\n  - { issuer: CN=one, cn: b, shard: us }\n";
    let without = map(1, rest);
    let with = map(1, &format!("{rest}default: ap\n"));
    let cn = |issuer: &str, cn: &str| Identity::IssuerCn {
        issuer: issuer.into(),
        cn: cn.into(),
    };
    for (identity, expected) in [
        (uri("urn:x:eu/7"), Some("us")),
        (uri("urn:x:eu/77"), Some("eu")),
        (uri("urn:x:eu/"), Some("eu")),
        (uri("urn:x:eu"), Some("ap")),
        (uri("urn:x"), None),
        (uri("URN:X:eu/7"), None),
        (Identity::Dns("site.example".into()), Some("ap")),
        (Identity::Dns("site.example.org".into()), None),
        (cn("CN=one", "ann"), Some("eu")),
        (cn("CN=two", "ann"), None),
        (cn("CN=one", "bob"), Some("us")),
        (cn("CN=two", "bob"), None),
        (Identity::Sha256(Digest::of(b"x")), None),
    ] {
        let name = |map: &ShardMap| {
            map.find(&identity)
                .map(|a| map.shards[a.shard].name.clone())
        };
        assert_eq!(name(&without).as_deref(), expected, "{identity}");
        assert_eq!(
            name(&with).as_deref(),
            expected.or(Some("ap")),
            "{identity}"
        );
    }
}

/// Numbers that look random and are the same every time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A short name of few letters, so that names and prefixes meet often.
    fn name(&mut self) -> String {
        let length = self.below(5);
        let mut name = String::from("u");
        for _ in 0..length {
            name.push(['a', 'b', '/', ':', 'é'][usize::try_from(self.below(5)).unwrap()]);
        }
        name
    }

    fn identity(&mut self) -> Identity {
        match self.below(4) {
            0 => Identity::Uri(self.name().into()),
            1 => Identity::Dns(self.name().into()),
            2 => Identity::IssuerCn {
                issuer: ["CN=1", "CN=2"][usize::try_from(self.below(2)).unwrap()].into(),
                cn: self.name().into(),
            },
            _ => Identity::Sha256(Digest::of(self.name().as_bytes())),
        }
    }

    /// A shard, and perhaps another one that it moves to.
    fn assignment(&mut self) -> Assignment {
        let mut number = |bound| usize::try_from(self.below(bound)).unwrap();
        let (shard, by, kind) = (number(3), 1 + number(2), number(4));
        let step = match kind {
            0 => Step::Mirroring,
            1 | 2 => Step::Frozen,
            _ => {
                return Assignment {
                    shard,
                    moving: None,
                };
            }
        };
        let to = (shard + by) % 3;
        Assignment {
            shard,
            moving: Some(Moving { to, step }),
        }
    }

    /// Fewer than so many entries, each for somebody else.
    fn entries(&mut self, most: u64) -> Vec<(Identity, Assignment)> {
        let mut entries: Vec<(Identity, Assignment)> = Vec::new();
        for _ in 0..self.below(most) {
            let (identity, assignment) = (self.identity(), self.assignment());
            if entries.iter().all(|(known, _)| *known != identity) {
                entries.push((identity, assignment));
            }
        }
        entries
    }
}

/// Answer of the map, by looking at every entry.
fn naive(
    exact: &[(Identity, Assignment)],
    prefixes: &[(Identity, Assignment)],
    default: Option<Assignment>,
    identity: &Identity,
) -> Option<Assignment> {
    let same = exact.iter().find(|(known, _)| known == identity);
    if let Some((_, found)) = same {
        return Some(*found);
    }
    let covers = |prefix: &Identity| match (prefix, identity) {
        (Identity::Uri(p), Identity::Uri(n)) | (Identity::Dns(p), Identity::Dns(n)) => {
            n.starts_with(&**p).then_some(p.len())
        }
        (Identity::IssuerCn { issuer: a, cn: p }, Identity::IssuerCn { issuer: b, cn: n }) => {
            (a == b && n.starts_with(&**p)).then_some(p.len())
        }
        _ => None,
    };
    let covering = prefixes.iter();
    let covering = covering.filter_map(|(prefix, found)| Some((covers(prefix)?, *found)));
    let longest = covering.max_by_key(|(length, _)| *length);
    longest.map(|(_, found)| found).or(default)
}

#[test]
fn no_identity_is_elsewhere_than_the_map_says() {
    identities_are_where_the_map_says(100);
}

#[test]
#[ignore = "a million identities: half a minute without optimisation"]
fn none_of_a_million_identities_is_elsewhere_at_length() {
    identities_are_where_the_map_says(1_000);
}

/// A thousand random identities in each of so many random maps: each is where a search of every entry finds it, or nowhere.
fn identities_are_where_the_map_says(maps: u64) {
    const IDENTITIES: u64 = 1_000;
    let mut numbers = Numbers(7);
    let (mut placed, mut unplaced) = (0_u64, 0_u64);
    for _ in 0..maps {
        let random = Random::new(&mut numbers, 8);
        for _ in 0..IDENTITIES {
            let identity = numbers.identity();
            let found = random.map.find(&identity);
            assert_eq!(found, random.naive(&identity), "{identity}");
            match found {
                Some(_) => placed += 1,
                None => unplaced += 1,
            }
        }
    }
    // Neither answer is the rule.
    assert!(
        placed > maps * 100 && unplaced > maps * 100,
        "{placed} {unplaced}"
    );
}

/// A random map, and what it was made of.
struct Random {
    map: ShardMap,
    exact: Vec<(Identity, Assignment)>,
    prefixes: Vec<(Identity, Assignment)>,
    default: Option<usize>,
}

impl Random {
    /// One of fewer than so many entries of each kind.
    fn new(numbers: &mut Numbers, most: u64) -> Self {
        let (exact, mut prefixes) = (numbers.entries(most), numbers.entries(most));
        prefixes.retain(|(prefix, _)| !matches!(prefix, Identity::Sha256(_)));
        let default = usize::try_from(numbers.below(4)).ok().filter(|n| *n < 3);
        let entry = |assignment: &Assignment| Entry {
            assignment: *assignment,
            line: 0,
            column: 0,
        };
        let mut map = map(1, "");
        map.default = default;
        for (identity, assignment) in &exact {
            map.exact.insert(identity.clone(), entry(assignment));
        }
        for (identity, assignment) in &prefixes {
            let (Identity::Uri(text) | Identity::Dns(text) | Identity::IssuerCn { cn: text, .. }) =
                identity
            else {
                continue;
            };
            let of = map.prefixes.of(identity).unwrap();
            assert!(of.insert(text, entry(assignment)).is_none());
        }
        Self {
            map,
            exact,
            prefixes,
            default,
        }
    }

    /// Where it has an identity, by a search of every entry.
    fn naive(&self, identity: &Identity) -> Option<Assignment> {
        let default = self.default.map(|shard| Assignment {
            shard,
            moving: None,
        });
        naive(&self.exact, &self.prefixes, default, identity)
    }

    /// Somebody for each of its entries: who is named, and who is named by a prefix and no longer one.
    fn concerned(&self) -> Vec<Identity> {
        let mut concerned: Vec<Identity> = self.exact.iter().map(|(i, _)| i.clone()).collect();
        concerned.extend(self.prefixes.iter().map(|(prefix, _)| {
            let behind = |text: &str| format!("{text}!").into();
            match prefix {
                Identity::Uri(text) => Identity::Uri(behind(text)),
                Identity::Dns(text) => Identity::Dns(behind(text)),
                Identity::IssuerCn { issuer, cn } => Identity::IssuerCn {
                    issuer: issuer.clone(),
                    cn: behind(cn),
                },
                Identity::Sha256(_) => unreachable!("no prefix is one"),
            }
        }));
        concerned
    }
}

#[test]
fn a_map_moves_somebody_if_and_only_if_a_search_finds_one() {
    let mut numbers = Numbers(11);
    let mut seen = [0; 3];
    for round in 0..3_000 {
        let most = 2 + round % 3;
        let (before, next) = (
            Random::new(&mut numbers, most),
            Random::new(&mut numbers, most),
        );
        let mut people = vec![uri("!"), Identity::Sha256(Digest::of(b"!"))];
        people.extend(before.concerned());
        people.extend(next.concerned());
        let moves = |identity: &Identity| {
            let (from, to) = (before.naive(identity)?, next.naive(identity)?);
            (from.shard != to.shard).then_some((from, to))
        };
        let moves: Vec<_> = people.iter().filter_map(moves).collect();
        let unsafe_ones = moves.iter().filter(|(from, to)| {
            from.moving
                .is_none_or(|moving| (moving.step, moving.to) != (Step::Frozen, to.shard))
        });
        let (any, any_unsafe) = (!moves.is_empty(), unsafe_ones.count() > 0);
        let told = format!("{people:?}\n{:?}\n{:?}", before.map, next.map);
        assert_eq!(moves::moves_any(&before.map, &next.map), any, "{told}");
        let mut next = next.map;
        next.version = 2;
        let problems = moves::problems(&before.map, &next, "shards.yaml");
        assert_eq!(!problems.is_empty(), any_unsafe, "{told}");
        seen[usize::from(any) + usize::from(any_unsafe)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn whoever_has_another_shard_is_seen_however_the_maps_say_it() {
    let check = |before: &str, next: &str, expected: bool| {
        let moves = moves::moves_any(&map(1, before), &map(2, next));
        assert_eq!(moves, expected, "{before} -> {next}");
    };
    let frozen = "{ uri: 'urn:', shard: eu, moving: { to: us, phase: frozen } }";
    let one = |entry: &str| format!("prefix: [{entry}]\n");
    let ends = "{ uri: 'urn:', shard: us }";
    check(&one(frozen), &one(ends), true);
    check(&one(frozen), &one("{ uri: 'urn:', shard: eu }"), false);
    check(&one(frozen), &one(frozen), false);
    // One of them alone, by name or by a longer prefix.
    for more in [
        "exact: [{ uri: 'urn:7', shard: us }]\n",
        "exact: [{ uri: 'urn:', shard: us }]\n",
    ] {
        check(&one(frozen), &format!("{}{more}", one(frozen)), true);
    }
    let longer = format!("{frozen}, {{ uri: 'urn:7/', shard: us }}");
    check(&one(frozen), &one(&longer), true);
    check(&one(&longer), &one(frozen), true);
    // Somebody has the very text of the prefix for a name, and stays.
    let namesake = "exact: [{ uri: 'urn:', shard: ap }]\n";
    let with = |entry: &str| format!("{namesake}{}", one(entry));
    check(&with(frozen), &with(ends), true);
    // By no entry of either.
    check("default: eu\n", "default: us\n", true);
    check(
        "default: eu\n",
        &format!("default: eu\n{}", one(ends)),
        true,
    );
    check(&one(ends), "default: eu\n", true);
    // Who has no shard in one of them does not move.
    check(&one(frozen), "", false);
    check("", &one(frozen), false);
    check("default: eu\n", "", false);
}

#[test]
fn an_identity_changes_its_shard_only_out_of_a_freeze() {
    let told = |before: &str, next: &str| {
        let problems = moves::problems(&map(1, before), &map(2, next), "shards.yaml");
        Problems::from_iter(problems).to_string()
    };
    let one = |shard: &str, moving: &str| {
        format!("exact: [{{ uri: 'urn:1', shard: {shard}{moving} }}]\n")
    };
    let frozen = ", moving: { to: us, phase: frozen }";
    for (before, next) in [
        (one("eu", ""), one("eu", frozen)),
        (one("eu", frozen), one("us", "")),
        (one("eu", frozen), one("eu", "")),
        (one("eu", ""), String::new()),
        (String::new(), one("eu", "")),
        (one("eu", frozen), "prefix: [{ uri: 'urn:', shard: us }]\n".to_owned()),
        (
            "prefix: [{ uri: 'urn:', shard: eu }]\n".to_owned(),
            "prefix: [{ uri: 'urn:', shard: eu }, { uri: 'urn:1/', shard: eu, moving: { to: us, phase: frozen } }]\n".to_owned(),
        ),
    ] {
        assert_eq!(told(&before, &next), "", "{before} -> {next}");
    }
    let unsafe_ones = [
        (one("eu", ""), one("us", "")),
        (one("eu", frozen), one("ap", "")),
        (
            "prefix: [{ uri: 'urn:', shard: eu }]\n".to_owned(),
            one("us", ""),
        ),
        (one("us", ""), "default: eu\n".to_owned()),
        (
            "prefix: [{ uri: 'urn:', shard: eu }]\n".to_owned(),
            "prefix: [{ uri: 'urn:', shard: eu }, { uri: 'urn:1/', shard: us }]\n".to_owned(),
        ),
        ("default: eu\n".to_owned(), "default: us\n".to_owned()),
    ];
    let told = unsafe_ones
        .map(|(before, next)| told(&before, &next))
        .join("\n");
    insta::assert_snapshot!(told, @r"
    shards.yaml:4:9: URI urn:1 would move from `eu` to `us` while its data may change: write `shard: eu, moving: { to: us, phase: frozen }` first, and load that
    shards.yaml:4:9: URI urn:1 would move from `eu` to `ap` while its data may change: write `shard: eu, moving: { to: ap, phase: frozen }` first, and load that
    shards.yaml:4:9: URI urn:1 would move from `eu` to `us` while its data may change: write `shard: eu, moving: { to: us, phase: frozen }` first, and load that
    shards.yaml: URI urn:1 would move from `us` to `eu` while its data may change: write `shard: us, moving: { to: eu, phase: frozen }` first, and load that
    shards.yaml:4:38: URI urn:1/ would move from `eu` to `us` while its data may change: write `shard: eu, moving: { to: us, phase: frozen }` first, and load that
    shards.yaml: the default cannot change while anybody may be served by it: name those who move, with their moves, and leave it out first
    ");
}

#[test]
fn versions_count_up() {
    let told = |before: &ShardMap, next: &ShardMap| {
        Problems::from_iter(moves::problems(before, next, "shards.yaml")).to_string()
    };
    let (old, new) = (map(6, ""), map(7, ""));
    let other = map(7, "default: eu\n");
    assert_eq!(told(&old, &new), "");
    assert_eq!(told(&new, &map(7, "")), "");
    insta::assert_snapshot!(told(&new, &old), @"shards.yaml: map version 7 is served already: this one is older");
    insta::assert_snapshot!(told(&new, &other), @"shards.yaml: another map of version 7 is served already: write `map_version: 8`");
}

#[test]
fn a_shard_keeps_its_upstream() {
    let with = |version: u64, upstream: &str, upstreams: &[&str]| {
        let text = format!(
            "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: {upstream} }} }}\ndefault: eu\n"
        );
        read("shards.yaml", &text, upstreams).unwrap()
    };
    let before = with(1, "a", &["a", "b"]);
    let told = |next: &ShardMap| {
        Problems::from_iter(moves::problems(&before, next, "shards.yaml")).to_string()
    };
    assert_eq!(told(&with(2, "a", &["first", "a"])), "");
    insta::assert_snapshot!(told(&with(2, "b", &["a", "b"])), @"shards.yaml: shard `eu` would change its upstream from `a` to `b` while its data may change: name another shard for `b`, and move those who are in it");
}
