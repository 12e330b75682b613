//! Where an API's requests go: one URL, or several that take turns.

use super::super::definition::Proxy;
use super::Check;
use crate::config::EndpointConfig;
use crate::path;
use plimsoll_base::document::Path;

/// Endpoints, and the path that is put before what is forwarded to them.
pub(super) struct Target {
    pub(super) endpoints: Vec<EndpointConfig>,
    pub(super) prepend: String,
    /// What is forwarded where nothing else is left of a request's path, if that is not a slash.
    pub(super) root: Option<String>,
}

pub(super) fn target(c: &mut Check<'_>, proxy: &Proxy) -> Target {
    let at = Path::root().key("proxy");
    let balanced = proxy.enable_load_balancing.unwrap_or(false);
    let several = proxy.target_list.as_deref().unwrap_or_default();
    let urls: Vec<(Path, &str)> = if balanced {
        let list = at.key("target_list");
        let places = several.iter().enumerate();
        places
            .map(|(index, url)| (list.index(index), url.as_str()))
            .collect()
    } else {
        proxy
            .target_url
            .iter()
            .map(|url| (at.key("target_url"), url.as_str()))
            .collect()
    };
    if urls.is_empty() {
        let (at, message) = match balanced {
            true => (
                at.key("target_list"),
                "load balancing needs a list of targets",
            ),
            false => (at.key("target_url"), "the target is missing: add it"),
        };
        c.refuse(at, message);
    }
    let mut target = Target {
        endpoints: Vec::new(),
        prepend: String::new(),
        root: None,
    };
    for (index, (at, url)) in urls.into_iter().enumerate() {
        match split(url) {
            Err(message) => c.refuse(at, message),
            Ok((endpoint, path)) => {
                let prepend = path.trim_end_matches('/').to_owned();
                if index > 0 && prepend != target.prepend {
                    c.refuse(at, "the targets of one API have the same path here");
                }
                // As the target has it, or without the slash at its end.
                let root = match proxy.disable_strip_slash {
                    Some(true) => path,
                    _ => prepend.clone(),
                };
                target.root = Some(root).filter(|_| !prepend.is_empty());
                target.prepend = prepend;
                target.endpoints.push(endpoint);
            }
        }
    }
    target
}

/// `http://host:port/path` as an endpoint and a path.
fn split(url: &str) -> Result<(EndpointConfig, String), String> {
    // A target without a scheme is plain HTTP to Tyk, too, in a list of several.
    let with_scheme = match url.contains("://") {
        true => url.to_owned(),
        false => format!("http://{url}"),
    };
    let after = with_scheme.find("://").map_or(0, |at| at + 3);
    let end = with_scheme[after..]
        .find('/')
        .map_or(with_scheme.len(), |at| after + at);
    let (authority, path) = with_scheme.split_at(end);
    let prepend = path.trim_end_matches('/');
    if !prepend.is_empty() && !path::normalise(prepend).is_ok_and(|normal| normal == prepend) {
        return Err(format!(
            "`{path}` is not a path in its normal form, without a query"
        ));
    }
    let endpoint = crate::config::endpoint(authority)?;
    match endpoint.secured {
        true => Err(
            "TLS to upstreams is not available with Tyk's files in this version: write `http://…`"
                .to_owned(),
        ),
        false => Ok((endpoint, path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_split_into_where_and_what_is_put_before() {
        let check = |url: &str, expected: Option<(&str, u16, &str)>| {
            let split = split(url).ok();
            let actual = split
                .as_ref()
                .map(|(at, prepend)| (&*at.host, at.port, &**prepend));
            assert_eq!(actual, expected, "{url}");
        };
        check("http://a", Some(("a", 80, "")));
        check("http://A:9000/", Some(("a", 9000, "/")));
        check("http://a:9000/v1/x/", Some(("a", 9000, "/v1/x/")));
        check("a:9000", Some(("a", 9000, "")));
        check("https://a", None);
        check("http://a/x?y=1", None);
        check("http://a/../x", None);
        check("tyk://self", None);
        check("", None);
    }
}
