//! One immutable set of stubs and the index that finds a request's winner in it.
//!
//! The order is WireMock's: priority ascending, then newest first; the first stub that matches wins. The index only skips stubs
//! that cannot match, so its winner is that of a scan of the whole list (property test below).

use crate::budget::TooCostly;
use crate::request::Request;
use crate::response::delay::Delay;
use crate::stub::Stub;
use crate::stub::request_pattern::url_pattern::UrlPattern;
use crate::stub::state::Sight;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Stubs in match order with an index of their positions by what a URL must be or begin with.
#[derive(Debug, Default)]
pub struct StubSet {
    stubs: Vec<Arc<Stub>>,
    by_url: HashMap<String, Vec<usize>>,
    by_path: HashMap<String, Vec<usize>>,
    /// Regular expressions by what their matches begin with, one map for each length that occurs.
    by_prefix: BTreeMap<usize, HashMap<String, Vec<usize>>>,
    /// Stubs for any URL.
    others: Vec<usize>,
    /// Delay by the settings of stubs that have none of their own.
    default_delay: Delay,
    /// Whether any stub looks at bodies.
    wants_bodies: bool,
}

impl StubSet {
    /// Sorts and indexes the stubs.
    pub fn new(mut stubs: Vec<Arc<Stub>>, default_delay: Delay) -> Self {
        stubs.sort_by_key(|stub| (stub.priority, Reverse(stub.insertion)));
        let mut set = Self {
            default_delay,
            ..Self::default()
        };
        for (position, stub) in stubs.iter().enumerate() {
            match &stub.request.url {
                UrlPattern::Url(url) => push(&mut set.by_url, url, position),
                UrlPattern::Path(path) => push(&mut set.by_path, path, position),
                UrlPattern::UrlRegex(regex) | UrlPattern::PathRegex(regex) => {
                    let prefix = regex.prefix();
                    let same_length = set.by_prefix.entry(prefix.len()).or_default();
                    push(same_length, prefix, position);
                }
                UrlPattern::PathTemplate(template) => {
                    let prefix = template.prefix();
                    let same_length = set.by_prefix.entry(prefix.len()).or_default();
                    push(same_length, prefix, position);
                }
                UrlPattern::Any => set.others.push(position),
            }
        }
        set.wants_bodies = stubs.iter().any(|stub| stub.wants_body());
        Self { stubs, ..set }
    }

    /// Whether a request's body has to be kept for these stubs.
    pub fn wants_bodies(&self) -> bool {
        self.wants_bodies
    }

    /// The stubs in match order.
    pub fn stubs(&self) -> &[Arc<Stub>] {
        &self.stubs
    }

    /// The delay that the settings have for what a stub leaves open.
    pub fn default_delay(&self) -> &Delay {
        &self.default_delay
    }

    /// The stub that answers the request; the state that it leads to is reached.
    pub fn find(&self, request: &Request<'_>) -> Result<Option<&Arc<Stub>>, TooCostly> {
        loop {
            let mut sight = Sight::default();
            let found = self.find_in(request, &mut sight)?;
            // Whoever is not the first to take a step has lost it to one who is, so this comes to an end.
            if sight.settle(found.and_then(|stub| stub.step.as_ref())) {
                return Ok(found);
            }
        }
    }

    /// The first stub that matches while scenarios are as they are seen.
    fn find_in<'a>(
        &'a self,
        request: &Request<'_>,
        sight: &mut Sight<'a>,
    ) -> Result<Option<&'a Arc<Stub>>, TooCostly> {
        let exact = [
            positions(&self.by_url, request.url),
            positions(&self.by_path, request.path),
            &self.others,
        ];
        if self.by_prefix.is_empty() {
            return self.first_match(request, sight, &mut { exact });
        }
        let mut candidates = exact.to_vec();
        // A path begins its URL, and prefixes have no `?`: what a path begins with, its URL begins with.
        candidates.extend(self.by_prefix.iter().map_while(|(length, same_length)| {
            let prefix = request.url.get(..*length)?;
            Some(positions(same_length, prefix))
        }));
        self.first_match(request, sight, &mut candidates)
    }

    /// The first stub of several ascending lists of positions that matches.
    fn first_match<'a>(
        &'a self,
        request: &Request<'_>,
        sight: &mut Sight<'a>,
        candidates: &mut [&[usize]],
    ) -> Result<Option<&'a Arc<Stub>>, TooCostly> {
        while let Some(next) = candidates
            .iter_mut()
            .filter(|list| !list.is_empty())
            .min_by_key(|list| list[0])
        {
            let stub = &self.stubs[next[0]];
            *next = &next[1..];
            let step = stub.step.as_ref();
            if step.is_none_or(|step| sight.allows(step)) && stub.request.holds(request)? {
                return Ok(Some(stub));
            }
        }
        Ok(None)
    }
}

fn push(index: &mut HashMap<String, Vec<usize>>, key: &str, position: usize) {
    if let Some(list) = index.get_mut(key) {
        list.push(position);
    } else {
        index.insert(key.to_owned(), vec![position]);
    }
}

fn positions<'a>(index: &'a HashMap<String, Vec<usize>>, key: &str) -> &'a [usize] {
    if index.is_empty() {
        return &[];
    }
    index.get(key).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::surroundings::Surroundings;
    use crate::stub::read_mapping;
    use crate::stub::state::StateMachines;
    use crate::stub_id::StubId;
    use plimsoll_http::Fields;
    use proptest::prelude::*;
    use serde_json::json;

    const URLS: &[&str] = &["/a", "/a?x=1", "/b", "/a/b"];
    const METHODS: &[&str] = &["GET", "POST", "ANY"];

    fn mapping() -> impl Strategy<Value = serde_json::Value> {
        let url = prop_oneof![
            Just(json!({})),
            proptest::sample::select(URLS).prop_map(|url| json!({"url": url})),
            proptest::sample::select(URLS).prop_map(|url| json!({"urlPath": url})),
            proptest::sample::select(
                &["/a.*", "/[ab]", "/b|/a", "^/a/?b?", "/a\\?x=1", "/ab*"][..]
            )
            .prop_map(|regex| json!({"urlPattern": regex})),
            Just(json!({"urlPathPattern": "/a/?.?"})),
            Just(json!({"urlPathTemplate": "/a/{b}"})),
            Just(json!({"urlPathTemplate": "/{b}"})),
        ];
        (url, proptest::sample::select(METHODS), 1..4_i32).prop_map(
            |(mut url, method, priority)| {
                url["method"] = json!(method);
                json!({"request": url, "priority": priority})
            },
        )
    }

    fn set_of(mappings: &[serde_json::Value]) -> StubSet {
        let place = |(index, document): (usize, &serde_json::Value)| {
            let mapping = read_mapping(&document.to_string(), &Surroundings::default()).unwrap();
            let index = index as u64;
            Arc::new(mapping.place(
                StubId::minted(0, index),
                index,
                &mut StateMachines::default(),
            ))
        };
        let stubs = mappings.iter().enumerate().map(place).collect();
        StubSet::new(stubs, Delay::default())
    }

    proptest! {
        #[test]
        fn the_winner_is_that_of_a_linear_scan(
            mappings in proptest::collection::vec(mapping(), 0..20),
            url in proptest::sample::select(URLS),
            method in proptest::sample::select(METHODS),
        ) {
            let set = set_of(&mappings);
            let fields = Fields::default();
            let request = Request::bare(method, url, &fields);
            let mut order: Vec<&Arc<Stub>> = set.stubs().iter().collect();
            order.sort_by_key(|stub| (stub.priority, Reverse(stub.insertion)));
            let scanned = order.into_iter().find(|stub| stub.request.holds(&request) == Ok(true));
            let found = set.find(&request).unwrap();
            prop_assert_eq!(found.map(|stub| stub.id), scanned.map(|stub| stub.id));
        }
    }

    #[test]
    fn priority_then_recency() {
        let check = |priorities: [i32; 3], expected: u64| {
            let mappings = priorities.map(|priority| json!({"priority": priority}));
            let set = set_of(&mappings);
            let fields = Fields::default();
            let request = Request::bare("GET", "/", &fields);
            let winner = set.find(&request).unwrap().unwrap().insertion;
            assert_eq!(winner, expected, "{priorities:?}");
        };
        check([5, 5, 5], 2);
        check([1, 5, 5], 0);
        check([5, 1, 1], 2);
        check([5, 1, 2], 1);
    }
}
