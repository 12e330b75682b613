//! `GET /plimsoll/turns`: what each proxy has seen of the conversations that it carries, without looking into any protocol.

use super::answer;
use crate::account::{Account, Count};
use crate::proxies::{Proxies, Proxy};
use plimsoll_http::pages::Page;
use serde_json::{Map, Value, json};

/// All proxies, by name.
///
/// A turn is bytes of the client that come after bytes of the server, or first; its time runs from the last of them to the server's first
/// byte. Of pieces for whose moment `latency` or `delay` waited (`held`), in either direction, each went on later than that by `late_s`, in
/// the mean. Where requests overlap on a connection, as in HTTP/2, turns are a lower bound.
pub fn page(proxies: &Proxies) -> Page {
    let named = proxies.iter();
    let named = named.map(|proxy| (proxy.name.to_string(), turns(proxy)));
    answer::json(200, &named.collect::<Map<_, _>>().into())
}

fn turns(proxy: &Proxy) -> Value {
    let sum = |count: fn(&Account) -> &Count| -> u64 {
        let shards = proxy.accounts.iter();
        shards.map(|shard| count(shard).get()).sum()
    };
    let answered = sum(|account| &account.answered);
    let held = sum(|account| &account.held);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean of times needs no 53 bits"
    )]
    let mean = |nanos: u64, of: u64| (of > 0).then(|| nanos as f64 / 1e9 / of as f64);
    json!({
        "turns": sum(|account| &account.turns),
        "answered": answered,
        "turn_time_s": mean(sum(|account| &account.turn_nanos), answered),
        "held": held,
        "late_s": mean(sum(|account| &account.late_nanos), held),
        "connections": sum(|account| &account.connections),
        "open": sum(|account| &account.open),
        "unreachable": sum(|account| &account.unreachable),
        "turned_away": sum(|account| &account.turned_away),
        "resets": sum(|account| &account.resets),
    })
}
