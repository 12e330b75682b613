//! The control API's secret, Redis' passwords, and where they come from.

use super::Check;
use super::wire::{StorageWire, Wire};
use crate::config::{ElsewhereBlock, Purpose, SecretText, Surroundings, secrets_of};
use plimsoll_base::document::Path;
use plimsoll_secrets::{Keeping, Secret};
use std::net::SocketAddr;

/// The secret in Tyk's published samples, which everybody knows.
const SAMPLE_SECRET: &str = "352d20ee67be67f6340b4c0605b044b7";

/// Passwords of Redis.
pub(super) struct Passwords {
    /// Where keys are.
    pub(super) storage: Option<Secret>,
    /// Where records go.
    pub(super) analytics: Option<Secret>,
}

/// The control API's secret, Redis' passwords, and what of them is to be kept fresh.
pub(super) fn secrets(
    c: &mut Check<'_>,
    wire: &mut Wire,
    address: SocketAddr,
    around: Surroundings<'_>,
) -> (Secret, Passwords, Option<Keeping>) {
    let password = |of: &mut Option<StorageWire>| of.as_mut()?.password.take();
    let written = [
        ("secret", wire.secret.take()),
        ("storage.password", password(&mut wire.storage)),
        (
            "analytics_storage.password",
            password(&mut wire.analytics_storage),
        ),
    ];
    let written: Vec<(Path, SecretText)> = (written.into_iter())
        .filter_map(|(at, text)| Some((at, said(c, at, text?)?)))
        .map(|(at, text)| (Path::from(at), text))
        .collect();
    let found = secrets_of(c.document, around, &written, Purpose::Password);
    let (mut found, keeping) = found.unwrap_or_else(|problems| {
        c.problems.extend(problems);
        (Vec::new(), None)
    });
    let mut take = |at: &str| {
        let position = found.iter().position(|(path, _)| *path == Path::from(at));
        position.map(|position| found.swap_remove(position).1)
    };
    let secret = take("secret");
    let passwords = Passwords {
        storage: take("storage.password"),
        analytics: take("analytics_storage.password"),
    };
    let sample = Secret::from(SAMPLE_SECRET);
    if secret.as_ref() == Some(&sample) && !address.ip().is_loopback() {
        c.refuse("secret", "this is the secret of Tyk's published samples, which everybody knows: off loopback write another");
    }
    if !written
        .iter()
        .any(|(path, _)| *path == Path::from("secret"))
    {
        c.refuse("secret", "the control API needs a secret: write one");
    }
    (secret.unwrap_or_else(|| "".into()), passwords, keeping)
}

/// A secret as it is said; Tyk's own way of naming variables (`env://NAME`) is `{ env: NAME }`. Nothing, if nothing is said.
fn said(c: &mut Check<'_>, at: &str, text: SecretText) -> Option<SecretText> {
    let SecretText::Plain(plain) = &text else {
        return Some(text);
    };
    if let Some(name) = plain.strip_prefix("env://") {
        return Some(SecretText::Elsewhere(ElsewhereBlock {
            file: None,
            env: Some(name.to_owned()),
            aws: None,
        }));
    }
    let elsewhere = ["vault://", "consul://", "secrets://"];
    if elsewhere.iter().any(|scheme| plain.starts_with(scheme)) {
        let message = "this store is not available in this version: write `env://NAME`, or `{ \"file\": … }`, `{ \"env\": … }` or `{ \"aws\": { \"secret\": … } }`";
        c.refuse(at, message);
    }
    (!plain.is_empty()).then_some(text)
}
