//! Proxies as the API reads and writes them.

use super::toxics;
use crate::error::ApiError;
use crate::go_json::Object;
use crate::proxies::{Proxies, Proxy, Wanted};
use serde_json::{Map, Value, json};

/// Fields that the API says of a proxy and does not read back.
pub const ECHOED: &[&str] = &["Logger", "toxics"];

/// All, by name.
pub fn index(proxies: &Proxies) -> Value {
    let named = proxies.iter();
    let named = named.map(|known| (known.name.to_string(), proxy(known)));
    named.collect::<Map<_, _>>().into()
}

/// One. `Logger` is what Go makes of a field that Toxiproxy forgot to leave out.
pub fn proxy(proxy: &Proxy) -> Value {
    json!({
        "name": &*proxy.name,
        "listen": proxy.listen,
        "upstream": proxy.upstream,
        "enabled": proxy.enabled,
        "Logger": {},
        "toxics": toxics::list(&proxy.toxics),
    })
}

/// A proxy with the changes of an object. Its name is set only where it has none.
pub fn changed(from: Wanted, object: &mut Object<'_>) -> Result<Wanted, ApiError> {
    let name = object.string("name")?;
    Ok(Wanted {
        name: match from.name.is_empty() {
            true => name.unwrap_or_default(),
            false => from.name,
        },
        listen: object.string("listen")?.unwrap_or(from.listen),
        upstream: object.string("upstream")?.unwrap_or(from.upstream),
        enabled: object.boolean("enabled")?.unwrap_or(from.enabled),
    })
}

/// The proxy, which has what it needs; `place` says which one of several it is.
pub fn complete(wanted: Wanted, place: &str) -> Result<Wanted, ApiError> {
    for (value, name) in [(&wanted.name, "name"), (&wanted.upstream, "upstream")] {
        if value.is_empty() {
            return Err(ApiError::missing(format_args!("{name}{place}")));
        }
    }
    Ok(wanted)
}
