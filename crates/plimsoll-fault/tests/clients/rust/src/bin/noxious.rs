//! Drives a server with the crate `noxious-client` and observes each effect through the proxy. Usage: `noxious HOST:PORT`
//!
//! The client knows no `reset_peer`, and names a toxic's stream in a field that Toxiproxy does not read: each of its toxics is
//! downstream there. It cannot read the answers to a `noop` and to `populate`: the one is left out, of the other only the proxies count.

use fault_clients::{
    Checked, Checks, Echo, Stream, ends_after_10_bytes, exchange, exchange_and_finish, expect,
    passes, refuses,
};
use fault_clients::{
    closes_late_by_200_ms, is_late_by_100_ms, is_silent_for_200_ms_and_closes,
    passes_20_bytes_per_ms, slices_at_100_bytes_and_10_ms,
};
use noxious_client::error::{ApiErrorResponse, ClientError};
use noxious_client::{Client, Proxy, ProxyConfig, StreamDirection, Toxic, ToxicKind};

fn main() {
    let server = std::env::args().nth(1).expect("HOST:PORT");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run(&Client::new(&server))).exit()
}

async fn run(client: &Client) -> Checks {
    let (echo, other) = (Echo::start(), Echo::start());
    let mut checks = Checks::default();
    for (name, proxy) in client.proxies().await.expect("a list of proxies") {
        if name.starts_with("noxious") {
            proxy.delete().await.expect("a deletion");
        }
    }

    checks.check("create", creates(client, &echo).await);
    let mut proxy = client.proxy("noxious").await.expect("the created proxy");
    check_toxics(&mut checks, &proxy, &echo).await;
    checks.check("update of a toxic", updates_a_toxic(&proxy).await);
    checks.check("toxics are listed", lists_toxics(&proxy).await);
    checks.check("disable and enable", is_down_and_up(&mut proxy).await);
    checks.check(
        "update of the upstream",
        moves(&mut proxy, &echo, &other).await,
    );
    checks.check("reset", resets(client, &mut proxy).await);
    checks.check("populate", populates(client, &echo).await);
    checks.check("refusals", refuses_what_is_wrong(client, &proxy).await);
    checks.check("delete", deletes(client, proxy).await);
    checks
}

async fn creates(client: &Client, echo: &Echo) -> Checked {
    client
        .create_proxy("noxious", "127.0.0.1:0", &echo.address.to_string())
        .await
        .map_err(text)?;
    let created = client.proxy("noxious").await.map_err(text)?;
    expect(
        created.is_enabled() && !created.config.listen.ends_with(":0"),
        &created,
    )?;
    passes(&created.config.listen)
}

async fn check_toxics(checks: &mut Checks, proxy: &Proxy, echo: &Echo) {
    let listen = proxy.config.listen.as_str();
    let limits = || ends_after_10_bytes(listen, echo, Stream::Downstream);
    let kinds: [(&str, ToxicKind, f32, &dyn Fn() -> Checked); 7] = [
        (
            "latency",
            ToxicKind::Latency {
                latency: 100,
                jitter: 0,
            },
            1.0,
            &|| is_late_by_100_ms(listen),
        ),
        ("bandwidth", ToxicKind::Bandwidth { rate: 20 }, 1.0, &|| {
            passes_20_bytes_per_ms(listen)
        }),
        (
            "slow_close",
            ToxicKind::SlowClose { delay: 200 },
            1.0,
            &|| closes_late_by_200_ms(listen),
        ),
        ("timeout", ToxicKind::Timeout { timeout: 200 }, 1.0, &|| {
            is_silent_for_200_ms_and_closes(listen)
        }),
        (
            "slicer",
            ToxicKind::Slicer {
                average_size: 100,
                size_variation: 0,
                delay: 10_000,
            },
            1.0,
            &|| slices_at_100_bytes_and_10_ms(listen),
        ),
        (
            "limit_data",
            ToxicKind::LimitData { bytes: 10 },
            1.0,
            &limits,
        ),
        (
            "toxicity 0",
            ToxicKind::LimitData { bytes: 1 },
            0.0,
            &|| passes(listen),
        ),
    ];
    for (name, kind, toxicity, observe) in kinds {
        checks.check(
            &format!("{name} downstream"),
            with_toxic(proxy, toxic(kind, toxicity), observe).await,
        );
    }
}

async fn with_toxic(proxy: &Proxy, toxic: Toxic, observe: &dyn Fn() -> Checked) -> Checked {
    proxy.add_toxic(&toxic).await.map_err(text)?;
    let result = observe();
    proxy.remove_toxic(&toxic.name).await.map_err(text)?;
    result
}

fn toxic(kind: ToxicKind, toxicity: f32) -> Toxic {
    Toxic {
        kind,
        name: "it".into(),
        toxicity,
        direction: StreamDirection::Downstream,
    }
}

async fn updates_a_toxic(proxy: &Proxy) -> Checked {
    proxy
        .add_toxic(&toxic(ToxicKind::LimitData { bytes: 1 }, 1.0))
        .await
        .map_err(text)?;
    let kind = ToxicKind::LimitData { bytes: 20 };
    let updated = proxy
        .update_toxic("it", 1.0, kind, StreamDirection::Downstream)
        .await
        .map_err(text)?;
    expect(updated.kind == kind, updated)?;
    let seen = exchange(&proxy.config.listen, &"u".repeat(25), 25);
    expect(seen.data.len() == 20, seen)?;
    proxy.remove_toxic("it").await.map_err(text)
}

async fn lists_toxics(proxy: &Proxy) -> Checked {
    let kind = ToxicKind::Latency {
        latency: 7,
        jitter: 3,
    };
    proxy.add_toxic(&toxic(kind, 0.5)).await.map_err(text)?;
    let toxics = proxy.toxics().await.map_err(text)?;
    let [found] = toxics.as_slice() else {
        return expect(false, &toxics);
    };
    expect(
        found.kind == kind
            && found.toxicity == 0.5
            && found.direction == StreamDirection::Downstream,
        found,
    )?;
    proxy.remove_toxic("it").await.map_err(text)
}

async fn is_down_and_up(proxy: &mut Proxy) -> Checked {
    proxy.disable().await.map_err(text)?;
    refuses(&proxy.config.listen)?;
    proxy.enable().await.map_err(text)?;
    passes(&proxy.config.listen)
}

async fn moves(proxy: &mut Proxy, echo: &Echo, other: &Echo) -> Checked {
    proxy.config.upstream = other.address.to_string();
    proxy.save().await.map_err(text)?;
    exchange_and_finish(&proxy.config.listen, "moved");
    other.received_from("moved")?;
    proxy.config.upstream = echo.address.to_string();
    proxy.save().await.map_err(text)?;
    passes(&proxy.config.listen)
}

async fn resets(client: &Client, proxy: &mut Proxy) -> Checked {
    proxy
        .add_toxic(&toxic(ToxicKind::LimitData { bytes: 1 }, 1.0))
        .await
        .map_err(text)?;
    proxy.disable().await.map_err(text)?;
    client.reset_state().await.map_err(text)?;
    *proxy = client.proxy("noxious").await.map_err(text)?;
    expect(proxy.is_enabled(), &proxy)?;
    let toxics = proxy.toxics().await.map_err(text)?;
    expect(toxics.is_empty(), toxics)?;
    passes(&proxy.config.listen)
}

async fn populates(client: &Client, echo: &Echo) -> Checked {
    let names = ["noxious_populated_1", "noxious_populated_2"];
    let config = |name: &str| ProxyConfig {
        name: name.into(),
        listen: "127.0.0.1:0".into(),
        upstream: echo.address.to_string(),
        enabled: true,
        rand_seed: None,
    };
    client.populate(&names.map(config)).await.ok();
    for name in names {
        let proxy = client.proxy(name).await.map_err(text)?;
        passes(&proxy.config.listen)?;
        proxy.delete().await.map_err(text)?;
    }
    Ok(())
}

async fn refuses_what_is_wrong(client: &Client, proxy: &Proxy) -> Checked {
    let conflict = client
        .create_proxy("noxious", "127.0.0.1:0", &proxy.config.upstream)
        .await;
    expect(has_status(&conflict, 409), conflict)?;
    let absent = client.proxy("absent").await;
    expect(has_status(&absent, 404), absent)?;
    let absent = proxy.remove_toxic("absent").await;
    expect(has_status(&absent, 404), absent)
}

fn has_status<T>(result: &Result<T, ClientError>, expected: u16) -> bool {
    matches!(result, Err(ClientError::ApiError(ApiErrorResponse { status_code, .. })) if *status_code == expected)
}

async fn deletes(client: &Client, proxy: Proxy) -> Checked {
    let listen = proxy.config.listen.clone();
    proxy.delete().await.map_err(text)?;
    let listed = client.proxies().await.map_err(text)?;
    expect(!listed.contains_key("noxious"), listed)?;
    refuses(&listen)
}

fn text(error: ClientError) -> String {
    error.to_string()
}
