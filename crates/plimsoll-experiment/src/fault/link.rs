//! `link`: what passes between two components is slow, broken or silent.

use plimsoll_base::document::Path as Pointer;
use std::time::Duration;

use super::FaultKind;
use crate::loader::Loader;
use crate::topology::link;
use crate::wire::FaultWire;

/// A shorter delay cannot be proved.
const SHORTEST: Duration = Duration::from_millis(1);

/// Effect on what passes a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Answers come later.
    Delay {
        /// By how much.
        delay: Duration,
        /// By how much more or less at most.
        jitter: Duration,
    },
    /// At most so many bytes a second pass, each way.
    Bandwidth(u64),
    /// New connections are refused, and those that are there reset.
    Refuse,
    /// Connections are reset.
    Reset,
    /// Nothing arrives, and nobody is told.
    Silence,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    text: &str,
    wire: &FaultWire,
    at: &Pointer,
) -> Option<FaultKind> {
    let known = link::all(loader.uses());
    let found = link::find(text, &known);
    let link = found
        .map_err(|message| loader.refuse(at.key("link"), message))
        .ok();
    Some(FaultKind::Link {
        effect: effect(loader, wire, at)?,
        link: link?.clone(),
    })
}

/// The one effect that is written.
pub(super) fn effect(loader: &mut Loader<'_>, wire: &FaultWire, at: &Pointer) -> Option<Effect> {
    let flags = [
        ("refuse", wire.refuse, Effect::Refuse),
        ("reset", wire.reset, Effect::Reset),
        ("silence", wire.silence, Effect::Silence),
    ];
    let mut effects = Vec::new();
    for (key, written, effect) in flags {
        match written {
            Some(true) => effects.push(effect),
            Some(false) => loader.refuse(at.key(key), format!("write `{key}: true`, or remove it")),
            None => {}
        }
    }
    let jitter = wire.jitter.map_or(Duration::ZERO, |jitter| *jitter);
    match wire.delay.map(|delay| *delay) {
        Some(delay) if delay < SHORTEST => {
            loader.refuse(
                at.key("delay"),
                "is too short to be told from none: write `1ms` or more",
            );
        }
        Some(delay) if jitter > delay => {
            loader.refuse(
                at.key("jitter"),
                "is longer than the delay itself: write less",
            );
        }
        Some(delay) => effects.push(Effect::Delay { delay, jitter }),
        None if wire.jitter.is_some() => {
            loader.refuse_key(
                at.key("jitter"),
                "is of a `delay`, which is not there: add it",
            );
        }
        None => {}
    }
    match wire.bandwidth.map(|bandwidth| *bandwidth) {
        Some(bandwidth) if bandwidth < 1000 => {
            loader.refuse(
                at.key("bandwidth"),
                "is less than 1 kB a second: write `silence: true`",
            );
        }
        Some(bandwidth) => {
            if !bandwidth.is_multiple_of(1000) {
                let message = "is not in whole kB a second, which the proxy limits: round it";
                loader.refuse(at.key("bandwidth"), message);
            }
            effects.push(Effect::Bandwidth(bandwidth));
        }
        None => {}
    }
    if effects.len() != 1 {
        let message = match effects.is_empty() {
            true => {
                "has no effect: add one of `delay: 20ms`, `bandwidth: 100kB`, `refuse: true`, `reset: true` and `silence: true`"
            }
            false => {
                "has several effects: keep one, and write another fault at another time for each other"
            }
        };
        loader.refuse(at, message);
    }
    effects.into_iter().next()
}
