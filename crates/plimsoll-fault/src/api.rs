//! Toxiproxy's API (2.12.0), and what there is beyond it.
//!
//! <https://github.com/Shopify/toxiproxy#http-api>; where that is silent, its `api.go` decides.

mod answer;
mod detour;
mod guard;
mod metrics;
mod proxies;
mod route;
mod toxics;
mod turns;

pub use guard::Guard;

use crate::config::Metrics;
use crate::error::ApiError;
use crate::go_json::{self, Object};
use crate::proxies::{Proxies, Wanted};
use plimsoll_base::log::Log;
use plimsoll_http::RequestHead;
use plimsoll_http::pages::Page;
use route::{Method, Route};
use serde_json::Value;
use tokio::sync::Mutex;

/// The version of Toxiproxy whose API this is.
pub const TOXIPROXY: &str = "2.12.0";

/// The API, and what it is about.
pub struct Api {
    /// All proxies. A request holds them for as long as the shards take to carry it out, which never wait for a peer, and as a name to listen
    /// at takes to be found.
    pub proxies: Mutex<Proxies>,
    /// Who may ask.
    pub guard: Guard,
    /// Families of `/metrics`.
    pub metrics: Metrics,
    /// Where lines for the operator go.
    pub log: Log,
}

impl Api {
    /// Answers a request.
    pub async fn answer(&self, head: &RequestHead, body: &[u8]) -> Page {
        let Some(route) = Route::of(head.path()) else {
            return answer::not_found();
        };
        if route == Route::Metrics && self.metrics == Metrics::default() {
            return answer::not_found();
        }
        let Some(method) = Method::of(head.method()).filter(|method| route.takes(*method)) else {
            return answer::method_not_allowed();
        };
        let page = match self.guard.refuse(head) {
            Some(refusal) => refusal,
            None => self
                .carry_out(method, route, body)
                .await
                .unwrap_or_else(|error| answer::error(&error)),
        };
        answer::with_request_id(page)
    }

    async fn carry_out(&self, method: Method, route: Route, body: &[u8]) -> Result<Page, ApiError> {
        let mut proxies = self.proxies.lock().await;
        let proxies = &mut *proxies;
        Ok(match (route, method) {
            (Route::Version, _) => answer::version(),
            (Route::Metrics, _) => metrics::page(proxies, self.metrics),
            (Route::Turns, _) => turns::page(proxies),
            (Route::Detour(name), _) => {
                detour::set(proxies.get(&name)?, body)?;
                answer::nothing()
            }
            (Route::Reset, _) => {
                proxies.reset().await?;
                answer::nothing()
            }
            (Route::Populate, _) => self.populate(proxies, body).await,
            (Route::Proxies, Method::Get) => answer::json(200, &proxies::index(proxies)),
            (Route::Proxies, _) => {
                let created = proxies.create(self.wanted(body)?).await?;
                answer::json(201, &proxies::proxy(created))
            }
            (Route::Proxy(name), Method::Get) => {
                answer::json(200, &proxies::proxy(proxies.get(&name)?))
            }
            (Route::Proxy(name), Method::Delete) => {
                proxies.remove(&name).await?;
                answer::nothing()
            }
            (Route::Proxy(name), _) => {
                let wanted = self.changed(body, Wanted::like(proxies.get(&name)?))?;
                let updated = proxies.update(&name, wanted).await?;
                answer::json(200, &proxies::proxy(updated))
            }
            (Route::Toxics(name), Method::Get) => {
                answer::json(200, &toxics::list(&proxies.get(&name)?.toxics))
            }
            (Route::Toxics(name), _) => {
                // Who names no proxy is told so first.
                proxies.get(&name)?;
                let toxic = self.toxic(body)?;
                let added = proxies.add_toxic(&name, toxic).await?;
                answer::json(200, &toxics::toxic(&added))
            }
            (Route::Toxic(name, toxic), Method::Get) => {
                answer::json(200, &toxics::toxic(proxies.get(&name)?.toxic(&toxic)?))
            }
            (Route::Toxic(name, toxic), Method::Delete) => {
                proxies.remove_toxic(&name, &toxic).await?;
                answer::nothing()
            }
            (Route::Toxic(name, toxic), _) => {
                let changed = {
                    let known = proxies.get(&name)?.toxic(&toxic)?;
                    let value = go_json::first(body)?;
                    let mut object = Object::new(&value, "")?;
                    let changed = toxics::changed(known, &mut object)?;
                    self.tell_unknown(&object, toxics::ECHOED);
                    changed
                };
                let updated = proxies.update_toxic(&name, changed).await?;
                answer::json(200, &toxics::toxic(&updated))
            }
        })
    }

    /// The proxy that a body asks for.
    fn wanted(&self, body: &[u8]) -> Result<Wanted, ApiError> {
        let wanted = self.changed(body, Wanted::default())?;
        proxies::complete(wanted, "")
    }

    /// A proxy with the changes that a body asks for; its name stays.
    fn changed(&self, body: &[u8], from: Wanted) -> Result<Wanted, ApiError> {
        let value = go_json::first(body)?;
        let mut object = Object::new(&value, "Proxy")?;
        let changed = proxies::changed(from, &mut object)?;
        self.tell_unknown(&object, proxies::ECHOED);
        Ok(changed)
    }

    fn toxic(&self, body: &[u8]) -> Result<crate::toxic::Toxic, ApiError> {
        let value = go_json::first(body)?;
        let mut object = Object::new(&value, "ToxicWrapper")?;
        let toxic = toxics::new(&mut object)?;
        self.tell_unknown(&object, &[]);
        Ok(toxic)
    }

    /// Makes all proxies of a body; those before the first that cannot be made are kept.
    async fn populate(&self, proxies: &mut Proxies, body: &[u8]) -> Page {
        let wanted = match self.all_wanted(body) {
            Ok(wanted) => wanted,
            Err(error) => return answer::populated(Value::Null, Some(&error)),
        };
        let mut made = Vec::new();
        let mut failure = None;
        for wanted in wanted {
            match proxies.put(wanted).await {
                Ok(proxy) => made.push(proxies::proxy(proxy)),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        let made = match made.is_empty() {
            // Go's nil slice.
            true => Value::Null,
            false => made.into(),
        };
        answer::populated(made, failure.as_ref())
    }

    /// The proxies of a list, all checked.
    ///
    /// # Errors
    /// It is no list of proxies, or one lacks something.
    pub fn all_wanted(&self, body: &[u8]) -> Result<Vec<Wanted>, ApiError> {
        let value = go_json::first(body)?;
        let list = match &value {
            Value::Array(list) => list.as_slice(),
            Value::Null => &[],
            _ => return Err(ApiError::bad_body("this is not a list of proxies")),
        };
        let read = |(index, value)| {
            let mut object = Object::new(value, "Proxy")?;
            let wanted = proxies::changed(Wanted::default(), &mut object)?;
            self.tell_unknown(&object, proxies::ECHOED);
            proxies::complete(wanted, &format!(" at proxy {}", index + 1))
        };
        list.iter().enumerate().map(read).collect()
    }

    /// Names what is ignored because Toxiproxy ignores it, unless it is what the API itself says of such an object.
    fn tell_unknown(&self, object: &Object<'_>, echoed: &[&str]) {
        for name in object.unknown() {
            if !echoed.contains(&name) {
                let name = plimsoll_base::visible::visible(name);
                (self.log)(&format!("fault: the API has no field `{name}`: ignored"));
            }
        }
    }
}
