//! `sensitivity` of the file: which links are delayed, by how much, how often.

use plimsoll_base::document::{DurationText, Path as Pointer};
use std::collections::BTreeSet;
use std::time::Duration;

use super::default_warmup;
use crate::loader::Loader;
use crate::topology::link::{self, Link};
use crate::wire::{ArrivalWire, LinksWire, LoadWire, SensitivityWire};

/// Blocks unless the file says how many: their intervals are about as wide as twice the spread of slopes between blocks.
const BLOCKS: u32 = 6;
/// Fewer blocks have no interval.
const FEWEST_BLOCKS: u32 = 2;
/// More blocks than any run has time for.
const MOST_BLOCKS: u32 = 100;
/// Fewer delays cannot tell a line from a bend.
const FEWEST_DELAYS: usize = 4;
/// More delays than any run has time for.
const MOST_DELAYS: usize = 20;

/// Links that are delayed one by one, to see what callers notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sensitivity {
    /// Links that are delayed; at least one.
    pub links: Vec<Link>,
    /// All links of the file.
    pub known: Vec<Link>,
    /// At least four, ascending from 0.
    pub delays: Vec<Duration>,
    /// Rounds that hold every delay of every link once.
    pub blocks: u32,
    /// The measured time of each delay.
    pub hold: Duration,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &SensitivityWire,
    at: &Pointer,
) -> Sensitivity {
    let known = link::all(loader.uses());
    let links = chosen(loader, &wire.links, &known, &at.key("links"));
    let delays = delays(loader, &wire.delays, &at.key("delays"));
    let blocks = wire.blocks.unwrap_or(BLOCKS);
    if !(FEWEST_BLOCKS..=MOST_BLOCKS).contains(&blocks) {
        let message = format!(
            "`{blocks}` blocks give no interval, or no end: write {FEWEST_BLOCKS} to {MOST_BLOCKS}; {BLOCKS} is a good start"
        );
        loader.refuse(at.key("blocks"), message);
    }
    if wire.hold.is_zero() {
        loader.refuse(
            at.key("hold"),
            "must be longer than 0: write for instance `hold: 3s`",
        );
    }
    Sensitivity {
        links,
        known,
        delays,
        blocks,
        hold: *wire.hold,
    }
}

fn chosen(loader: &mut Loader<'_>, wire: &LinksWire, known: &[Link], at: &Pointer) -> Vec<Link> {
    let named = match wire {
        LinksWire::All => {
            if known.is_empty() {
                let message = "there is no link: no component refers to another, as `${upstream.url}` does in a command or a configuration";
                loader.refuse(at, message);
            }
            return known.to_vec();
        }
        LinksWire::Named(named) => named,
    };
    if named.is_empty() {
        loader.refuse(
            at,
            "names no link: write `all`, or for instance `[api -> upstream]`",
        );
    }
    let mut chosen = Vec::new();
    for (index, text) in named.iter().enumerate() {
        match link::find(text, known) {
            Ok(link) if chosen.contains(link) => {
                loader.refuse(at.index(index), "is named twice: keep one");
            }
            Ok(link) => chosen.push(link.clone()),
            Err(message) => loader.refuse(at.index(index), message),
        }
    }
    chosen
}

fn delays(loader: &mut Loader<'_>, wire: &[DurationText], at: &Pointer) -> Vec<Duration> {
    let mut delays: Vec<Duration> = wire.iter().map(|delay| **delay).collect();
    for (index, pair) in delays.windows(2).enumerate() {
        if pair[1] <= pair[0] {
            let message = "is not longer than the one before: delays ascend; put them in order";
            loader.refuse(at.index(index + 1), message);
        }
    }
    if delays.first().is_some_and(|first| !first.is_zero()) {
        // Without any is what all others are held against.
        delays.insert(0, Duration::ZERO);
    }
    if !(FEWEST_DELAYS..=MOST_DELAYS).contains(&delays.len()) {
        let message = format!(
            "{} delays (0 included) cannot tell a line from a bend, or take too long: write {FEWEST_DELAYS} to {MOST_DELAYS}, such as `[0ms, 4ms, 8ms, 14ms, 20ms]`",
            delays.len()
        );
        loader.refuse(at, message);
    }
    delays
}

/// The times of each load, and what it is like unless the file says otherwise: a delay moves what exchanges under way do beside each other, and
/// between arrivals of even distances it would be the same moments that meet at each delay, a bias that no interval shows.
pub(super) fn load(wire: &SensitivityWire) -> LoadWire {
    LoadWire {
        duration: Some(DurationText(*wire.hold)),
        warmup: Some(DurationText(default_warmup(*wire.hold))),
        profile: Some(ArrivalWire::Slots),
        ..LoadWire::default()
    }
}

impl Sensitivity {
    /// The links of an arm with this target that are delayed: those of whatever the target reaches, by way of others, delayed or not.
    #[must_use]
    pub fn reached<'a>(&'a self, target: &'a str) -> Vec<&'a Link> {
        let components = self.components(target);
        let below = |link: &&Link| components.contains(link.from.as_str());
        let mut found: Vec<&Link> = self.links.iter().filter(below).collect();
        found.sort();
        found
    }

    /// A target, and the components that it reaches, by way of others.
    #[must_use]
    pub fn components<'a>(&'a self, target: &'a str) -> BTreeSet<&'a str> {
        let (mut callers, mut found) = (vec![target], BTreeSet::new());
        while let Some(caller) = callers.pop() {
            if found.insert(caller) {
                let links = self.known.iter().filter(|link| link.from == caller);
                callers.extend(links.map(|link| link.to.as_str()));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;
    use crate::memory::Memory;
    use crate::method::Method;
    use plimsoll_load::plan::{Load, Spacing};

    fn experiment(method: &str, load: &str) -> Result<Experiment, String> {
        let text = format!(
            "version: 1
name: x
components:
  log: {{ mock: {{}} }}
  secrets: {{ mock: {{}} }}
  api: {{ command: [api, '${{self.port}}', '${{log.url}}', '${{secrets.host}}', '${{secrets.port}}'] }}
scenario: [{{ get: /a }}]
load: {load}
arms: {{ main: {{ target: api }} }}
method: {{ sensitivity: {method} }}
"
        );
        let loaded = Memory::new(&text, &[]).load(&[]);
        loaded.map_err(|problems| problems.to_string())
    }

    fn load(method: &str, load: &str) -> Result<Sensitivity, String> {
        match experiment(method, load)?.method {
            Method::Sensitivity(sensitivity) => Ok(sensitivity),
            other => panic!("{other:?}"),
        }
    }

    const DELAYS: &str = "delays: [0ms, 4ms, 8ms, 20ms], hold: 3s";

    #[test]
    fn arrivals_keep_no_step_unless_they_are_to() {
        let check = |load: &str, expected: Spacing| {
            let method = format!("{{ links: all, {DELAYS} }}");
            let experiment = experiment(&method, load).unwrap();
            let Load::Open { profile, .. } = &experiment.arms[0].settings.load else {
                panic!("the model is open");
            };
            let spacings: Vec<Spacing> = profile.iter().map(|part| part.spacing).collect();
            assert_eq!(spacings, [expected], "{load}");
        };
        check("{ rate: 10/s }", Spacing::Slots);
        check("{ rate: 10/s, profile: constant }", Spacing::Even);
    }

    #[test]
    fn links_are_references() {
        let all = load(&format!("{{ links: all, {DELAYS} }}"), "{ rate: 10/s }").unwrap();
        let texts: Vec<String> = all.links.iter().map(Link::text).collect();
        assert_eq!(texts, ["api -> log", "api -> secrets"]);
        assert_eq!(all.blocks, 6);
        let one = format!("{{ links: [api->log], {DELAYS}, blocks: 3 }}");
        let one = load(&one, "{ rate: 10/s }").unwrap();
        assert_eq!((one.links.len(), one.blocks), (1, 3));
        let implied = load(
            "{ links: all, delays: [5ms, 10ms, 15ms], hold: 1s }",
            "{ rate: 10/s }",
        );
        assert_eq!(implied.unwrap().delays[0], Duration::ZERO);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_to_write() {
        let check = |method: &str, under: &str, expected: &str| {
            let refused = load(method, under).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        };
        let rate = "{ rate: 10/s }";
        check(
            &format!("{{ links: [api -> lgo], {DELAYS} }}"),
            rate,
            "there is no link `api -> lgo`",
        );
        check(
            &format!("{{ links: [log -> api], {DELAYS} }}"),
            rate,
            "where the first refers",
        );
        check(&format!("{{ links: [], {DELAYS} }}"), rate, "names no link");
        check(
            &format!("{{ links: some, {DELAYS} }}"),
            rate,
            "write `all`, or a list",
        );
        check(
            "{ links: all, delays: [0ms, 8ms, 4ms, 9ms], hold: 3s }",
            rate,
            "delays ascend",
        );
        check(
            "{ links: all, delays: [0ms, 8ms], hold: 3s }",
            rate,
            "a line from a bend",
        );
        check(
            &format!("{{ links: all, {DELAYS} }}"),
            "{ rate: 10/s, timeout: 60ms }",
            "more than a quarter of the timeout",
        );
        check(
            &format!("{{ links: all, {DELAYS} }}"),
            "{ users: 5 }",
            "in place of `users`",
        );
        check(
            &format!("{{ links: all, {DELAYS} }}"),
            "{ ramp: { from: 1/s, to: 5/s } }",
            "its rate changes with time",
        );
        check(
            &format!("{{ links: all, {DELAYS} }}"),
            "{ rate: 1000/s, connections: 29 }",
            "takes 30 connections at 1000/s, and there are at most 29: write `load: { connections: 30 }`",
        );
        check(
            &format!("{{ links: all, {DELAYS} }}"),
            "{ rate: 1000/s, connections: 20, when_busy: { grow: 29 } }",
            "there are at most 29: write `load: { when_busy: { grow: 30 } }`",
        );
        check(
            &format!("{{ links: all, blocks: 1, {DELAYS} }}"),
            rate,
            "`1` blocks",
        );
    }

    /// The gateway asks the log itself, and an API that asks it, too.
    #[test]
    fn a_dependency_by_two_ways_is_delayed_on_both() {
        let load = |target: &str, links: &str| {
            let text = format!(
                "version: 1
name: x
components:
  log: {{ mock: {{}} }}
  api: {{ command: [api, '${{self.port}}', '${{log.url}}'] }}
  gateway: {{ command: [api, '${{self.port}}', '${{log.url}}', '${{api.url}}'] }}
scenario: [{{ get: /a }}]
load: {{ rate: 10/s }}
arms: {{ main: {{ target: {target} }} }}
method: {{ sensitivity: {{ links: {links}, {DELAYS} }} }}
"
            );
            let loaded = Memory::new(&text, &[]).load(&[]);
            loaded.map(drop).map_err(|problems| problems.to_string())
        };
        assert_eq!(load("gateway", "all"), Ok(()));
        assert_eq!(load("gateway", "[gateway -> api]"), Ok(()));
        let refused = load("gateway", "[api -> log]").unwrap_err();
        let expected = "`log` is reached by `gateway -> log`, too, which is not named: name both";
        assert!(refused.contains(expected), "{refused}");
        // An arm whose target is the API has but one way.
        assert_eq!(load("api", "[api -> log]"), Ok(()));
        let nobody = load("api", "[gateway -> log, api -> log, gateway -> api]").unwrap_err();
        assert!(nobody.contains("no arm leads to `gateway -> "), "{nobody}");
    }

    #[test]
    fn an_arm_has_the_links_below_its_target() {
        let link = |from: &str, to: &str| Link {
            from: from.to_owned(),
            to: to.to_owned(),
            listener: None,
        };
        let mut sensitivity = Sensitivity {
            links: Vec::new(),
            known: vec![
                link("gateway", "api"),
                link("api", "log"),
                link("other", "log"),
                link("log", "api"),
            ],
            delays: Vec::new(),
            blocks: 2,
            hold: Duration::ZERO,
        };
        sensitivity.links = vec![link("api", "log")];
        assert_eq!(
            sensitivity.reached("gateway").len(),
            1,
            "by way of one that is not delayed"
        );
        sensitivity.links = sensitivity.known.clone();
        let texts = |target| -> Vec<String> {
            let found = sensitivity.reached(target).into_iter();
            found.map(Link::text).collect()
        };
        assert_eq!(
            texts("gateway"),
            ["api -> log", "gateway -> api", "log -> api"]
        );
        assert_eq!(texts("other"), ["api -> log", "log -> api", "other -> log"]);
    }
}
