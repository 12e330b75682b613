//! From Tyk's files to the gateway's own configuration: each definition becomes a route and an upstream, with policies and rules.

mod api;
mod code;
mod rules;
mod secured;
mod session;
mod target;
mod token;

pub(super) use api::Api;
pub(super) use token::unserved;

use super::conf::Conf;
use super::definition::{Definition, Version};
use super::overrides::Compiled;
use crate::answering::error_format::{ErrorFormat, TykErrorFormat};
use crate::answering::overrides::Overrides;
use crate::clients::identity::Kind;
use crate::config::UpstreamTls;
use crate::config::{
    Balance, ConnectionLimits, DeferredPlaces, GatewayConfig, ListenerConfig, Nameless,
    RateLimitConfig, Recording, RetryConfig, RouteConfig, Serves, Spoken, Timeouts, Timings,
    UpstreamConfig,
};
use crate::messages::expiry::Expiry;
use crate::messages::path;
use crate::policy::rate_limit::Scope;
use crate::policy::rules::matcher::Room;
use plimsoll_base::document::{Document, MOST_PROBLEMS, Path, Problems};
use plimsoll_base::units::Rate;
use plimsoll_http::Limits;
use secured::Securing;
use std::sync::Arc;
use std::time::Duration;

/// How long Tyk waits for TLS (`gateway/reverse_proxy.go`, `defaultTransport`).
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Collects problems of one definition.
struct Check<'a> {
    /// The file's name.
    name: &'a str,
    document: &'a Document,
    problems: Problems,
    notes: &'a mut Vec<String>,
    /// For the expressions of its paths.
    room: Room,
}

impl Check<'_> {
    fn refuse(&mut self, path: impl Into<Path>, message: impl Into<String>) {
        // Each is looked for from the top of the document.
        if self.problems.len() >= MOST_PROBLEMS {
            self.problems.count_further(1);
            return;
        }
        self.problems.extend([self.document.problem(path, message)]);
    }

    /// Something that the operator should know.
    fn note(&mut self, at: &Path, message: &str) {
        let at = at.to_string();
        self.notes.push(format!("{}: {at}: {message}", self.name));
    }
}

/// The configuration that `tyk.conf` and its definitions mean, but for the routes of the control API.
///
/// Notes for the operator are added to `notes`.
pub(super) fn compile(
    conf: &Conf,
    apis: &[Api],
    strict: bool,
    notes: &mut Vec<String>,
) -> Result<GatewayConfig, Problems> {
    let mut problems = Problems::default();
    notes.extend(conf.notes.iter().cloned());
    let (mut routes, mut upstreams): (Vec<RouteConfig>, Vec<UpstreamConfig>) = Default::default();
    let mut securing = Securing::new(conf.upstream_tls, conf.offers_http2);
    for (index, api) in apis.iter().enumerate() {
        let name = api.file.display().to_string();
        let mut c = Check {
            name: &name,
            document: &api.document,
            problems: Problems::default(),
            notes: &mut *notes,
            room: Room::of_a_file(),
        };
        if !is_open(&api.definition) {
            continue;
        }
        let path = listen_path(&mut c, &api.definition.proxy.listen_path, conf);
        let same = apis[..index]
            .iter()
            .filter(|other| is_open(&other.definition))
            .find(|other| {
                stem(&other.definition.proxy.listen_path) == stem(&api.definition.proxy.listen_path)
            });
        if let Some(other) = same {
            let message = format!("the API `{}` listens on this path already", other.id);
            c.refuse("proxy.listen_path", message);
        }
        code::check(&mut c, &api.definition, conf);
        domain(&mut c, &api.definition, conf);
        let target = target::target(&mut c, &api.definition.proxy);
        routes.push(route(&mut c, api, path, &target, upstreams.len(), conf));
        let tls = securing.upstream_tls(&mut c, &api.definition.proxy, &target.endpoints);
        upstreams.push(upstream(api, target, tls, conf));
        problems.append(c.problems);
    }
    let config = GatewayConfig {
        listeners: vec![ListenerConfig {
            name: "main".to_owned(),
            address: conf.address,
            tls: None,
        }],
        admin: None,
        trusted_proxies: Vec::new(),
        underscores: crate::config::Underscores::Pass,
        // As Go's servers do, whose background read cancels the request's context.
        half_close: crate::config::HalfClose::Abort,
        certificate_fields: Vec::new(),
        identity_order: Kind::ALL.into(),
        sharding: None,
        upstreams,
        routes,
        analytics: conf.analytics.clone(),
        tracing: None,
        redacted: Vec::new(),
        timings: Timings::default(),
        http2: None,
        counters: None,
        keeping: conf.keeping.clone(),
        timeouts: timeouts(conf),
        limits: limits(conf),
        error_format: ErrorFormat::Tyk(TykErrorFormat {
            strict,
            generator: !conf.hide_generator && !strict,
        }),
        control: None,
        notes: Vec::new(),
        places: DeferredPlaces::nowhere(),
    };
    problems.or_ok(config)
}

fn timeouts(conf: &Conf) -> Timeouts {
    Timeouts {
        request_head: Duration::from_secs(10),
        idle: Duration::from_secs(60),
        body_rate: 1024,
        total: Duration::from_secs(600),
        shutdown_delay: conf.shutdown_delay,
        drain: conf.drain,
        upgraded: Duration::from_secs(300),
        swap: Duration::from_secs(60),
    }
}

/// Whether an API is served at all.
pub(super) fn is_open(definition: &Definition) -> bool {
    definition.active != Some(false) && definition.internal != Some(true)
}

/// Without the slash at its end, which makes no difference.
fn stem(listen_path: &str) -> &str {
    listen_path.trim_end_matches('/')
}

/// A route to the control API.
pub(super) fn control_route(path: &str) -> RouteConfig {
    RouteConfig {
        path: path.to_owned(),
        strip: false,
        prepend: String::new(),
        root: None,
        serves: Serves::Control,
        rules: None,
        key: None,
        session: None,
        rate_limit: None,
        overrides: Overrides::default(),
        batches: false,
        expiry: None,
        recording: Recording::default(),
        upgrades: Vec::new(),
    }
}

fn listen_path(c: &mut Check<'_>, written: &str, conf: &Conf) -> String {
    let stem = stem(written);
    let path = if stem.is_empty() { "/" } else { stem };
    let is_normal =
        written.starts_with('/') && path::normalise(path).is_ok_and(|normal| normal == path);
    if !is_normal {
        let message =
            format!("`{written}` is not a path in its normal form: write for instance `/orders/`");
        c.refuse("proxy.listen_path", message);
    }
    let is_health = [&conf.health, &conf.readiness]
        .iter()
        .any(|name| path.strip_prefix('/') == Some(name.as_str()));
    if is_health || path.split('/').nth(1) == Some("tyk") {
        c.refuse(
            "proxy.listen_path",
            "this path is the gateway's own: choose another",
        );
    }
    path.to_owned()
}

/// Without custom domains Tyk serves every API under every name.
fn domain(c: &mut Check<'_>, definition: &Definition, conf: &Conf) {
    let domain = definition.domain.as_deref().unwrap_or_default();
    if conf.domains && !domain.is_empty() && definition.domain_disabled != Some(true) {
        c.refuse("domain", "every API answers to every name here: remove it");
    }
}

fn route(
    c: &mut Check<'_>,
    api: &Api,
    path: String,
    target: &target::Target,
    upstream: usize,
    conf: &Conf,
) -> RouteConfig {
    let definition = &api.definition;
    let on = |flag: Option<bool>| flag.unwrap_or(false);
    let keyless = on(definition.use_keyless);
    let version = version(c, definition);
    let rules = version.and_then(|(name, version)| {
        let reading = rules::Reading {
            paths: conf.paths,
            listen_path: &definition.proxy.listen_path,
            response_head: conf.response_head,
        };
        rules::rules(c, name, version, reading)
    });
    let batches = on(definition.enable_batch_request_support);
    if batches && path == "/" {
        c.refuse(
            "enable_batch_request_support",
            "at `/tyk` the control API answers: choose another `listen_path` than `/`",
        );
    }
    RouteConfig {
        path,
        strip: on(definition.proxy.strip_listen_path),
        prepend: target.prepend.clone(),
        root: target.root.clone(),
        serves: Serves::Upstream(upstream),
        rules,
        key: None,
        session: (!keyless).then(|| session::session(c, api, conf)),
        rate_limit: (!on(definition.disable_rate_limit))
            .then(|| rate_limit(c, definition))
            .flatten(),
        overrides: overrides(c, definition, conf),
        batches,
        expiry: version.and_then(|(name, version)| expiry(c, name, version)),
        recording: recording(api, conf),
        upgrades: conf.upgrades.clone(),
    }
}

/// The date that its answers name.
fn expiry(c: &mut Check<'_>, name: &str, version: &Version) -> Option<Expiry> {
    let text = version.expires.as_deref()?;
    let expiry = Expiry::parse(text);
    if expiry.is_none() && !matches!(text, "" | "-1") {
        let at = Path::root().key("version_data").key("versions").key(name);
        let message = "this is no date such as `2030-01-02 15:04`: answers name none";
        c.note(&at.key("expires"), message);
    }
    expiry
}

/// Words in the place of its errors: its own, then everybody's.
fn overrides(c: &mut Check<'_>, definition: &Definition, conf: &Conf) -> Overrides {
    let wire = definition.error_overrides.as_ref();
    let counts = definition.error_overrides_disabled != Some(true);
    let Compiled {
        level,
        problems,
        notes,
    } = super::overrides::compile(wire.filter(|_| counts));
    for (at, message) in problems {
        c.refuse(at, message);
    }
    for (at, message) in notes {
        c.note(&at, &message);
    }
    let levels = [Arc::new(level), Arc::clone(&conf.overrides)];
    Overrides(
        levels
            .into_iter()
            .filter(|level| !level.is_empty())
            .collect(),
    )
}

/// Recording of its requests.
fn recording(api: &Api, conf: &Conf) -> Recording {
    let definition = &api.definition;
    let expires = definition.expire_analytics_after.unwrap_or(0);
    Recording {
        off: definition.do_not_track.unwrap_or(false),
        detailed: conf.detailed || definition.enable_detailed_recording.unwrap_or(false),
        id: Some(api.id.clone()),
        name: definition.name.clone(),
        organisation: definition.org_id.clone().unwrap_or_default(),
        expires_after: u64::try_from(expires).unwrap_or(0),
    }
}

/// The one version of an API. One that has none is refused: Tyk would answer every request with 403.
fn version<'a>(
    c: &mut Check<'_>,
    definition: &'a Definition,
) -> Option<(&'a str, &'a super::definition::Version)> {
    let data = definition.version_data.as_ref();
    let versions = data.and_then(|data| data.versions.as_ref());
    let mut versions = versions.iter().flat_map(|versions| versions.iter());
    let first = versions.next();
    if first.is_none() {
        c.refuse(
            "version_data.versions",
            "without a version Tyk answers no request: write `\"version_data\": { \"not_versioned\": true, \"versions\": { \"Default\": { \"name\": \"Default\" } } }`",
        );
    } else if data.and_then(|data| data.not_versioned) != Some(true) {
        c.refuse(
            "version_data.not_versioned",
            "an API has one version here: write `true`",
        );
    }
    if versions.next().is_some() {
        c.refuse(
            "version_data.versions",
            "an API has one version here: leave one",
        );
    }
    first
}

fn rate_limit(c: &mut Check<'_>, definition: &Definition) -> Option<RateLimitConfig> {
    let limit = definition.global_rate_limit.as_ref()?;
    let (rate, per) = (limit.rate.unwrap_or(0.0), limit.per.unwrap_or(0.0));
    if limit.disabled == Some(true) || rate <= 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive; the cast saturates"
    )]
    let burst = (rate.floor() as u32).max(1);
    match Rate::per_second(rate / per) {
        Some(rate) if per > 0.0 => Some(RateLimitConfig {
            rate,
            burst,
            scope: Scope::Route,
        }),
        _ => {
            c.refuse(
                "global_rate_limit.per",
                "a rate needs `per`, its seconds: write for instance `1`",
            );
            None
        }
    }
}

fn upstream(
    api: &Api,
    target: target::Target,
    tls: Option<UpstreamTls>,
    conf: &Conf,
) -> UpstreamConfig {
    let spoken = match (target.http2, conf.offers_http2 && tls.is_some()) {
        (true, _) => Spoken::Http2,
        (false, true) => Spoken::Either,
        (false, false) => Spoken::Http1,
    };
    let handshake = tls.as_ref().map_or(Duration::ZERO, |_| HANDSHAKE);
    UpstreamConfig {
        name: api.id.clone(),
        endpoints: target.endpoints,
        balance: Balance::RoundRobin,
        preserve_host: api.definition.proxy.preserve_host_header.unwrap_or(false),
        tls,
        spoken,
        nameless: Nameless::Awaited,
        max_pending: 1024,
        idle_connections: conf.idle_connections,
        idle_timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(2) + handshake,
        response_head_timeout: conf.response_head,
        ejection: None,
        check: None,
        retry: RetryConfig::default(),
    }
}

fn limits(conf: &Conf) -> ConnectionLimits {
    let request = Limits {
        body_bytes: conf.body,
        ..Limits::default()
    };
    ConnectionLimits {
        connections: 10_000,
        per_address: None,
        per_identity: None,
        request,
        response: Limits {
            body_bytes: u64::MAX,
            ..request
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Document;
    use crate::tyk::check_definition;

    #[test]
    fn a_listen_path_that_does_not_begin_with_a_slash_is_refused_whatever_it_begins_with() {
        for path in ["\u{fffd}/bench", "bench", ""] {
            let text = format!(
                "{{ \"proxy\": {{ \"listen_path\": \"{path}\", \"target_url\": \"http://a\" }} }}"
            );
            let document = Document::parse_json("api.json", &text).unwrap();
            let told = check_definition("api.json", document).unwrap_err();
            let told = told.to_string();
            let expected = format!("`{path}` is not a path in its normal form");
            assert!(told.contains(&expected), "{told}");
        }
    }

    #[test]
    fn problems_beyond_many_are_counted() {
        let check = |part: &str, one: &str| {
            let all = vec![one; 500].join(",");
            let all = match part {
                "versions" => (0..500)
                    .map(|n| format!("\"{n}\": {one}"))
                    .collect::<Vec<_>>()
                    .join(","),
                _ => format!(
                    "\"v\": {{\"use_extended_paths\": true, \"extended_paths\": {{\"white_list\": [{all}]}}}}"
                ),
            };
            let text = format!(
                r#"{{"use_keyless": true, "proxy": {{"listen_path": "/", "target_url": "http://a"}},
                "version_data": {{"not_versioned": true, "versions": {{{all}}}}}}}"#
            );
            let document = Document::parse_json("api.json", &text).unwrap();
            let told = check_definition("api.json", document).unwrap_err();
            assert_eq!(told.len(), 500, "{told}");
        };
        check("versions", "null");
        check("paths", r#"{"path": "/a("}"#);
    }
}
