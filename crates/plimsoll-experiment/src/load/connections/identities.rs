//! Client certificates: one for all, or one for each virtual user from a directory or a table.

use std::path::Path;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Identity, PrivateKey};

use crate::loader::Loader;
use crate::wire::TlsWire;

pub(super) fn convert(loader: &mut Loader<'_>, wire: &TlsWire, at: &Pointer) -> Vec<Identity> {
    match (&wire.cert, &wire.key, &wire.identities) {
        (None, None, None) => vec![],
        (Some(cert), Some(key), None) => {
            vec![identity(
                loader,
                (at.key("cert"), cert),
                (at.key("key"), key),
            )]
        }
        (None, None, Some(each)) => {
            let at = at.key("identities");
            let found = if loader.is_directory(each) {
                of_directory(loader, &at, each)
            } else {
                of_table(loader, &at, each)
            };
            if found.is_empty() {
                loader.refuse(at, format!("`{each}` names no certificate: write a directory of pairs `NAME.pem` and `NAME.key`, or a CSV file with the columns `cert` and `key`"));
            }
            found
        }
        (Some(_), None, _) => {
            let message = "needs a `key` too: write the file of its private key";
            loader.refuse_key(at.key("cert"), message);
            vec![]
        }
        (None, Some(_), _) => {
            let message = "needs a `cert` too: write the file of its certificate";
            loader.refuse_key(at.key("key"), message);
            vec![]
        }
        (Some(_), Some(_), Some(_)) => {
            let message = "is one for each virtual user, and `cert` one for all: keep one of them";
            loader.refuse_key(at.key("identities"), message);
            vec![]
        }
    }
}

/// The text of a PEM file that the experiment names.
pub(super) fn read(loader: &mut Loader<'_>, at: &Pointer, path: &str) -> String {
    // What is no text holds no PEM, and is refused for that.
    String::from_utf8(loader.read(at, path)).unwrap_or_default()
}

fn identity(
    loader: &mut Loader<'_>,
    (cert_at, cert): (Pointer, &str),
    (key_at, key): (Pointer, &str),
) -> Identity {
    Identity {
        name: key.to_owned(),
        certificate: read(loader, &cert_at, cert),
        key: PrivateKey(read(loader, &key_at, key)),
    }
}

/// Every pair `NAME.pem` and `NAME.key`, in the order of their names.
fn of_directory(loader: &mut Loader<'_>, at: &Pointer, directory: &str) -> Vec<Identity> {
    let names = loader.list(at, directory);
    let mut identities = vec![];
    for certificate in names.iter().filter(|name| name.ends_with(".pem")) {
        let key = format!("{}.key", certificate.trim_end_matches(".pem"));
        if !names.contains(&key) {
            loader.refuse(
                at,
                format!("`{directory}/{certificate}` has no `{key}` beside it"),
            );
            continue;
        }
        let path = |name: &str| format!("{directory}/{name}");
        identities.push(identity(
            loader,
            (at.clone(), &path(certificate)),
            (at.clone(), &path(&key)),
        ));
    }
    identities
}

/// Every line of a CSV file with the columns `cert` and `key`.
fn of_table(loader: &mut Loader<'_>, at: &Pointer, file: &str) -> Vec<Identity> {
    let text = read(loader, at, file);
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let column = |headers: &csv::StringRecord, name| headers.iter().position(|at| at == name);
    let columns = table
        .headers()
        .ok()
        .and_then(|headers| Some((column(headers, "cert")?, column(headers, "key")?)));
    let Some((certs, keys)) = columns else {
        loader.refuse(at, format!("`{file}` has no columns `cert` and `key`"));
        return vec![];
    };
    let beside = Path::new(file).parent().unwrap_or(Path::new(""));
    let path = |name: &str| beside.join(name).display().to_string();
    let mut identities = vec![];
    for (row, record) in table.into_records().enumerate() {
        let pair = record
            .ok()
            .and_then(|record| Some((path(record.get(certs)?), path(record.get(keys)?))));
        let Some((cert, key)) = pair else {
            let line = row + 2;
            loader.refuse(at, format!("line {line} of `{file}` is not like the first"));
            continue;
        };
        identities.push(identity(loader, (at.clone(), &cert), (at.clone(), &key)));
    }
    identities
}
