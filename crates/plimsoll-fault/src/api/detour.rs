//! `POST /plimsoll/detours/{proxy}`: the next client with this `port` is led `to` another server.

use crate::error::ApiError;
use crate::go_json::{self, Object};
use crate::proxies::Proxy;

/// Sets the detour that a body asks for.
///
/// # Errors
/// It names no port, or no address.
pub fn set(proxy: &Proxy, body: &[u8]) -> Result<(), ApiError> {
    let value = go_json::first(body)?;
    let mut object = Object::new(&value, "Detour")?;
    let to = object.string("to")?.unwrap_or_default();
    let to = to.parse().map_err(|_| ApiError::missing("to"))?;
    let port = object.string("port")?.unwrap_or_default();
    let port = port.parse().ok().filter(|port| *port != 0);
    proxy
        .detour
        .set(port.ok_or_else(|| ApiError::missing("port"))?, to);
    Ok(())
}
