//! `GET /metrics`: bytes of each proxy, in Prometheus' text format and under Toxiproxy's names, counted while connections live.

use crate::account::{Account, Count};
use crate::config::Metrics;
use crate::direction::Direction;
use crate::proxies::Proxies;
use plimsoll_http::exposition::{CONTENT_TYPE, Exposition};
use plimsoll_http::pages::Page;

/// The families.
pub fn page(proxies: &Proxies, metrics: Metrics) -> Page {
    let mut text = Exposition::new("toxiproxy_proxy");
    if metrics.proxies {
        family(
            &mut text,
            proxies,
            "received_bytes_total",
            Account::received,
        );
        family(&mut text, proxies, "sent_bytes_total", Account::sent);
    }
    let mut text = text.finish();
    if metrics.runtime {
        text.push_str("# There is no runtime of Go here, and none of its metrics.\n");
    }
    Page::new(200, CONTENT_TYPE, text)
}

fn family(
    text: &mut Exposition,
    proxies: &Proxies,
    name: &str,
    count: impl Fn(&Account, Direction) -> &Count,
) {
    let help = match name.starts_with("received") {
        true => "Bytes that came from the sender of a direction.",
        false => "Bytes that went to the receiver of a direction.",
    };
    text.head(name, "counter", help);
    for proxy in proxies.iter() {
        for direction in Direction::BOTH {
            let shards = proxy.accounts.iter();
            let total: u64 = shards.map(|shard| count(shard, direction).get()).sum();
            let labels = [
                ("direction", direction.name()),
                ("listener", &proxy.listen),
                ("proxy", &proxy.name),
                ("upstream", &proxy.upstream),
            ];
            text.sample(name, &labels, total);
        }
    }
}
