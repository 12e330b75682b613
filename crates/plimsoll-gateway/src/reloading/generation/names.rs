//! Names of routes and keys, as records say them.

use crate::config::{GatewayConfig, RouteConfig, Serves};
use crate::origin::Origin;
use crate::policy::key::Accepted;
use plimsoll_records::{ApiNames, Names};

/// The names of a configuration of this gateway.
pub(crate) fn names(config: &GatewayConfig, origin: &Origin) -> Names {
    let keys = |route: &RouteConfig| {
        let keys = route.key.iter().flat_map(|key| &key.keys);
        keys.map(Accepted::name).collect()
    };
    let routes = config.routes.iter();
    let start_micros = u64::try_from(origin.since_epoch.as_micros()).unwrap_or(0);
    Names {
        // The pseudonym alone may come again, once in four billion starts.
        origin: format!("{}-{start_micros:x}", origin.pseudonym()),
        start_micros,
        routes: routes.clone().map(|route| route.path.clone()).collect(),
        keys: routes.clone().map(keys).collect(),
        apis: routes.map(|route| api_names(route, config)).collect(),
    }
}

fn api_names(route: &RouteConfig, config: &GatewayConfig) -> ApiNames {
    let upstream = match route.serves {
        Serves::Upstream(index) => config.upstreams.get(index),
        Serves::Shard | Serves::Control => None,
    };
    let endpoint = upstream.and_then(|upstream| upstream.endpoints.first());
    let recording = &route.recording;
    ApiNames {
        id: recording.id.clone().unwrap_or_else(|| route.path.clone()),
        name: recording.name.clone().unwrap_or_else(|| route.path.clone()),
        organisation: recording.organisation.clone(),
        target: endpoint.map_or_else(String::new, |endpoint| endpoint.authority()),
        strips: route.strip,
        expires_after: recording.expires_after,
    }
}
