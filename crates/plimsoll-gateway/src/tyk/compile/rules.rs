//! A version's lists of paths as rules. Tyk looks for mocks, ignored, closed and open paths in this order; so the rules stand.

use super::super::definition::{
    ExtendedPaths, HeaderInjection, Listed, MethodAction, Mock, Version,
};
use super::Check;
use crate::policy::rules::breaker::{AfterRest, Breaker, BreakerLimits};
use crate::policy::rules::edits::{self, FieldEdits};
use crate::policy::rules::matcher::PathMatcher;
use crate::policy::rules::reply::Reply;
use crate::policy::rules::{Rule, What};
use plimsoll_base::document::{Entries, Path, Text};
use std::sync::Arc;
use std::time::Duration;

/// The rules of the version called `name`.
pub(super) fn rules(
    c: &mut Check<'_>,
    name: &str,
    version: &Version,
    ignore_case: bool,
) -> Vec<Rule> {
    let at = Path::root().key("version_data").key("versions").key(name);
    let mut lists = Lists {
        ignore_case: ignore_case || version.ignore_endpoint_case.unwrap_or(false),
        global: Globals::of(c, &at, version),
        rules: Vec::new(),
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
    lists.rules
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

struct Lists {
    ignore_case: bool,
    global: Globals,
    rules: Vec<Rule>,
}

/// One entry of a list, as it says which requests it is about.
struct Entry<'a> {
    at: Path,
    path: &'a str,
    method: Option<&'a str>,
    ignore_case: Option<bool>,
}

impl Lists {
    fn add(&mut self, c: &mut Check<'_>, entry: &Entry<'_>, what: What) {
        let ignore_case = self.ignore_case || entry.ignore_case.unwrap_or(false);
        match PathMatcher::tyk(entry.path, ignore_case) {
            Err(message) => c.refuse(entry.at.key("path"), message),
            Ok(paths) => self.rules.push(Rule {
                paths,
                methods: entry
                    .method
                    .filter(|method| !method.is_empty())
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
                what,
            }),
        }
    }

    fn plain(&mut self, c: &mut Check<'_>, at: &Path, version: &Version) {
        let Some(paths) = &version.paths else { return };
        for (name, list, what) in [
            ("ignored", &paths.ignored, What::Exempt),
            ("black_list", &paths.black_list, What::Deny),
            ("white_list", &paths.white_list, What::Allow),
        ] {
            for (index, path) in list.iter().flatten().enumerate() {
                let entry = Entry {
                    at: at.key(name).index(index),
                    path,
                    method: None,
                    ignore_case: None,
                };
                self.add(c, &entry, what.clone());
            }
        }
    }

    fn extended(&mut self, c: &mut Check<'_>, at: &Path, paths: &ExtendedPaths) {
        for (index, mock) in paths.mock_response.iter().flatten().enumerate() {
            self.mock(c, at.key("mock_response").index(index), mock);
        }
        for (name, list, what) in [
            ("ignored", &paths.ignored, What::Exempt),
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
        if mock.method.as_deref().is_none_or(str::is_empty) {
            c.refuse(
                at.key("method"),
                "a mock response is for one method: write for instance `GET`",
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
        let entry = Entry {
            at,
            path: &mock.path,
            method: mock.method.as_deref(),
            ignore_case: mock.ignore_case,
        };
        self.add(c, &entry, What::Reply(reply));
    }

    fn listed(&mut self, c: &mut Check<'_>, at: &Path, listed: &Listed, what: &What) {
        if listed.disabled == Some(true) {
            return;
        }
        let entry = |method| Entry {
            at: at.clone(),
            path: &listed.path,
            method,
            ignore_case: listed.ignore_case,
        };
        let actions = listed.method_actions.iter().flat_map(Entries::iter);
        let mut by_action = false;
        for (method, action) in actions {
            by_action = true;
            let what = self.action(c, &at.key("method_actions").key(method), action, what);
            self.add(c, &entry(Some(method)), what);
        }
        if !by_action {
            self.add(c, &entry(listed.method.as_deref()), what.clone());
        }
    }

    fn action(&self, c: &mut Check<'_>, at: &Path, action: &MethodAction, what: &What) -> What {
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
            _ => {
                c.refuse(at.key("action"), "write `no_action` or `reply`");
                what.clone()
            }
        }
    }

    fn limits(&mut self, c: &mut Check<'_>, at: &Path, paths: &ExtendedPaths) {
        for (index, limit) in paths.size_limits.iter().flatten().enumerate() {
            let entry = Entry::new(
                at.key("size_limits").index(index),
                &limit.path,
                limit.method.as_deref(),
            );
            if limit.disabled != Some(true) {
                self.add(c, &entry, What::BodyLimit(limit.size_limit.unwrap_or(0)));
            }
        }
        for (index, limit) in paths.hard_timeouts.iter().flatten().enumerate() {
            let entry = Entry::new(
                at.key("hard_timeouts").index(index),
                &limit.path,
                limit.method.as_deref(),
            );
            let seconds = limit
                .timeout
                .filter(|seconds| *seconds > 0.0 && *seconds < 86_400.0);
            match seconds {
                _ if limit.disabled == Some(true) => {}
                Some(seconds) => {
                    self.add(c, &entry, What::Timeout(Duration::from_secs_f64(seconds)))
                }
                None => c.refuse(entry.at.key("timeout"), "write seconds above 0"),
            }
        }
        for (index, limit) in paths.circuit_breakers.iter().flatten().enumerate() {
            let entry = Entry::new(
                at.key("circuit_breakers").index(index),
                &limit.path,
                limit.method.as_deref(),
            );
            if limit.disabled == Some(true) {
                continue;
            }
            let share = limit.threshold_percent.unwrap_or(0.0);
            if share <= 0.0 || share > 1.0 {
                c.refuse(
                    entry.at.key("threshold_percent"),
                    "a share lies above 0 and up to 1: write `0.5` for half",
                );
            }
            let breaker = Breaker::new(BreakerLimits {
                share,
                samples: limit.samples.unwrap_or(1).max(1),
                rest: Duration::from_secs(u64::from(
                    limit.return_to_service_after.unwrap_or(0).max(1),
                )),
                after: match limit.disable_half_open_state {
                    Some(true) => AfterRest::Close,
                    _ => AfterRest::Try,
                },
            });
            self.add(c, &entry, What::Breaker(Arc::new(breaker)));
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
            _ => What::ResponseFields(Arc::new(own.after(&self.global.response))),
        };
        let entry = Entry::new(at, &injection.path, injection.method.as_deref());
        self.add(c, &entry, what);
    }

    /// What holds for every path comes last: the first of each kind counts, and those of single paths contain it.
    fn everywhere(&mut self, c: &mut Check<'_>, at: &Path, version: &Version) {
        let entry = Entry::new(at.clone(), "", None);
        if self.global.request != FieldEdits::default() {
            let edits = Arc::new(self.global.request.clone());
            self.add(c, &entry, What::RequestFields(edits));
        }
        if self.global.response != FieldEdits::default() {
            let edits = Arc::new(self.global.response.clone());
            self.add(c, &entry, What::ResponseFields(edits));
        }
        let limit = version.global_size_limit.filter(|limit| *limit > 0);
        if let Some(limit) = limit.filter(|_| version.global_size_limit_disabled != Some(true)) {
            self.add(c, &entry, What::BodyLimit(limit));
        }
    }
}

impl<'a> Entry<'a> {
    fn new(at: Path, path: &'a str, method: Option<&'a str>) -> Self {
        Self {
            at,
            path,
            method,
            ignore_case: None,
        }
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
