//! Drives a server with the crate `toxiproxy_rust` and observes each effect through the proxy. Usage: `toxiproxy_rust HOST:PORT`
//!
//! The client makes proxies by `populate` alone, knows no `reset_peer` and looks at no status of an answer.

use fault_clients::{Checked, Checks, Echo, Stream, ends_after_10_bytes, expect, passes, refuses};
use fault_clients::{
    closes_late_by_200_ms, is_late_by_100_ms, is_silent_for_200_ms_and_closes,
    passes_20_bytes_per_ms, slices_at_100_bytes_and_10_ms,
};
use toxiproxy_rust::client::Client;
use toxiproxy_rust::proxy::{Proxy, ProxyPack};

fn main() {
    let client = Client::new(std::env::args().nth(1).expect("HOST:PORT"));
    let echo = Echo::start();
    let mut checks = Checks::default();
    let names = ["toxiproxy_rust_1", "toxiproxy_rust_2"];
    for proxy in client
        .all()
        .expect("a list of proxies")
        .values()
        .filter(|proxy| names.contains(&&*proxy.proxy_pack.name))
    {
        proxy.delete().expect("a deletion");
    }

    checks.check(
        "version",
        expect(
            client.is_running()
                && client
                    .version()
                    .is_ok_and(|version| version.contains("version")),
            client.version(),
        ),
    );

    let packs = names
        .map(|name| ProxyPack::new(name.into(), "127.0.0.1:0".into(), echo.address.to_string()));
    let populated = client.populate(packs.into()).expect("populated proxies");
    checks.check(
        "populate",
        populated
            .iter()
            .try_for_each(|proxy| passes(&proxy.proxy_pack.listen)),
    );

    let proxy = client.find_proxy(names[0]).expect("a populated proxy");
    checks.check("find", passes(&proxy.proxy_pack.listen));
    for stream in [Stream::Upstream, Stream::Downstream] {
        check_toxics(&mut checks, &proxy, &echo, stream);
    }
    checks.check("toxics are listed", lists_toxics(&proxy));
    checks.check("disable and enable", is_down_and_up(&proxy));
    checks.check("reset", resets(&client, &proxy));
    checks.check("find and reset", finds_and_resets(&client, &proxy));
    checks.check("delete", deletes(&client, &populated));
    checks.exit()
}

fn check_toxics(checks: &mut Checks, proxy: &Proxy, echo: &Echo, stream: Stream) {
    let listen = proxy.proxy_pack.listen.as_str();
    let name = format!("{stream:?}").to_lowercase();
    let mut check = |kind: &str, toxic: &Proxy, observe: &dyn Fn() -> Checked| {
        let mut result = Ok(());
        let removed = toxic.apply(|| result = observe());
        checks.check(&format!("{kind} {name}"), result.and(removed));
    };

    check(
        "latency",
        proxy.with_latency(name.clone(), 100, 0, 1.0),
        &|| is_late_by_100_ms(listen),
    );
    check(
        "bandwidth",
        proxy.with_bandwidth(name.clone(), 20, 1.0),
        &|| passes_20_bytes_per_ms(listen),
    );
    check(
        "slow_close",
        proxy.with_slow_close(name.clone(), 200, 1.0),
        &|| closes_late_by_200_ms(listen),
    );
    check(
        "timeout",
        proxy.with_timeout(name.clone(), 200, 1.0),
        &|| is_silent_for_200_ms_and_closes(listen),
    );
    check(
        "slicer",
        proxy.with_slicer(name.clone(), 100, 0, 10_000, 1.0),
        &|| slices_at_100_bytes_and_10_ms(listen),
    );
    check(
        "limit_data",
        proxy.with_limit_data(name.clone(), 10, 1.0),
        &|| ends_after_10_bytes(listen, echo, stream),
    );
    check(
        "toxicity 0",
        proxy.with_limit_data(name.clone(), 1, 0.0),
        &|| passes(listen),
    );
}

fn lists_toxics(proxy: &Proxy) -> Checked {
    proxy.with_latency("upstream".into(), 7, 3, 0.5);
    let toxics = proxy.toxics()?;
    let [toxic] = toxics.as_slice() else {
        return expect(false, &toxics);
    };
    let of_latency = (toxic.r#type.as_str(), toxic.stream.as_str(), toxic.toxicity)
        == ("latency", "upstream", 0.5);
    expect(
        of_latency && toxic.attributes["latency"] == 7 && toxic.attributes["jitter"] == 3,
        toxic,
    )?;
    proxy.delete_all_toxics()
}

fn is_down_and_up(proxy: &Proxy) -> Checked {
    let mut result = Ok(());
    proxy.with_down(|| result = refuses(&proxy.proxy_pack.listen))?;
    result?;
    passes(&proxy.proxy_pack.listen)
}

fn resets(client: &Client, proxy: &Proxy) -> Checked {
    proxy
        .with_limit_data("downstream".into(), 1, 1.0)
        .disable()?;
    client.reset()?;
    expect(proxy.toxics()?.is_empty(), proxy.toxics())?;
    passes(&proxy.proxy_pack.listen)
}

fn finds_and_resets(client: &Client, proxy: &Proxy) -> Checked {
    proxy
        .with_limit_data("downstream".into(), 1, 1.0)
        .disable()?;
    let found = client.find_and_reset_proxy(&proxy.proxy_pack.name)?;
    passes(&found.proxy_pack.listen)
}

fn deletes(client: &Client, proxies: &[Proxy]) -> Checked {
    for proxy in proxies {
        proxy.delete()?;
        expect(
            !client.all()?.contains_key(&proxy.proxy_pack.name),
            client.all()?.keys(),
        )?;
        refuses(&proxy.proxy_pack.listen)?;
    }
    Ok(())
}
