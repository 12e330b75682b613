//! `values`, `feeders` and `cookies`: what iterations differ by.

use plimsoll_base::document::{Entries, Path as Pointer};
use plimsoll_load::plan::{AtEnd, Cookies, FeederPlan, Format, Order};

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{AtEndWire, ExperimentWire, FeederWire, OrderWire};

/// Differences between iterations.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// Constants by name; the run's own substitutions are made in them.
    pub values: Vec<(String, Template)>,
    /// Rows of data.
    pub feeders: Vec<FeederFile>,
    /// Whether users keep cookies.
    pub cookies: Cookies,
}

/// A file of rows.
#[derive(Debug, Clone)]
pub struct FeederFile {
    /// As the generator gets it.
    pub plan: FeederPlan,
    /// The key under which the file is named.
    pub(crate) key: &'static str,
}

/// Data as the file states them.
pub(crate) fn convert(loader: &mut Loader<'_>, wire: &ExperimentWire) -> Data {
    let at = Pointer::root().key("values");
    let mut values = Vec::new();
    for (name, value) in wire.values.iter().flat_map(|entries| entries.iter()) {
        let at = at.key(name);
        let template = loader.template(&at, value, None);
        if template.has_values() {
            let message = "is the same in every iteration, so it cannot hold what differs: write that where it is sent";
            loader.refuse(&at, message);
        }
        values.push((name.to_owned(), template));
    }
    Data {
        values,
        feeders: feeders(loader, wire.feeders.as_ref()),
        cookies: if wire.cookies.unwrap_or(false) {
            Cookies::Keep
        } else {
            Cookies::Ignore
        },
    }
}

fn feeders(loader: &mut Loader<'_>, wire: Option<&Entries<FeederWire>>) -> Vec<FeederFile> {
    let at = Pointer::root().key("feeders");
    let mut feeders = Vec::new();
    for (name, wire) in wire.iter().flat_map(|entries| entries.iter()) {
        let at = at.key(name);
        let (format, key, file) = match (&wire.csv, &wire.jsonl) {
            (Some(file), None) => (Format::Csv, "csv", file),
            (None, Some(file)) => (Format::JsonLines, "jsonl", file),
            _ => {
                loader.refuse(&at, "is exactly one of `csv` and `jsonl`");
                continue;
            }
        };
        let order = match wire.order {
            None | Some(OrderWire::Sequential) => Order::Sequential,
            Some(OrderWire::Random) => Order::Random,
            Some(OrderWire::Shuffled) => Order::Shuffled,
            Some(OrderWire::Unique) => Order::Unique,
        };
        if wire.at_end.is_some() && matches!(order, Order::Random | Order::Unique) {
            let message = "has no meaning: rows that are random, or each a user's own, have no end";
            loader.refuse_key(at.key("at_end"), message);
        }
        let problems = loader.problem_count();
        let bytes = loader.read(&at.key(key), file);
        if loader.problem_count() > problems {
            continue;
        }
        let Ok(text) = String::from_utf8(bytes) else {
            loader.refuse(at.key(key), format!("`{file}` is not UTF-8 text"));
            continue;
        };
        let plan = FeederPlan {
            name: name.to_owned(),
            format,
            text,
            order,
            at_end: match wire.at_end {
                None | Some(AtEndWire::Repeat) => AtEnd::Repeat,
                Some(AtEndWire::Stop) => AtEnd::Stop,
                Some(AtEndWire::Error) => AtEnd::Error,
            },
        };
        feeders.push(FeederFile { plan, key });
    }
    feeders
}
