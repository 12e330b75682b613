//! How far a request is from a pattern, for near misses: 0 where it matches, at most 1.
//!
//! WireMock 3.13.2's measure: the mean over what is asked for, by weight. The parts beyond the address count only once it matches.

use super::{More, RequestPattern, named};
use crate::budget::{Budget, TooCostly};
use crate::matcher::edit_distance::text_distance;
use crate::matcher::several::Several;
use crate::request::Request;
use crate::request::content::Content;
use crate::request::parameters::Parameters;
use crate::stub::request_pattern::url_pattern::UrlPattern;

/// The weights of URL, host and port.
const ADDRESS: f64 = 10.0;
/// The weights of method, scheme and the client's address.
const MANNER: f64 = 3.0;
/// The weight of each kind of what remains: path parameters, headers, query, form, cookies, bodies, parts.
const REST: f64 = 1.0;

impl RequestPattern {
    /// How far a request is from matching.
    pub fn distance(&self, request: &Request<'_>, budget: &Budget) -> Result<f64, TooCostly> {
        let more = self.more.as_deref();
        let (host, port, scheme, client) = match more {
            Some(more) => more.address_distances(request, budget)?,
            None => (0.0, 0.0, 0.0, 0.0),
        };
        let method = far_unless(self.method.holds(request.method));
        let url = url_distance(&self.url, request, budget)?;
        let first = ADDRESS * (url + host + port) + MANNER * (method + scheme + client);
        let first_weight = 3.0 * ADDRESS + 3.0 * MANNER;
        if first > 0.0 {
            return Ok(first / first_weight);
        }
        let mut rest = vec![mean(self.headers.iter().map(|(name, pattern)| {
            pattern.distance(request.fields.get_all(name), budget)
        }))?];
        match more {
            Some(more) => rest.extend(more.other_distances(request, &self.url, budget)?),
            None => rest.extend([0.0; 6]),
        }
        let weight = first_weight + REST * rest.len() as f64;
        Ok(rest.iter().sum::<f64>() * REST / weight)
    }
}

impl More {
    /// Of host, port, scheme and client.
    fn address_distances(
        &self,
        request: &Request<'_>,
        budget: &Budget,
    ) -> Result<(f64, f64, f64, f64), TooCostly> {
        let host = match &self.host {
            Some(host) => host.distance(Some(&Content::of(request.host().as_bytes())), budget)?,
            None => 0.0,
        };
        let client = match &self.client {
            Some(client) => {
                let address = request.channel.client.map(|address| address.to_string());
                client.distance(address.map(Content::text_of).as_ref(), budget)?
            }
            None => 0.0,
        };
        let port = far_unless(self.port.is_none_or(|port| port == request.port()));
        let own = request.channel.scheme.name();
        let scheme = far_unless(self.scheme.as_deref().is_none_or(|scheme| scheme == own));
        Ok((host, port, scheme, client))
    }

    /// Of path parameters, query, form, cookies, bodies and parts.
    fn other_distances(
        &self,
        request: &Request<'_>,
        url: &UrlPattern,
        budget: &Budget,
    ) -> Result<[f64; 6], TooCostly> {
        let path = far_unless(self.holds_on_path(request, url)?);
        let query = named_distance(&self.query, request.query_parameters(), budget)?;
        let form = if self.form.is_empty() {
            0.0
        } else {
            named_distance(&self.form, request.form_parameters()?, budget)?
        };
        let cookies = far_unless(self.holds_on_cookies(request)?);
        let body = Some(&request.body).filter(|body| !body.bytes().is_empty());
        let bodies = mean(
            self.bodies
                .iter()
                .map(|pattern| pattern.distance(body, budget)),
        )?;
        let parts = mean(
            self.parts
                .iter()
                .map(|pattern| Ok(far_unless(pattern.holds(request)?))),
        )?;
        Ok([path, query, form, cookies, bodies, parts])
    }
}

fn url_distance(
    url: &UrlPattern,
    request: &Request<'_>,
    budget: &Budget,
) -> Result<f64, TooCostly> {
    match url {
        UrlPattern::Url(url) => text_distance(url, request.url, budget),
        UrlPattern::Path(path) => text_distance(path, request.path, budget),
        other => Ok(far_unless(other.holds(request)?)),
    }
}

fn named_distance(
    patterns: &[(String, Several)],
    parameters: &Parameters,
    budget: &Budget,
) -> Result<f64, TooCostly> {
    mean(
        patterns
            .iter()
            .map(|(name, pattern)| pattern.distance(named(parameters, name), budget)),
    )
}

fn mean(distances: impl Iterator<Item = Result<f64, TooCostly>>) -> Result<f64, TooCostly> {
    let (mut sum, mut count) = (0.0, 0.0);
    for distance in distances {
        sum += distance?;
        count += 1.0;
    }
    Ok(if count > 0.0 { sum / count } else { 0.0 })
}

fn far_unless(holds: bool) -> f64 {
    if holds { 0.0 } else { 1.0 }
}
