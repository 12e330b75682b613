//! An API definition read, judged and compiled: fuzz targets hold it against the text.

use super::policies::Form;
use super::{Document, Problems, Settings};
use crate::config::{Serves, Surroundings};

/// An API that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// Where it listens, without the slash at its end.
    pub path: String,
    /// The field in which it asks for a key, if it asks for one.
    pub key_field: Option<String>,
    /// Requests a second that all its clients together may make, if that is limited.
    pub rate: Option<f64>,
    /// Whether rules hold for some of its paths.
    pub rules: bool,
}

/// Reads, judges and compiles a definition as at start; the API that is served by it, if it is.
///
/// # Errors
/// Every problem of it.
pub fn definition(text: &str) -> Result<Option<Served>, Problems> {
    let conf = "{\"secret\": \"any\", \"app_path\": \"apps\"}";
    let settings = Settings::parse("tyk.conf", conf, false, Surroundings::none())?;
    let document = Document::parse_json("api.json", text);
    let loaded = settings.compile([("api.json", document)], (&[], Form::Named))?;
    let routes = loaded.config.routes.into_iter();
    let mut served = routes.filter(|route| matches!(route.serves, Serves::Upstream(_)));
    let first = served.next().map(|route| Served {
        key_field: route.session.map(|session| session.header),
        rate: route.rate_limit.map(|limit| limit.rate.as_per_second()),
        rules: route.rules.is_some(),
        path: route.path,
    });
    assert!(served.next().is_none(), "one definition, two routes");
    Ok(first)
}
