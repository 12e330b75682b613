//! Where an API's requests go: one URL, or several that take turns.

use super::super::definition::Proxy;
use super::Check;
use crate::config::EndpointConfig;
use crate::messages::path;
use plimsoll_base::document::Path;

/// Endpoints, and the path that is put before what is forwarded to them.
pub(super) struct Target {
    /// Secured all of them, or none.
    pub(super) endpoints: Vec<EndpointConfig>,
    /// They speak HTTP/2 and nothing else.
    pub(super) http2: bool,
    pub(super) prepend: String,
    /// Path forwarded where nothing else is left of a request's path, if that is not a slash.
    pub(super) root: Option<String>,
}

/// Where the targets that count are written.
pub(super) fn place(proxy: &Proxy) -> Path {
    let name = match proxy.enable_load_balancing {
        Some(true) => "target_list",
        _ => "target_url",
    };
    Path::root().key("proxy").key(name)
}

pub(super) fn target(c: &mut Check<'_>, proxy: &Proxy) -> Target {
    let at = place(proxy);
    let balanced = proxy.enable_load_balancing.unwrap_or(false);
    let several = proxy.target_list.as_deref().unwrap_or_default();
    let urls: Vec<(Path, &str)> = if balanced {
        let places = several.iter().enumerate();
        places
            .map(|(index, url)| (at.index(index), url.as_str()))
            .collect()
    } else {
        let one = proxy.target_url.iter();
        one.map(|url| (at.clone(), url.as_str())).collect()
    };
    if urls.is_empty() {
        let message = match balanced {
            true => "load balancing needs a list of targets",
            false => "the target is missing: add it",
        };
        c.refuse(at, message);
    }
    let mut target = Target {
        endpoints: Vec::new(),
        http2: false,
        prepend: String::new(),
        root: None,
    };
    for (at, url) in urls {
        match split(url) {
            Err(message) => c.refuse(at, message),
            Ok(split) => target.add(c, at, split, proxy),
        }
    }
    target
}

impl Target {
    fn add(&mut self, c: &mut Check<'_>, at: Path, split: Split, proxy: &Proxy) {
        let prepend = split.path.trim_end_matches('/').to_owned();
        if let Some(first) = self.endpoints.first() {
            if prepend != self.prepend {
                c.refuse(at.clone(), "the targets of one API have the same path here");
            }
            if split.endpoint.secured != first.secured {
                let message = "some targets of this API are `https` and some are not: write one of the two everywhere";
                c.refuse(at.clone(), message);
            }
        }
        if split.http2 && proxy.enable_load_balancing == Some(true) {
            c.note(
                &at,
                "in a list `h2c` is plain `http`, as it is to Tyk: HTTP/1.1 is spoken there",
            );
        } else {
            self.http2 = split.http2;
        }
        // As the target has it, or without the slash at its end.
        let root = match proxy.disable_strip_slash {
            Some(true) => split.path,
            _ => prepend.clone(),
        };
        self.root = Some(root).filter(|_| !prepend.is_empty());
        self.prepend = prepend;
        self.endpoints.push(split.endpoint);
    }
}

/// A target's URL, in parts.
struct Split {
    endpoint: EndpointConfig,
    path: String,
    /// It is `h2c`: HTTP/2 in plaintext.
    http2: bool,
}

/// `http://host:port/path` in parts, or the same with `https` or `h2c`.
fn split(url: &str) -> Result<Split, String> {
    if url.starts_with("tyk://") {
        let message = "no API calls another from within here: write the URL of what that API leads to, or the gateway's own";
        return Err(message.to_owned());
    }
    let http2 = url.starts_with("h2c://");
    // A target without a scheme is plain HTTP to Tyk, too, in a list of several.
    let with_scheme = match url.split_once("://") {
        Some(("h2c", rest)) => format!("http://{rest}"),
        Some(_) => url.to_owned(),
        None => format!("http://{url}"),
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
    Ok(Split {
        endpoint: crate::config::endpoint(authority)?,
        path: path.to_owned(),
        http2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_split_into_what_is_spoken_where_and_what_is_put_before() {
        let check = |url: &str, expected: Option<(&str, u16, &str)>| {
            let split = split(url).ok();
            let actual = split.as_ref().map(|split| {
                let spoken = match (split.endpoint.secured, split.http2) {
                    (true, _) => "https",
                    (false, true) => "h2c",
                    (false, false) => "http",
                };
                let whole = format!("{spoken}://{}", split.endpoint.host);
                (whole, split.endpoint.port, &*split.path)
            });
            let expected = expected.map(|(whole, port, path)| (whole.to_owned(), port, path));
            assert_eq!(actual, expected, "{url}");
        };
        check("http://a", Some(("http://a", 80, "")));
        check("http://A:9000/", Some(("http://a", 9000, "/")));
        check("http://a:9000/v1/x/", Some(("http://a", 9000, "/v1/x/")));
        check("a:9000", Some(("http://a", 9000, "")));
        check("https://a", Some(("https://a", 443, "")));
        check(
            "https://[::1]:8443/v1",
            Some(("https://[::1]", 8443, "/v1")),
        );
        check("h2c://a/v1", Some(("h2c://a", 80, "/v1")));
        check("http://a/x?y=1", None);
        check("http://a/../x", None);
        check("tyk://self", None);
        check("wss://a", None);
        check("", None);
    }
}
