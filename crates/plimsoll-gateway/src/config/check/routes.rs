//! Routes: their paths, what they lead to, and rules that a wider one would weaken.

use super::super::wire::{GatewayFile, RouteBlock};
use super::super::{Recording, RouteConfig};
use super::{Checker, policies, rules, sharding};
use crate::answering::overrides::Overrides;
use crate::messages::path;
use plimsoll_base::document::Path;
use plimsoll_http::decode::is_token;
use plimsoll_http::prefix;
use std::collections::HashMap;

/// The routes, in their order.
pub(super) fn routes(c: &mut Checker<'_>, wire: &GatewayFile) -> Vec<RouteConfig> {
    let blocks = &wire.routes;
    if blocks.is_empty() {
        c.refuse("routes", "at least one route is needed");
    }
    let mut routes: Vec<RouteConfig> = Vec::new();
    // The first route of each path.
    let mut known: HashMap<&str, usize> = HashMap::new();
    let all = Path::root().key("routes");
    for (index, block) in blocks.iter().enumerate() {
        let at = all.index(index);
        if let Err(message) = check_prefix(&block.path) {
            c.refuse(at.key("path"), message);
        }
        let first = *known.entry(&block.path).or_insert(index);
        if first < index {
            let message = format!("routes[{first}] has this path already");
            c.refuse(at.key("path"), message);
        }
        let (key, rate_limit) = policies::policies(c, &at.key("policies"), block.policies.as_ref());
        routes.push(RouteConfig {
            path: block.path.clone(),
            strip: block.strip,
            prepend: prepend(c, &at.key("prepend"), block.prepend.as_deref()),
            root: None,
            rules: rules::rules(c, &at.key("rules"), &block.rules),
            serves: sharding::serves(c, &at, block, wire),
            upgrades: upgrades(c, &at.key("upgrades"), &block.upgrades),
            key,
            session: None,
            rate_limit,
            overrides: Overrides::default(),
            batches: false,
            expiry: None,
            recording: Recording {
                off: block.unrecorded,
                detailed: wire
                    .analytics
                    .as_ref()
                    .is_some_and(|a| a.detailed.is_some()),
                ..Recording::default()
            },
        });
    }
    refuse_unmarked_weaker(c, blocks, &routes);
    routes
}

/// The protocols that a route lets clients switch to. HTTP is not among them: its requests would pass every rule of this gateway unseen.
fn upgrades(c: &mut Checker<'_>, at: &Path, texts: &[String]) -> Vec<String> {
    let mut protocols: Vec<String> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let protocol = text.to_ascii_lowercase();
        let name = protocol.split('/').next().unwrap_or_default();
        if !protocol
            .splitn(2, '/')
            .all(|part| is_token(part.as_bytes()))
        {
            let message = format!("`{text}` is not the name of a protocol: write `websocket`");
            c.refuse(at.index(index), message);
        } else if matches!(name, "h2c" | "h2" | "http" | "tls") {
            let message = format!(
                "`{text}` would take requests past the rules of this gateway: only protocols other than HTTP, such as `websocket`"
            );
            c.refuse(at.index(index), message);
        } else if protocols.contains(&protocol) {
            c.refuse(at.index(index), "this protocol is listed twice");
        }
        protocols.push(protocol);
    }
    protocols
}

/// Prefix of forwarded paths, without a slash at its end.
fn prepend(c: &mut Checker<'_>, at: &Path, written: Option<&str>) -> String {
    let Some(written) = written else {
        return String::new();
    };
    let prefix = written.trim_end_matches('/');
    let is_normal = prefix.is_empty() || path::normalise(prefix).is_ok_and(|path| path == prefix);
    if !written.starts_with('/') || !is_normal {
        c.refuse(
            at,
            format!("`{written}` is not a path in its normal form: write for instance `/v1`"),
        );
    }
    prefix.to_owned()
}

fn check_prefix(prefix: &str) -> Result<(), String> {
    match path::normalise(prefix) {
        Err(error) => Err(format!("{error}: write `/` or `/api/v1`")),
        Ok(normal) if normal != prefix => Err(format!("write it in its normal form: `{normal}`")),
        Ok(_) if prefix.len() > 1 && prefix.ends_with('/') => Err(format!(
            "a route covers whole segments: write `{}`",
            prefix.trim_end_matches('/')
        )),
        Ok(_) => Ok(()),
    }
}

/// A nested route takes its requests away from the enclosing one, and with them that route's policies.
fn refuse_unmarked_weaker(c: &mut Checker<'_>, blocks: &[RouteBlock], routes: &[RouteConfig]) {
    let mut by_stem: HashMap<&str, Vec<&RouteConfig>> = HashMap::new();
    for route in routes {
        let of_stem = by_stem.entry(prefix::stem(&route.path)).or_default();
        of_stem.push(route);
    }
    for (index, inner) in routes
        .iter()
        .enumerate()
        .filter(|(index, _)| !blocks[*index].allow_weaker_auth)
    {
        // Looked up by what may enclose it, as there may be many routes.
        let ends = inner.path.match_indices('/').map(|(end, _)| end);
        let stems = ends.chain([inner.path.len()]).map(|end| &inner.path[..end]);
        let enclosing = stems
            .filter_map(|stem| by_stem.get(stem))
            .flatten()
            .filter(|outer| outer.path != inner.path && prefix::covers(&outer.path, &inner.path));
        let weaker = enclosing
            .filter_map(|outer| Some((outer, policies::weaker(outer, inner)?)))
            .max_by_key(|(outer, _)| outer.path.len());
        if let Some((outer, how)) = weaker {
            let message = format!(
                "{how} than the enclosing route `{}`: demand as much, or write `allow_weaker_auth: true` if that is meant",
                outer.path
            );
            c.refuse(Path::root().key("routes").index(index).key("path"), message);
        }
    }
}
