//! Sinks that want a password: Redis and PostgreSQL.

use super::*;

/// `password` is in a file.
pub fn to_postgresql(
    upstream: &Upstream,
    server: &Postgresql,
    (user, password): (&str, &str),
    spool: &Path,
) -> Gateway {
    let url = format!("postgresql://{user}@{}/{DATABASE}", server.address());
    let rest = format!(
        "{}analytics: {{ postgresql: {{ url: \"{url}\", password: {{ file: db.secret }} }}, spool: {{ directory: {spool:?} }} }}\n",
        to(upstream.address)
    );
    Gateway::with_files(2, configuration(&rest), &around("db.secret", password))
}

fn around(name: &str, content: &str) -> Around {
    let file = (name.to_owned(), format!("{content}\n").into_bytes());
    Arc::new(Mutex::new([file].into()))
}

/// Everything that a gateway whose sink was away says by its end; none of these, neither in its log nor in its metrics.
fn told_without(secrets: &[&str], gateway: Gateway) -> String {
    let page = (gateway.admin()).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let page = page.body_text();
    assert!(page.contains("analytics_written_total"), "{page}");
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("takes no records"), "{told}");
    assert!(told.contains("takes records again"), "{told}");
    for secret in secrets {
        assert!(
            !told.contains(secret) && !page.contains(secret),
            "{told}\n{page}"
        );
    }
    told
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn the_password_of_redis_comes_from_a_file_and_another_by_a_reload() {
    let (mut redis, upstream) = (Redis::secured("ebb-of-march"), upstream());
    let sink = format!(
        "redis: {{ url: \"redis://{}\", password: {{ file: redis.secret }}, form: json }}",
        redis.at
    );
    let text =
        |to_upstream: String| configuration(&format!("{to_upstream}analytics: {{ {sink} }}\n"));
    let files = around("redis.secret", "ebb-of-march");
    let gateway = Gateway::with_files(2, text(to(upstream.address)), &files);
    requests(&gateway, 40);
    until("40 records", || ids(&redis).len() == 40);
    redis.does("CONFIG SET requirepass flood-of-march");
    redis.password = Some("flood-of-march".to_owned());
    redis.does("CLIENT KILL TYPE normal");
    requests(&gateway, 40);
    let waiting = || gateway.metric("analytics_waiting{sink=\"redis\"}");
    until("40 wait", || waiting() == 40);
    gateway.rewrites("redis.secret", "flood-of-march\n");
    until("80 records", || ids(&redis).len() == 80);
    assert_eq!(lost(&gateway, "redis"), 0);
    told_without(&["ebb-of-march", "flood-of-march"], gateway);
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn a_password_of_aws_rotates_with_postgresql_after_a_reload_too_and_withheld_has_records_wait() {
    let upstream = upstream();
    let server = Postgresql::start(&[]).unwrap();
    let becomes = |password: &str| {
        let statement = format!("ALTER ROLE teller PASSWORD '{password}'");
        server.ask(&statement).unwrap();
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'teller'";
        server.ask(end).unwrap();
    };
    server.ask("CREATE ROLE teller LOGIN SUPERUSER").unwrap();
    becomes("ebb-of-may");
    let values = Arc::new(Mutex::new(json!({ "db": r#"{"password":"ebb-of-may"}"# })));
    let (api, _) = api(&values);
    let url = format!("postgresql://teller@{}/{DATABASE}", server.address());
    let text = configuration(&format!(
        "{}analytics: {{ postgresql: {{ url: \"{url}\", password: {{ aws: {{ secret: db, key: password }} }} }} }}\nsecrets: {{ endpoint: \"http://{api}\", ttl: 1s, stale: 1s }}\n",
        to(upstream.address)
    ));
    let gateway = Gateway::of(2, text.clone());
    let rows = || {
        server
            .ask("SELECT count(*) FROM plimsoll_analytics")
            .unwrap_or_default()
    };
    requests(&gateway, 40);
    until("40 rows", || rows() == "40");
    gateway.becomes(text);
    values.lock().unwrap()["db"] = json!(r#"{"password":"flood-of-may"}"#);
    until("secret_rotations_total", || {
        gateway.metric("secret_rotations_total") == 1
    });
    becomes("flood-of-may");
    requests(&gateway, 40);
    until("80 rows", || rows() == "80");
    values.lock().unwrap()["db"] = json!(null);
    until("secrets_withheld", || {
        gateway.metric("secrets_withheld") == 1
    });
    becomes("flood-of-may");
    requests(&gateway, 40);
    let waiting = || gateway.metric("analytics_waiting{sink=\"postgresql\"}");
    until("40 wait", || waiting() == 40);
    values.lock().unwrap()["db"] = json!(r#"{"password":"flood-of-may"}"#);
    until("120 rows", || rows() == "120");
    assert_eq!(lost(&gateway, "postgresql"), 0);
    let told = told_without(&["ebb-of-may", "flood-of-may"], gateway);
    assert!(told.contains("secret `db` is withheld"), "{told}");
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn a_postgresql_that_stands_still_under_traffic_gets_every_record_once() {
    let upstream = upstream();
    let postgresql = Postgresql::start(&[]).unwrap();
    let spool = tempfile::tempdir().unwrap();
    let gateway = to_postgresql(&upstream, &postgresql, (USER, PASSWORD), spool.path());
    let rows = || {
        postgresql
            .ask("SELECT count(*) FROM plimsoll_analytics")
            .unwrap_or_default()
    };
    requests(&gateway, 400);
    until("400 rows", || rows() == "400");
    postgresql.signal(Signal::STOP).unwrap();
    requests(&gateway, 800);
    let waiting = || gateway.metric("analytics_waiting{sink=\"postgresql\"}");
    until("800 wait", || waiting() == 800);
    postgresql.signal(Signal::CONT).unwrap();
    until("1200 rows", || rows() == "1200");
    // Whoever ends its connections is not the end of it.
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    assert_eq!(postgresql.ask(ended).unwrap(), "1");
    requests(&gateway, 400);
    until("1600 rows", || rows() == "1600");
    let shown = "SELECT method, path, listen_path, api_id, response_code, ended, bytes_out, tags, total_us >= upstream_us, timestamp >= arrived, now() - timestamp < interval '1 minute' FROM plimsoll_analytics LIMIT 1";
    assert_eq!(
        postgresql.ask(shown).unwrap(),
        "GET|/|/|/|200|answered|2|{api-/}|t|t|t"
    );
    assert_eq!(lost(&gateway, "postgresql"), 0);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(!told.contains("lost") && !told.contains(PASSWORD), "{told}");
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn a_gateway_without_its_postgresql_says_so_and_keeps_its_password_to_itself() {
    let upstream = upstream();
    let postgresql = Postgresql::start(&[]).unwrap();
    let spool = tempfile::tempdir().unwrap();
    let wrong = PASSWORD.replace("tides", "overtides");
    let gateway = to_postgresql(&upstream, &postgresql, (USER, &wrong), spool.path());
    requests(&gateway, 8);
    let waiting = || gateway.metric("analytics_waiting{sink=\"postgresql\"}");
    until("8 wait", || waiting() == 8);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    let place = format!(
        "postgresql://{}/postgres takes no records",
        postgresql.address()
    );
    assert!(told.contains(&place), "{told}");
    assert!(told.contains("password authentication failed"), "{told}");
    assert!(!told.contains("tides"), "{told}");
}
