//! Our gateway as a component.

use std::path::PathBuf;

use plimsoll_base::document::Path as Pointer;

use super::placement::shards;
use crate::loader::Loader;
use crate::template::Template;
use crate::wire::GatewayWire;

/// Our gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// Its configuration file, or Tyk's.
    pub config: PathBuf,
    /// The file's text, with its substitutions.
    pub text: Template,
    /// Tyk's API definitions, if it is Tyk's: what each file is called, and its text.
    pub apis: Option<Vec<(String, Template)>>,
    /// With Tyk's, the keys that are there from the start.
    pub keys: Option<Template>,
    /// Threads; `None`: one per processor that it may use.
    pub shards: Option<usize>,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &GatewayWire,
    at: &Pointer,
) -> Gateway {
    let (key, file) = match (&wire.config, &wire.tyk) {
        (Some(config), None) => ("config", config.as_str()),
        (None, Some(conf)) => ("tyk", conf.as_str()),
        _ => {
            let message = "a gateway is of one file: write either `config` or `tyk`";
            loader.refuse(at, message.to_owned());
            ("config", "")
        }
    };
    if wire.tyk.is_none() && !wire.apis.is_empty() {
        loader.refuse(at.key("apis"), "goes with `tyk`: write that, too");
    }
    if wire.tyk.is_none() && wire.keys.is_some() {
        loader.refuse(at.key("keys"), "goes with `tyk`: write that, too");
    }
    let keys = wire.keys.as_deref();
    let keys = keys.map(|file| loader.read_template(&at.key("keys"), file, name));
    let apis = wire.tyk.as_ref().map(|_| apis(loader, name, wire, at));
    Gateway {
        config: loader.resolve(file),
        text: match file {
            "" => Template::default(),
            file => loader.read_template(&at.key(key), file, name),
        },
        apis,
        keys,
        shards: shards(loader, wire.shards, &at.key("shards")),
    }
}

/// The API definitions. They come to stand in one directory, each by the name of its file.
fn apis(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &GatewayWire,
    at: &Pointer,
) -> Vec<(String, Template)> {
    let mut apis: Vec<(String, Template)> = Vec::new();
    for (index, api) in wire.apis.iter().enumerate() {
        let at = at.key("apis").index(index);
        let text = loader.read_template(&at, api, name);
        let file = loader.resolve(api);
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        if apis.iter().any(|(other, _)| *other == file) {
            let message = format!(
                "`{file}` is what another file here is called, and both come to stand in one directory: rename one of them"
            );
            loader.refuse(&at, message);
        }
        apis.push((file.into_owned(), text));
    }
    apis
}
