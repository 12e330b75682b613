//! Which rule counts for which error, of the gateway's own and of an upstream.

use super::*;

fn rule(condition: Condition, status: u16) -> Override {
    Override {
        condition,
        status: Some(status),
        fields: Vec::new(),
        text: Text::Usual,
    }
}

fn flag(name: &str) -> Condition {
    Condition {
        flag: Some(Flag::named(name)),
        ..Condition::default()
    }
}

fn pattern(pattern: &str) -> Condition {
    Condition {
        pattern: Some(Regex::new(pattern).unwrap()),
        ..Condition::default()
    }
}

fn level(exact: Vec<Override>, hundreds: Vec<Override>) -> Arc<Level> {
    Arc::new(Level {
        exact: BTreeMap::from([(403, exact)]),
        hundreds: BTreeMap::from([(4, hundreds.clone()), (5, hundreds)]),
    })
}

fn told(overrides: &Overrides, cause: ErrorKind) -> u16 {
    let error_format = ErrorFormat::Tyk(TykErrorFormat {
        strict: false,
        generator: false,
    });
    let answer = Answer::new(599, "our own words").because(cause);
    error_format
        .say(overrides.apply(error_format, answer, Media::Json))
        .status()
}

#[test]
fn the_nearest_rule_that_matches_counts() {
    let own = level(
        vec![rule(flag("QEX"), 451), rule(pattern("inactive"), 452)],
        vec![rule(pattern("(?i)^requested"), 453)],
    );
    let everybodys = level(
        vec![rule(flag("AKI"), 454), rule(Condition::default(), 455)],
        vec![rule(Condition::default(), 456)],
    );
    let overrides = Overrides(vec![own, everybodys]);
    for (cause, expected) in [
        (ErrorKind::Quota, 451),
        (ErrorKind::KeyInactive, 452),
        (ErrorKind::PathForbidden, 453),
        (ErrorKind::KeyUnknown, 454),
        (ErrorKind::KeyElsewhere, 455),
        (ErrorKind::KeyMissing, 456),
        (ErrorKind::UpstreamFailed(None), 456),
        (ErrorKind::NoRoute, 404),
    ] {
        assert_eq!(told(&overrides, cause), expected, "{cause:?}");
    }
}

/// Flags of upstreams that failed (`internal/errors/classifier.go`).
#[test]
fn an_upstreams_failure_has_tyks_flag() {
    for (kind, name) in [
        (Some(io::ErrorKind::ConnectionRefused), "UCF"),
        (Some(io::ErrorKind::TimedOut), "UCT"),
        (Some(io::ErrorKind::ConnectionReset), "URR"),
        (Some(io::ErrorKind::HostUnreachable), "NRH"),
        (Some(io::ErrorKind::NetworkUnreachable), "NRH"),
        (Some(io::ErrorKind::BrokenPipe), "EPI"),
        (Some(io::ErrorKind::ConnectionAborted), "CAB"),
        (Some(io::ErrorKind::Other), "UPE"),
        (None, "UPE"),
    ] {
        let overrides = Overrides(vec![level(vec![], vec![rule(flag(name), 418)])]);
        assert_eq!(
            told(&overrides, ErrorKind::UpstreamFailed(kind)),
            418,
            "{name}"
        );
        let other = Overrides(vec![level(vec![], vec![rule(flag("URS"), 418)])]);
        assert_eq!(told(&other, ErrorKind::UpstreamFailed(kind)), 500, "{name}");
    }
}

/// A request for which Tyk asks a server of its own has an upstream's error to it.
#[test]
fn no_endpoint_is_an_upstreams_error() {
    let of = |condition| Overrides(vec![level(vec![], vec![rule(condition, 418)])]);
    for (condition, expected) in [
        (Condition::default(), 418),
        (flag("URS"), 418),
        (flag("NHU"), 503),
        (pattern("hosts are down$"), 418),
        (pattern("no such words"), 503),
    ] {
        assert_eq!(told(&of(condition), ErrorKind::NoEndpoint), expected);
    }
}

#[test]
fn a_field_of_the_body_is_a_criterion_for_upstreams_alone() {
    let condition = |flag: Option<Flag>, pattern: Option<&str>| Condition {
        flag,
        pattern: pattern.map(|pattern| Regex::new(pattern).unwrap()),
        body: Some(BodyField::new("code", "X").unwrap()),
    };
    let meets = |condition: &Condition, body: Option<&str>| {
        condition.meets_upstreams(500, body.map(str::as_bytes))
    };
    let field = condition(None, None);
    assert!(field.meets_own(None, "any"));
    assert_eq!(meets(&field, None), None);
    assert_eq!(meets(&field, Some(r#"{"code":"X"}"#)), Some(true));
    assert_eq!(meets(&field, Some(r#"{"code":"Y"}"#)), Some(false));
    let either = condition(None, Some("oops"));
    assert!(!either.meets_own(None, "any"));
    assert_eq!(meets(&either, Some("oops")), Some(true));
    assert_eq!(meets(&either, Some(r#"{"code":"X"}"#)), Some(true));
    // A flag leaves the rest no say.
    let flagged = condition(Some(Flag::UpstreamStatus), Some("oops"));
    assert_eq!(meets(&flagged, None), Some(true));
    assert_eq!(flagged.meets_upstreams(404, Some(b"oops")), Some(false));
    let others = condition(Some(Flag::KeyInvalid), Some("oops"));
    assert_eq!(meets(&others, None), Some(false));
    assert!(
        others.meets_own(None, "oops") && others.meets_own(Flag::of(ErrorKind::KeyUnknown), "")
    );
}
