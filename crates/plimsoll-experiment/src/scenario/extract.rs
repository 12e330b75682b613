//! Values of an answer for later steps, as the file states them.

use plimsoll_base::document::{Entries, Path as Pointer};
use plimsoll_load::plan::{Extract, Source};

use crate::loader::Loader;
use crate::wire::ExtractWire;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<ExtractWire>>,
    at: &Pointer,
) -> Vec<Extract> {
    let mut extracts = Vec::new();
    for (name, wire) in wire.iter().flat_map(|entries| entries.iter()) {
        let sources = [
            wire.jsonpath.clone().map(Source::JsonPath),
            wire.header.clone().map(Source::Header),
            wire.regex.clone().map(Source::Regex),
            wire.cookie.clone().map(Source::Cookie),
        ];
        let mut written = sources.into_iter().flatten();
        let (Some(from), None) = (written.next(), written.next()) else {
            let message = "is exactly one of `jsonpath`, `header`, `regex` and `cookie`";
            loader.refuse(at.key(name), message);
            continue;
        };
        extracts.push(Extract {
            name: name.to_owned(),
            from,
            default: wire.default.as_ref().map(|text| text.0.clone()),
        });
    }
    extracts
}
