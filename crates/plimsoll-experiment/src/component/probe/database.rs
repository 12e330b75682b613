//! Probes by a database's own statistics: `postgresql: postgresql://user:${env:PASSWORD}@host/database` and
//! `redis: redis://:${env:PASSWORD}@host:6379`.
//!
//! Passwords are substitutions, which are made when the run begins, as they stand: nothing in them is decoded.

use super::super::address::{self, Scheme};
use crate::loader::Loader;
use crate::template::{Reference, Template};
use plimsoll_base::document::Path as Pointer;
use tokio_postgres::Config;

/// Redis's own port.
const REDIS_PORT: u16 = 6379;
/// Values of `sslmode` for a connection in plaintext.
const IN_CLEAR: [&str; 3] = ["disable", "allow", "prefer"];

/// A PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresqlProbe {
    /// Where it is and who asks, without the password.
    pub config: Config,
    /// The password.
    pub password: Option<Template>,
}

/// A Redis server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisProbe {
    /// The host's name or address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Who asks; `None` is the default user.
    pub user: Option<String>,
    /// The password.
    pub password: Option<Template>,
}

/// `component`: the name of the component that is looked at.
pub(super) fn postgresql(
    loader: &mut Loader<'_>,
    component: &str,
    url: &str,
    at: &Pointer,
) -> Option<PostgresqlProbe> {
    let form = "write for instance `postgresql://monitor:${env:PASSWORD}@host:5432/database`";
    let (bare, written) = without_password(url);
    if !["postgresql://", "postgres://"]
        .iter()
        .any(|scheme| bare.starts_with(scheme))
    {
        loader.refuse(at, format!("this is not an address of PostgreSQL: {form}"));
        return None;
    }
    let password = password(loader, component, written, at)?;
    let mode = bare.split_once("sslmode=").map(|(_, rest)| rest);
    let mode = mode.map(|rest| rest.split('&').next().unwrap_or(rest));
    if let Some(mode) = mode.filter(|mode| !IN_CLEAR.contains(mode)) {
        loader.refuse(
            at,
            format!("`sslmode={mode}` asks for TLS, which probes do not speak in this version: write `sslmode=disable`, or remove it"),
        );
        return None;
    }
    let config: Config = match bare.parse() {
        Ok(config) => config,
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let cause = cause.unwrap_or_else(|| error.to_string());
            loader.refuse(
                at,
                format!("this is not an address of PostgreSQL ({cause}): {form}"),
            );
            return None;
        }
    };
    if config.get_password().is_some() {
        refuse_open_password(loader, at);
        return None;
    }
    if config.get_hosts().is_empty() {
        loader.refuse(at, format!("names no host: {form}"));
        return None;
    }
    Some(PostgresqlProbe { config, password })
}

/// `component`: the name of the component that is looked at.
pub(super) fn redis(
    loader: &mut Loader<'_>,
    component: &str,
    url: &str,
    at: &Pointer,
) -> Option<RedisProbe> {
    let form = "write for instance `redis://:${env:PASSWORD}@host:6379`";
    let (bare, written) = without_password(url);
    if bare.starts_with("rediss://") {
        loader.refuse(
            at,
            "`rediss://` asks for TLS, which probes do not speak in this version: write `redis://`",
        );
        return None;
    }
    let password = password(loader, component, written, at)?;
    let address = bare.strip_prefix("redis://").and_then(|rest| {
        let (user, rest) = rest.split_once('@').unwrap_or(("", rest));
        let authority = rest.split('/').next().unwrap_or(rest);
        let names_port = authority.rsplit(']').next()?.contains(':');
        let port = if names_port {
            String::new()
        } else {
            format!(":{REDIS_PORT}")
        };
        let address = address::parse(&format!("{}://{authority}{port}", Scheme::Tcp.name()));
        Some((user.to_owned(), address.ok()?))
    });
    let Some((user, address)) = address else {
        loader.refuse(at, format!("this is not an address of Redis: {form}"));
        return None;
    };
    if !user.is_empty() && password.is_none() {
        loader.refuse(
            at,
            format!("`{user}` has no password here: write `redis://{user}:${{env:PASSWORD}}@…`"),
        );
        return None;
    }
    Some(RedisProbe {
        host: address.host,
        port: address.port,
        user: Some(user).filter(|user| !user.is_empty()),
        password,
    })
}

/// The address without what stands between the first colon and the `@` of its authority, and that.
fn without_password(url: &str) -> (String, Option<&str>) {
    let found = url.find("://").and_then(|scheme| {
        let start = scheme + 3;
        let end = start + url[start..].find('@')?;
        let colon = start + url[start..end].find(':')?;
        Some((colon, end))
    });
    match found {
        Some((colon, end)) => (
            format!("{}{}", &url[..colon], &url[end..]),
            Some(&url[colon + 1..end]),
        ),
        None => (url.to_owned(), None),
    }
}

/// Template of a password; the outer `None`: it may not be that.
fn password(
    loader: &mut Loader<'_>,
    component: &str,
    written: Option<&str>,
    at: &Pointer,
) -> Option<Option<Template>> {
    let Some(written) = written else {
        return Some(None);
    };
    let problems = loader.problem_count();
    let template = loader.template(at, written, Some(component));
    if loader.problem_count() > problems {
        return None;
    }
    let references = template.references();
    let is_kept = |reference: &&Reference| {
        matches!(reference, Reference::Environment(_) | Reference::File(_))
    };
    if references.is_empty() || !references.iter().all(is_kept) {
        refuse_open_password(loader, at);
        return None;
    }
    Some(Some(template))
}

fn refuse_open_password(loader: &mut Loader<'_>, at: &Pointer) {
    loader.refuse(
        at,
        "a password does not stand in the file: write `${env:NAME}` or `${file:PATH}` between user and `@`",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out() {
        let check = |url: &str, bare: &str, password: Option<&str>| {
            assert_eq!(without_password(url), (bare.to_owned(), password));
        };
        check("redis://h:1", "redis://h:1", None);
        check("redis://:${env:P}@h:1", "redis://@h:1", Some("${env:P}"));
        check(
            "postgresql://u:${file:a/b}@h/d?x=y",
            "postgresql://u@h/d?x=y",
            Some("${file:a/b}"),
        );
        check("nonsense", "nonsense", None);
    }
}
