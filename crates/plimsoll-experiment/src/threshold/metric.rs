//! Metrics of thresholds: that the steps and components they name exist, and their bounds as people write them.
//!
//! Which metrics there are, and their units, is the report's knowledge.

use plimsoll_base::document::{list, nearest, suggestion};
use plimsoll_base::units::{self, Rate};
use plimsoll_report::metric::Metric;
use plimsoll_report::record::Unit;

/// The names that metric paths may contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// Steps of the arm.
    pub steps: &'a [String],
    /// The checks of each of these steps; of one whose name ends with `…` the rest is not known yet.
    pub checks: &'a [Vec<String>],
    /// Groups of steps of the arm.
    pub groups: &'a [String],
    /// Components, without external ones, and the generator.
    pub components: &'a [String],
    /// Levels of the method.
    pub levels: &'a [String],
}

/// Parses a path below `arms.<arm>`; the error says what to write instead.
pub(super) fn parse(path: &str, names: Names<'_>) -> Result<Metric, String> {
    let metric = Metric::parse(path).map_err(|error| error.to_string())?;
    for (head, known) in [
        ("by_step.", names.steps),
        ("by_group.", names.groups),
        ("components.", names.components),
        ("levels.", names.levels),
    ] {
        if let Some(rest) = path.strip_prefix(head)
            && !known.iter().any(|name| is_named(&metric, head, rest, name))
        {
            return Err(format!(
                "`{path}` is not a metric: {}",
                instead(rest, head, known)
            ));
        }
    }
    match metric
        .check()
        .and_then(|check| unknown_check(check, &metric, names))
    {
        Some(message) => Err(message),
        None => Ok(metric),
    }
}

/// Why nobody counts this check; `None` if somebody does.
fn unknown_check(check: &str, metric: &Metric, names: Names<'_>) -> Option<String> {
    let steps = names.steps.iter().zip(names.checks);
    let own = steps.filter(|(step, _)| metric.step().is_none_or(|wanted| wanted == *step));
    let mut known: Vec<String> = own.flat_map(|(_, checks)| checks).cloned().collect();
    known.sort();
    known.dedup();
    let whose = (metric.step()).map_or_else(String::new, |step| format!(" of step `{step}`"));
    if known.is_empty() {
        return Some(format!(
            "there is no check{whose}: add one, such as `check: {{ status: 200 }}`, or write another metric"
        ));
    }
    let is_known = known.iter().any(|name| match name.strip_suffix('…') {
        Some(begin) => check.starts_with(begin),
        None => name == check,
    });
    (!is_known).then(|| {
        format!(
            "there is no check `{check}`{whose}: {}",
            suggestion(check, &known)
        )
    })
}

/// Advice in place of a name that is none of the known ones.
fn instead(rest: &str, head: &str, known: &[String]) -> String {
    // Names of steps may hold dots: one may be the beginning of another.
    let begins = |name: &str| {
        let mut others = known.iter().filter_map(|other| other.strip_prefix(name));
        others.any(|rest| rest.starts_with('.'))
    };
    let named = known.iter().filter(|name| !begins(name)).find_map(|name| {
        let figure = rest.strip_prefix(name.as_str())?.strip_prefix('.')?;
        Some((name, figure))
    });
    if let Some((name, figure)) = named {
        let example = match head {
            "components." => "cpu_cores_mean",
            _ => "failed_share",
        };
        return format!(
            "`{head}{name}` has no `{figure}`: write for instance `{head}{name}.{example}`"
        );
    }
    let written = known.iter().find_map(|name| {
        let length = rest.match_indices('.').map(|(at, _)| at);
        let mut names = length.map(|at| &rest[..at]);
        names.find(|written| nearest(written, std::slice::from_ref(name)).is_some())?;
        Some(format!("did you mean `{head}{name}.…`?"))
    });
    written.unwrap_or_else(|| {
        if known.is_empty() {
            let none = match head {
                "levels." => {
                    "the method has no levels: write `method: { levels: … }`, or another metric"
                }
                _ => "the scenario has no group: write one, or another metric",
            };
            return none.to_owned();
        }
        let whole: Vec<String> = known.iter().map(|name| format!("{head}{name}.…")).collect();
        format!("write {}", list(&whole))
    })
}

/// Whether `rest`, what follows `head` in the metric's path, begins with exactly `name`. Names of steps may hold dots.
fn is_named(metric: &Metric, head: &str, rest: &str, name: &str) -> bool {
    // Names of checks may hold dots too.
    if metric.check().is_some() {
        return metric.step() == Some(name);
    }
    let tail = rest
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('.'));
    tail.is_some_and(|tail| {
        metric.is_below(tail) || metric.is_below(&format!("{head}{name}.{tail}"))
    })
}

/// Parses a bound on a metric of this unit; the result is in the summary's unit. The error says what to write instead.
pub(super) fn parse_bound(unit: Unit, text: &str) -> Result<f64, String> {
    let number = |example: &str| {
        let number = text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| format!("`{text}` is not a number: write for instance `{example}`"))
    };
    match unit {
        Unit::Seconds => units::parse_duration(text).map(|duration| duration.as_secs_f64()),
        Unit::PerSecond => Rate::parse(text).map(Rate::as_per_second),
        Unit::Share => units::parse_share(text),
        Unit::Bytes => units::parse_bytes(text).map(precise),
        Unit::Count => return number("10"),
        Unit::Cores => return number("0.5"),
    }
    .map_err(|error| error.to_string())
}

#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^53 bytes")]
fn precise(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str) -> Result<Unit, String> {
        let steps = ["GET /a.json", "GET /a.json.x", "login"].map(str::to_owned);
        let components = ["upstream", "generator"].map(str::to_owned);
        let status = || vec!["status".to_owned()];
        let login = vec!["status".to_owned(), "jsonpath $.user.id equals".to_owned()];
        parse(
            path,
            Names {
                steps: &steps,
                checks: &[status(), vec!["body contains http://…".to_owned()], login],
                groups: &["buy", "buy/pay"].map(str::to_owned),
                components: &components,
                levels: &["10/s", "12.5/s"].map(str::to_owned),
            },
        )
        .map(|metric| metric.unit())
    }

    #[test]
    fn names_in_paths_exist() {
        for (path, unit) in [
            ("response_time.p99", Unit::Seconds),
            ("checks.status.failed", Unit::Count),
            ("checks.jsonpath $.user.id equals.failed", Unit::Count),
            (
                "by_step.login.checks.jsonpath $.user.id equals.failed",
                Unit::Count,
            ),
            (
                "by_step.GET /a.json.x.checks.body contains http://127.0.0.1.passed",
                Unit::Count,
            ),
            ("by_step.login.response_time.p50", Unit::Seconds),
            ("by_step.GET /a.json.x.failed", Unit::Count),
            ("by_step.GET /a.json.bytes_received", Unit::Bytes),
            ("by_step.login.outcomes.answered.503", Unit::Count),
            ("by_group.buy.duration.p95", Unit::Seconds),
            ("by_group.buy/pay.failed_share", Unit::Share),
            ("components.upstream.cpu_cores_mean", Unit::Cores),
            ("components.generator.rss_bytes_max", Unit::Bytes),
            ("levels.12.5/s.response_time.p99", Unit::Seconds),
        ] {
            assert_eq!(check(path), Ok(unit), "{path}");
        }
        let refused = [
            "by_step.logout.failed",
            "by_step.login.x.failed",
            "by_step.log.failed",
            "by_group.bye.failed_share",
            "components.db.fds_max",
            "levels.20/s.failed",
            "levels.10/s.checks.status.failed",
            "latency.p99",
            "checks.statos.failed",
            "checks.body contains ok.failed",
            "by_step.GET /a.json.checks.jsonpath $.user.id equals.failed",
            "by_step.GET /a.json.x.checks.body contains https://.failed",
            "by_step.logout.checks.status.failed",
        ]
        .map(|path| check(path).unwrap_err());
        insta::assert_snapshot!(refused.join("\n"), @r"
        `by_step.logout.failed` is not a metric: write `by_step.GET /a.json.…`, `by_step.GET /a.json.x.…` or `by_step.login.…`
        `by_step.login.x.failed` is not a metric: `by_step.login` has no `x.failed`: write for instance `by_step.login.failed_share`
        `by_step.log.failed` is not a metric: did you mean `by_step.login.…`?
        `by_group.bye.failed_share` is not a metric: write `by_group.buy.…` or `by_group.buy/pay.…`
        `components.db.fds_max` is not a metric: write `components.upstream.…` or `components.generator.…`
        `levels.20/s.failed` is not a metric: did you mean `levels.10/s.…`?
        `levels.10/s.checks.status.failed` is not a metric: `levels.10/s` has no `checks.status.failed`: write for instance `levels.10/s.failed_share`
        `latency.p99` is not a metric: after `arms.<arm>` write one of seconds, offered_per_s, achieved_per_s, good_per_s, intended, sent, in_flight, dropped, connected, reconnected, failed, failed_share, response_time, service_time, iteration_time, connection_wait, pacing_lag, connect_time, dns_time, tcp_time, tls_time, first_byte_time, body_time, failed_time, added, outcomes, reasons, by_step, by_group, checks, components, levels, capacity, links, availability
        there is no check `statos`: did you mean `status`?
        there is no check `body contains ok`: did you mean `body contains http://…`?
        there is no check `jsonpath $.user.id equals` of step `GET /a.json`: write `status`
        there is no check `body contains https://` of step `GET /a.json.x`: did you mean `body contains http://…`?
        `by_step.logout.checks.status.failed` is not a metric: write `by_step.GET /a.json.…`, `by_step.GET /a.json.x.…` or `by_step.login.…`
        ");
    }

    #[test]
    fn bounds_are_written_in_the_metrics_own_unit() {
        assert_eq!(parse_bound(Unit::Seconds, "1ms"), Ok(0.001));
        assert_eq!(parse_bound(Unit::PerSecond, "60/min"), Ok(1.0));
        assert_eq!(parse_bound(Unit::Share, "0.1%"), Ok(0.001));
        assert_eq!(parse_bound(Unit::Bytes, "1KiB"), Ok(1024.0));
        assert_eq!(parse_bound(Unit::Count, "0"), Ok(0.0));
        for (unit, bad) in [
            (Unit::Seconds, "1"),
            (Unit::PerSecond, "5"),
            (Unit::Count, "1ms"),
            (Unit::Cores, "-1"),
            (Unit::Count, "NaN"),
        ] {
            assert!(parse_bound(unit, bad).is_err(), "{bad}");
        }
    }
}
