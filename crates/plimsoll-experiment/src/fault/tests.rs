//! Faults of files: those that are taken, and what is said of others.

use super::*;
use crate::memory::Memory;

fn load(faults: &str) -> Result<Vec<Fault>, String> {
    load_with(faults, "")
}

fn load_with(faults: &str, rest: &str) -> Result<Vec<Fault>, String> {
    let text = format!(
        "version: 1
name: x
components:
  log: {{ mock: {{}} }}
  outside: {{ external: 'http://127.0.0.1:9' }}
  api: {{ command: [api, '${{self.port}}', '${{log.url}}'], ready: {{ http: /up }}, render: [cert.pem], cpu_quota: 0.5 }}
  plain: {{ command: [plain] }}
scenario: [{{ get: /a }}]
load: {{ rate: 10/s, duration: 30s, target: api }}
faults: {{ f: {faults} }}
{rest}"
    );
    let files = [("e/cert.pem", "c"), ("e/ca.pem", "a"), ("e/ca.key", "k")];
    let loaded = Memory::new(&text, &files).load(&[]);
    loaded
        .map(|experiment| experiment.faults)
        .map_err(|problems| problems.to_string())
}

#[test]
fn every_kind_is_taken() {
    let kinds = [
        ("kill", "kill: api"),
        ("freeze", "freeze: log"),
        ("cpu", "cpu: api, cores: 0.1"),
        ("memory", "memory: api, limit: 64MiB"),
        ("link", "link: api->log, delay: 20ms, jitter: 5ms"),
        ("link", "link: api -> log, silence: true"),
        ("link", "link: api -> log, bandwidth: 100kB"),
        (
            "certificate",
            "certificate: api, file: cert.pem, as: expired, authority: ca.pem, authority_key: ca.key, reload: HUP",
        ),
        ("clock", "clock: api, by: -1h"),
        (
            "run",
            "run: { inject: [a, '${log.port}'], verify: [b], heal: [c], healed: [d] }",
        ),
        (
            "toxiproxy",
            "toxiproxy: 'http://127.0.0.1:8474', proxy: redis, delay: 20ms, request: PING",
        ),
        (
            "toxiproxy",
            "toxiproxy: '${log.url}', proxy: redis, refuse: true",
        ),
        ("nothing", "nothing: true"),
    ];
    for (word, text) in kinds {
        let faults = load(&format!("{{ {text}, at: 10s, for: 5s }}")).unwrap();
        assert_eq!((faults.len(), faults[0].kind.word()), (1, word));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write() {
    let check = |text: &str, expected: &str| {
        let refused = load(&format!("{{ {text}, at: 10s, for: 5s }}")).unwrap_err();
        assert!(refused.contains(expected), "{text}: {refused}");
    };
    check(
        "kill: aip",
        "there is no component `aip`: did you mean `api`?",
    );
    check("kill: outside", "`outside` is external");
    check("kill: api, freeze: log", "keep one of its kinds");
    check("arms: [main]", "is no kind of fault");
    check(
        "kill: api, cores: 2",
        "`cores` belongs to `cpu` faults, and this is a `kill`",
    );
    check("cpu: api", "add `cores`");
    check(
        "cpu: api, cores: 0.5",
        "not less than the `cpu_quota` of `api`",
    );
    check("memory: api, limit: 1kB", "less than any program needs");
    check(
        "link: log -> api, reset: true",
        "there is no link `log -> api`",
    );
    check("link: api -> log", "has no effect");
    check("link: api -> log, delay: 100us", "too short to be told");
    check("link: api -> log, bandwidth: 1500", "whole kB a second");
    check(
        "link: api -> log, reset: true, silence: true",
        "has several effects",
    );
    check("link: api -> log, jitter: 5ms, reset: true", "of a `delay`");
    check(
        "link: api -> log, delay: 1ms, jitter: 5ms",
        "longer than the delay",
    );
    check(
        "certificate: api, file: cert.pem, as: expired",
        "has no `authority`",
    );
    check("clock: plain, by: 1h", "no answer of `plain` can prove it");
    check("clock: api, by: 1s", "less than 5s");
    check("clock: api", "says not by how much");
    check("nothing: false", "write `nothing: true`");
    check("kill: api, arms: [other]", "there is no arm `other`");
    check(
        "run: { inject: [a, '${secret.x}'], verify: [b], heal: [c], healed: [d] }",
        "holds a secret",
    );
    check(
        "run: { inject: [], verify: [b], heal: [c], healed: [d] }",
        "names no program",
    );
}

#[test]
fn a_foreign_proxy_is_named_and_can_be_proved() {
    let check = |text: &str, expected: &str| {
        let refused = load(&format!("{{ {text}, at: 10s, for: 5s }}")).unwrap_err();
        assert!(refused.contains(expected), "{text}: {refused}");
    };
    let toxiproxy = |rest: &str| format!("toxiproxy: 'http://127.0.0.1:8474', {rest}");
    check(&toxiproxy("delay: 20ms, request: x"), "add `proxy`");
    check(&toxiproxy("proxy: a, delay: 20ms"), "add `request`");
    check(&toxiproxy("proxy: a, request: x"), "has no effect");
    check(
        &toxiproxy("proxy: a/b, refuse: true"),
        "do not stand in a path",
    );
    check(
        &toxiproxy("proxy: a, request: x, delay: 1500us"),
        "write whole ones",
    );
    check(
        "toxiproxy: '127.0.0.1:8474', proxy: a, refuse: true",
        "write for instance `http://127.0.0.1:8474`",
    );
    check(
        "toxiproxy: 'http://${secret.a}', proxy: a, refuse: true",
        "holds a secret",
    );
    check(
        "kill: api, delay: 20ms",
        "`delay` belongs to `link`, `toxiproxy` faults",
    );
}

#[test]
fn a_fault_is_over_before_its_load_and_alone_at_its_target() {
    let late = load("{ kill: api, at: 28s, for: 5s }").unwrap_err();
    assert!(
        late.contains("end at 33.0 s, and the load of `main` after 30.0 s"),
        "{late}"
    );
    let none = load("{ kill: api, at: 1s, for: 0 }").unwrap_err();
    assert!(none.contains("leaves no time"), "{none}");
    let both = "{ kill: api, at: 1s, for: 5s }, g: { freeze: api, at: 3s, for: 5s }";
    let both = load(both).unwrap_err();
    assert!(both.contains("happens while `f` does"), "{both}");
    let after = "{ kill: api, at: 1s, for: 5s }, g: { freeze: api, at: 6s, for: 5s }";
    assert_eq!(load(after).unwrap().len(), 2);
}

#[test]
fn methods_of_many_loads_have_no_moment_for_one() {
    let refused = load_with(
        "{ kill: api, at: 1s, for: 5s }",
        "method: { levels: { rates: [5/s], hold: 10s } }",
    );
    let refused = refused.unwrap_err();
    assert!(
        refused.contains("happen at moments of one load"),
        "{refused}"
    );
}

/// With hosts, on which everything is.
fn on_hosts(faults: &str) -> Result<Vec<Fault>, String> {
    let text = format!(
        "version: 1
name: x
network: {{ zones: {{ a: [app-a, db-a], b: [db-b] }} }}
components:
  db: {{ command: [db], host: db-a, disk: 1MiB }}
  api: {{ command: [api, '${{self.port}}', '${{db.host}}'], host: app-a }}
scenario: [{{ get: /a }}]
load: {{ rate: 10/s, duration: 30s, target: api }}
faults: {{ f: {{ {faults}, at: 10s, for: 5s }} }}
"
    );
    let loaded = Memory::new(&text, &[]).load(&[]);
    loaded
        .map(|experiment| experiment.faults)
        .map_err(|problems| problems.to_string())
}

#[test]
fn hosts_are_cut_off_lied_to_and_switched_off() {
    let target = |text: &str| on_hosts(text).unwrap()[0].kind.target().unwrap();
    for (text, expected) in [
        ("partition: [zone/a, rest]", "app-a, db-a <-> client, db-b"),
        (
            "blackhole: [client, app-a], direction: one_way",
            "client -> app-a",
        ),
        ("rst: [rest, db-a]", "client, app-a, db-b <-> db-a"),
        ("loss: [app-a, db-a], share: 5%", "app-a <-> db-a"),
        ("dns: app-a, name: db-a, answer: nxdomain", "app-a: db-a"),
        ("dns: app-a, name: db-a, answer: 10.0.0.1", "app-a: db-a"),
        ("power_off: app-a", "app-a"),
        ("disk_full: db", "db"),
    ] {
        assert_eq!(target(text), expected, "{text}");
    }
}

#[test]
fn one_thing_at_a_time_happens_to_hosts() {
    let check = |one: &str, other: &str, are_apart: bool| {
        let both = on_hosts(&format!("{one}, at: 10s, for: 5s }}, g: {{ {other}"));
        let refused = both.err().unwrap_or_default();
        assert_eq!(
            refused.is_empty(),
            are_apart,
            "{one} and {other}: {refused}"
        );
        assert!(are_apart || refused.contains("does"), "{refused}");
    };
    check(
        "partition: [app-a, db-a]",
        "partition: [db-a, app-a]",
        false,
    );
    check("partition: [zone/a, rest]", "rst: [app-a, db-b]", false);
    check(
        "partition: [app-a, db-a]",
        "loss: [app-a, db-b], share: 5%",
        true,
    );
    check("partition: [app-a, db-b]", "power_off: app-a", false);
    check("partition: [client, db-b]", "power_off: app-a", true);
    check(
        "dns: app-a, name: db-a, answer: servfail",
        "power_off: app-a",
        false,
    );
    check(
        "dns: db-b, name: db-a, answer: servfail",
        "power_off: app-a",
        true,
    );
}

#[test]
fn hosts_that_are_not_there_are_named() {
    let check = |text: &str, expected: &str| {
        let refused = on_hosts(text).unwrap_err();
        assert!(refused.contains(expected), "{text}: {refused}");
    };
    check("partition: [zone/c, rest]", "there is no zone `c`");
    check("partition: [zone/a]", "between two sides");
    check("partition: [app-a, zone/a]", "has `app-a` on both sides");
    check("partition: [rest, rest]", "name hosts on one");
    check("rst: [app-a, db-x]", "there is no host `db-x` in any zone");
    check("loss: [app-a, db-a]", "add `share`");
    check(
        "loss: [app-a, db-a], share: 0%",
        "too small a share to be proved",
    );
    check("dns: app-a, name: db-a", "add `name` and `answer`");
    check(
        "dns: app-a, name: db-a, answer: maybe",
        "`maybe` is no answer",
    );
    check(
        "dns: app-a, name: db-c, answer: nxdomain",
        "`nxdomain` is no lie: did you mean",
    );
    check(
        "dns: app-a, name: APP-A, answer: nxdomain",
        "the host itself",
    );
    check("power_off: db-c", "there is no host `db-c`");
    check("disk_full: api", "has no disk of its own");
    check("kill: db", "whose `disk` goes with it");
    check("power_off: db-a", "whose `disk` goes with it");
    check(
        "kill: api, direction: one_way",
        "`direction` belongs to `partition`",
    );
    check("link: api -> db, reset: true", "outside of the `network`");
    check(
        "toxiproxy: 'http://127.0.0.1:8474', proxy: a, refuse: true",
        "runs outside of the `network`",
    );
    let none = load("{ power_off: db-a, at: 1s, for: 1s }").unwrap_err();
    assert!(none.contains("and there is none"), "{none}");
}
