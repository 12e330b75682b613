//! A version's lists of paths as rules. Tyk looks for mocks, ignored, closed and open paths in this order; so the rules stand.

use super::super::definition::{
    CircuitBreaker, ExtendedPaths, HardTimeout, HeaderInjection, Listed, MethodAction, Mock,
    Version,
};
use super::super::pattern::PathRules;
use super::Check;
use crate::messages::edits::{self, FieldEdits};
use crate::policy::rules::body_limit::BodyLimit;
use crate::policy::rules::breaker::{AfterRest, Breaker, BreakerLimits};
use crate::policy::rules::matcher::Against;
use crate::policy::rules::reply::Reply;
use crate::policy::rules::{Exemption, Rule, Rules, What};
use plimsoll_base::document::{Entries, Path, Text};
use std::sync::Arc;
use std::time::Duration;

/// Settings by which the paths of an API are read.
pub(super) struct Reading<'a> {
    pub(super) paths: PathRules,
    /// As it is written.
    pub(super) listen_path: &'a str,
    /// Time that a response's head may take in any case.
    pub(super) response_head: Duration,
}

/// The rules of the version called `name`, if it has some.
pub(super) fn rules(
    c: &mut Check<'_>,
    name: &str,
    version: &Version,
    reading: Reading<'_>,
) -> Option<Rules> {
    let at = Path::root().key("version_data").key("versions").key(name);
    let mut lists = Lists {
        ignore_case: version.ignore_endpoint_case.unwrap_or(false),
        reading,
        global: Globals::of(c, &at, version),
        rules: Vec::new(),
        closed: false,
    };
    match (
        version.use_extended_paths.unwrap_or(false),
        &version.extended_paths,
    ) {
        (true, Some(paths)) => lists.extended(c, &at.key("extended_paths"), paths),
        (true, None) => {}
        (false, _) => lists.plain(c, &at.key("paths"), version),
    }
    lists.everywhere(c, &at, version);
    let is_empty = lists.rules.is_empty() && !lists.closed;
    (!is_empty).then(|| Rules::new(lists.rules, lists.closed))
}

/// Edits that hold for every path.
struct Globals {
    request: FieldEdits,
    response: FieldEdits,
}

impl Globals {
    fn of(c: &mut Check<'_>, at: &Path, version: &Version) -> Self {
        let request = match version.global_headers_disabled {
            Some(true) => FieldEdits::default(),
            _ => edits(
                c,
                (
                    &at.key("global_headers_remove"),
                    version.global_headers_remove.as_deref(),
                ),
                (&at.key("global_headers"), version.global_headers.as_ref()),
            ),
        };
        let response = match version.global_response_headers_disabled {
            Some(true) => FieldEdits::default(),
            _ => edits(
                c,
                (
                    &at.key("global_response_headers_remove"),
                    version.global_response_headers_remove.as_deref(),
                ),
                (
                    &at.key("global_response_headers"),
                    version.global_response_headers.as_ref(),
                ),
            ),
        };
        Self { request, response }
    }
}

struct Lists<'a> {
    /// Of the lists that open and close, and of mocks.
    ignore_case: bool,
    reading: Reading<'a>,
    global: Globals,
    rules: Vec<Rule>,
    /// There is a `white_list`: what it does not open is closed, even where none of its entries ever matches.
    closed: bool,
}

/// One entry of a list, as it says which requests it is about.
struct Entry<'a> {
    at: Path,
    path: &'a str,
    /// Any, if left out.
    method: Option<&'a str>,
    against: Against,
    ignore_case: bool,
}

impl<'a> Entry<'a> {
    /// Held against the whole path, too, by its case.
    fn plain(at: Path, path: &'a str, method: Option<&'a str>) -> Self {
        Self {
            at,
            path,
            method,
            against: Against::Either,
            ignore_case: false,
        }
    }
}

impl Lists<'_> {
    fn add(&mut self, c: &mut Check<'_>, entry: Entry<'_>, what: What) {
        let mut rules = self.reading.paths;
        rules.ignore_case |= entry.ignore_case;
        match rules.matcher(entry.path, entry.against, &mut c.room) {
            Err(message) => c.refuse(entry.at.key("path"), message),
            Ok(paths) => self.rules.push(Rule {
                paths,
                methods: entry.method.map(str::to_owned).into_iter().collect(),
                what,
            }),
        }
    }

    /// Of a list that opens or closes, or of mocks. Those are held against the whole path, too.
    fn access<'a>(
        &self,
        at: Path,
        path: &'a str,
        method: Option<&'a str>,
        ignore_case: Option<bool>,
    ) -> Entry<'a> {
        Entry {
            ignore_case: self.ignore_case || ignore_case.unwrap_or(false),
            ..Entry::plain(at, path, method)
        }
    }

    /// Of another list, whose entries hold for one method each. Without one Tyk never finds it.
    fn limited<'a>(
        &self,
        c: &mut Check<'_>,
        at: Path,
        path: &'a str,
        method: Option<&'a str>,
    ) -> Option<Entry<'a>> {
        let method = method.filter(|method| !method.is_empty());
        if method.is_none() {
            c.note(
                &at,
                "names no `method`, so it holds for no request, as in Tyk",
            );
        }
        method.map(|method| Entry {
            at,
            path,
            method: Some(method),
            against: Against::BelowTwice(self.reading.listen_path.into()),
            ignore_case: false,
        })
    }

    fn plain(&mut self, c: &mut Check<'_>, at: &Path, version: &Version) {
        let Some(paths) = &version.paths else { return };
        for (name, list, what) in [
            ("ignored", &paths.ignored, What::Exempt(Exemption::Key)),
            ("black_list", &paths.black_list, What::Deny),
            ("white_list", &paths.white_list, What::Allow),
        ] {
            for (index, path) in list.iter().flatten().enumerate() {
                self.closed |= matches!(what, What::Allow);
                let entry = Entry::plain(at.key(name).index(index), path, None);
                self.add(c, entry, what.clone());
            }
        }
    }

    fn extended(&mut self, c: &mut Check<'_>, at: &Path, paths: &ExtendedPaths) {
        for (index, mock) in paths.mock_response.iter().flatten().enumerate() {
            self.mock(c, at.key("mock_response").index(index), mock);
        }
        for (name, list, what) in [
            ("ignored", &paths.ignored, What::Exempt(Exemption::Key)),
            ("black_list", &paths.black_list, What::Deny),
            ("white_list", &paths.white_list, What::Allow),
        ] {
            for (index, listed) in list.iter().flatten().enumerate() {
                self.listed(c, &at.key(name).index(index), listed, &what);
            }
        }
        self.limits(c, at, paths);
        for (name, list) in [
            ("transform_headers", &paths.transform_headers),
            (
                "transform_response_headers",
                &paths.transform_response_headers,
            ),
        ] {
            for (index, injection) in list.iter().flatten().enumerate() {
                self.injection(c, at.key(name).index(index), injection, name);
            }
        }
    }

    fn mock(&mut self, c: &mut Check<'_>, at: Path, mock: &Mock) {
        if mock.disabled == Some(true) {
            return;
        }
        let method = mock.method.as_deref().filter(|method| !method.is_empty());
        if method.is_none() {
            return c.note(
                &at,
                "names no `method`, so it holds for no request, as in Tyk",
            );
        }
        let reply = reply(
            c,
            &at,
            "code",
            mock.code,
            mock.headers.as_ref(),
            mock.body.as_deref(),
        );
        let entry = self.access(at, &mock.path, method, mock.ignore_case);
        self.add(c, entry, What::Reply(reply));
    }

    fn listed(&mut self, c: &mut Check<'_>, at: &Path, listed: &Listed, what: &What) {
        if listed.disabled == Some(true) {
            return;
        }
        self.closed |= matches!(what, What::Allow);
        let Some(actions) = &listed.method_actions else {
            let method = listed.method.as_deref().filter(|method| !method.is_empty());
            let entry = self.access(at.clone(), &listed.path, method, listed.ignore_case);
            return self.add(c, entry, what.clone());
        };
        if actions.iter().next().is_none() {
            c.note(
                at,
                "has `method_actions` for no method, so it holds for no request, as in Tyk",
            );
        }
        for (method, action) in actions.iter() {
            let what = action_of(c, &at.key("method_actions").key(method), action, what);
            let entry = self.access(at.clone(), &listed.path, Some(method), listed.ignore_case);
            self.add(c, entry, what);
        }
    }

    fn limits(&mut self, c: &mut Check<'_>, at: &Path, paths: &ExtendedPaths) {
        for (index, limit) in paths.size_limits.iter().flatten().enumerate() {
            let at = at.key("size_limits").index(index);
            if limit.disabled != Some(true)
                && let Some(entry) = self.limited(c, at, &limit.path, limit.method.as_deref())
            {
                let limit = BodyLimit {
                    is_one_of_several: true,
                    ..body_limit(limit.size_limit.unwrap_or(0))
                };
                self.add(c, entry, What::BodyLimit(limit));
            }
        }
        for (index, limit) in paths.hard_timeouts.iter().flatten().enumerate() {
            self.timeout(c, at.key("hard_timeouts").index(index), limit);
        }
        for (index, limit) in paths.circuit_breakers.iter().flatten().enumerate() {
            self.breaker(c, at.key("circuit_breakers").index(index), limit);
        }
    }

    fn timeout(&mut self, c: &mut Check<'_>, at: Path, limit: &HardTimeout) {
        if limit.disabled == Some(true) {
            return;
        }
        let seconds = limit
            .timeout
            .filter(|seconds| *seconds > 0.0 && *seconds < 86_400.0);
        let Some(seconds) = seconds else {
            return c.refuse(at.key("timeout"), "write seconds above 0");
        };
        if let Some(entry) = self.limited(c, at, &limit.path, limit.method.as_deref()) {
            let timeout = Duration::from_secs_f64(seconds).min(self.reading.response_head);
            self.add(c, entry, What::Timeout(timeout));
        }
    }

    fn breaker(&mut self, c: &mut Check<'_>, at: Path, limit: &CircuitBreaker) {
        if limit.disabled == Some(true) {
            return;
        }
        let share = limit.threshold_percent.unwrap_or(0.0);
        if share <= 0.0 || share > 1.0 {
            c.refuse(
                at.key("threshold_percent"),
                "a share lies above 0 and up to 1: write `0.5` for half",
            );
        }
        let breaker = Breaker::new(BreakerLimits {
            failure_ratio: share,
            samples: limit.samples.unwrap_or(1).max(1),
            open_for: Duration::from_secs(u64::from(
                limit.return_to_service_after.unwrap_or(0).max(1),
            )),
            after: match limit.disable_half_open_state {
                Some(true) => AfterRest::Close,
                _ => AfterRest::Try,
            },
            // `err != nil` of the round trip, which a request has, too, whose context was cancelled.
            departures_fail: true,
        });
        if let Some(entry) = self.limited(c, at, &limit.path, limit.method.as_deref()) {
            self.add(c, entry, What::Breaker(Arc::new(breaker)));
        }
    }

    fn injection(&mut self, c: &mut Check<'_>, at: Path, injection: &HeaderInjection, list: &str) {
        if injection.disabled == Some(true) {
            return;
        }
        let own = edits(
            c,
            (
                &at.key("delete_headers"),
                injection.delete_headers.as_deref(),
            ),
            (&at.key("add_headers"), injection.add_headers.as_ref()),
        );
        let what = match list {
            "transform_headers" => What::RequestFields(Arc::new(own.after(&self.global.request))),
            // What holds for all responses comes after what holds for one path.
            _ => What::ResponseFields(Arc::new(self.global.response.after(&own))),
        };
        if let Some(entry) = self.limited(c, at, &injection.path, injection.method.as_deref()) {
            self.add(c, entry, what);
        }
    }

    /// Rules for every path come last: the first of each kind counts, and those of single paths contain it.
    fn everywhere(&mut self, c: &mut Check<'_>, at: &Path, version: &Version) {
        let everywhere = || Entry {
            at: at.clone(),
            path: "",
            method: None,
            against: Against::Below,
            ignore_case: false,
        };
        if self.global.request != FieldEdits::default() {
            let edits = Arc::new(self.global.request.clone());
            self.add(c, everywhere(), What::RequestFields(edits));
        }
        if self.global.response != FieldEdits::default() {
            let edits = Arc::new(self.global.response.clone());
            self.add(c, everywhere(), What::ResponseFields(edits));
        }
        let limit = version.global_size_limit.filter(|limit| *limit > 0);
        // Tyk looks at the switch only where no path has a limit of its own.
        let lists = version.extended_paths.as_ref();
        let is_looked_at = lists
            .and_then(|lists| lists.size_limits.as_ref())
            .is_none_or(Vec::is_empty);
        let is_off = is_looked_at && version.global_size_limit_disabled == Some(true);
        if let Some(limit) = limit.filter(|_| !is_off) {
            self.add(c, everywhere(), What::BodyLimit(body_limit(limit)));
        }
    }
}

/// Requests that usually have no body are not asked for one's length.
fn body_limit(bytes: u64) -> BodyLimit {
    BodyLimit {
        spared: &["GET", "DELETE", "TRACE", "OPTIONS", "HEAD"],
        ..BodyLimit::of(bytes)
    }
}

/// Action of an entry of a list on requests of one method. Without an action that it knows Tyk closes the path.
fn action_of(c: &mut Check<'_>, at: &Path, action: &MethodAction, what: &What) -> What {
    match action.action.as_deref() {
        Some("no_action") => what.clone(),
        Some("reply") => What::Reply(reply(
            c,
            at,
            "code",
            action.code,
            action.headers.as_ref(),
            action.data.as_deref(),
        )),
        _ => What::Deny,
    }
}

fn reply(
    c: &mut Check<'_>,
    at: &Path,
    code_field: &str,
    code: Option<u16>,
    headers: Option<&Entries<Text>>,
    body: Option<&str>,
) -> Reply {
    let status = code.unwrap_or(0);
    if !(200..600).contains(&status) || matches!(status, 204 | 205 | 304) {
        c.refuse(
            at.key(code_field),
            "a reply has a status from 200 to 599 that goes with a body",
        );
    }
    Reply {
        status,
        fields: fields(c, &at.key("headers"), headers),
        body: body.unwrap_or_default().to_owned(),
    }
}

/// Edits of fields, each of which is possible.
fn edits(
    c: &mut Check<'_>,
    (remove_at, remove): (&Path, Option<&[String]>),
    (set_at, set): (&Path, Option<&Entries<Text>>),
) -> FieldEdits {
    let mut edits = FieldEdits::default();
    for (index, name) in remove.unwrap_or_default().iter().enumerate() {
        match edits::refusal(name, "") {
            Some(message) => c.refuse(remove_at.index(index), message),
            None => edits.remove.push(name.clone()),
        }
    }
    let set = fields(c, set_at, set).into_iter();
    edits.set = set.map(|(name, value)| (name, value.into())).collect();
    edits
}

/// Fields with their values, each of which is possible.
fn fields(c: &mut Check<'_>, at: &Path, set: Option<&Entries<Text>>) -> Vec<(String, String)> {
    let mut possible = Vec::new();
    for (name, value) in set.iter().flat_map(|set| set.iter()) {
        if value.contains("$tyk_") || value.contains("$secret_") {
            c.refuse(
                at.key(name),
                "a value is what is written: Tyk's variables are not known here",
            );
        }
        match edits::refusal(name, value) {
            Some(message) => c.refuse(at.key(name), message),
            None => possible.push((name.to_owned(), value.to_string())),
        }
    }
    possible
}
