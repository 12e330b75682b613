//! Our own mock over TLS and HTTP/2: what it counted is what the generator sent, whether it ends in good order, resets connections or is killed.

use super::{Account, ended, measured, started};
use crate::program::{Server, Workspace};
use plimsoll_base::counters::{Counter, Totals};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How the mock is spoken to: its listener, the scheme of its address, and what the load says.
struct Manner {
    listener: &'static str,
    scheme: &'static str,
    load: &'static str,
}

const MANNERS: [Manner; 3] = [
    Manner {
        listener: "https",
        scheme: "https",
        load: ", tls: { insecure: true }",
    },
    Manner {
        listener: "https",
        scheme: "https",
        load: ", tls: { insecure: true }, protocol: http2, streams: 2",
    },
    Manner {
        listener: "main",
        scheme: "http",
        load: ", protocol: http2, streams: 2",
    },
];

/// Every tenth request or so is reset within its answer.
const RESETTING: &str = r#"{"request": {"url": "/"}, "response": {"body": "0123456789"},
    "metadata": {"plimsoll": {"responses": [{"weight": 9}, {"weight": 1, "resetAfterBytes": 3}]}}}"#;
/// Every answer takes so long that some are under way whenever it dies.
const SLOW: &str = r#"{"request": {"url": "/"}, "response": {"fixedDelayMilliseconds": 20}}"#;

fn mock(workspace: &Workspace, stub: &str) -> Server {
    workspace.write("stubs/mappings/one.json", stub);
    let line = "mock --port 0 --https-port 0 --root-dir stubs --counters counters --seed 7";
    Server::start(workspace, &line.split(' ').collect::<Vec<_>>())
}

fn counted(workspace: &Workspace) -> [u64; 2] {
    let bytes = std::fs::read(workspace.path().join("counters")).unwrap();
    let totals = Totals::read(&bytes).unwrap();
    [Counter::Received, Counter::Served].map(|counter| totals.get(counter))
}

/// Every answer of a status below 400.
fn answered(account: &Account) -> u64 {
    account.count("200")
}

#[test]
fn a_clean_end_leaves_equal_accounts() {
    for manner in &MANNERS {
        let workspace = Workspace::new();
        let mock = mock(&workspace, r#"{"request": {"url": "/"}}"#);
        let address = mock.listening[manner.listener];
        let load = format!("users: 4{}", manner.load);
        let account = measured(&workspace, manner.scheme, address, &load);
        assert_eq!(mock.stop(), Some(0));
        account.all("200");
        assert_eq!(counted(&workspace), [account.sent(); 2], "{account:?}");
    }
}

#[test]
fn answers_that_are_reset_are_received_and_not_served() {
    for manner in &MANNERS {
        let workspace = Workspace::new();
        let mock = mock(&workspace, RESETTING);
        let address = mock.listening[manner.listener];
        let load = format!("rate: 400/s, connections: 4{}", manner.load);
        let account = measured(&workspace, manner.scheme, address, &load);
        assert_eq!(mock.stop(), Some(0));
        let expected = [account.sent(), answered(&account)];
        assert_eq!(counted(&workspace), expected, "{account:?}");
        let reset = account.count("reset");
        assert!(reset > 0, "{account:?}");
        assert_eq!(answered(&account) + reset, account.sent(), "{account:?}");
    }
}

#[test]
fn a_kill_leaves_accounts_in_order() {
    for manner in &MANNERS {
        let workspace = Workspace::new();
        let mut mock = mock(&workspace, SLOW);
        let address = mock.listening[manner.listener];
        let load = format!("rate: 400/s, connections: 16{}", manner.load);
        let child = started(&workspace, manner.scheme, address, &load);
        let (_never, look) = channel::<()>();
        while counted(&workspace)[1] < 50 {
            // Nobody sends: this is how often the file is looked at.
            assert!(look.recv_timeout(Duration::from_millis(5)).is_err());
        }
        mock.kill();
        let account = ended(&workspace, child);
        let [received, served] = counted(&workspace);
        assert!(answered(&account) <= served, "{served}: {account:?}");
        assert!(served <= received, "{served} {received}");
        assert!(received <= account.sent(), "{received}: {account:?}");
        assert!(account.count("refused") > 0, "{account:?}");
    }
}

#[test]
fn an_experiment_reaches_the_listener_of_its_mock() {
    let workspace = Workspace::new();
    let check = |load: &str, code: Option<i32>, said: &str| {
        let text = format!(
            "version: 1\nname: secured\ncomponents:\n  upstream: {{ mock: {{ https: {{}} }} }}\n\
             scenario: [{{ get: /json/valid }}]\nload: {{ target: upstream/https, users: 2, warmup: 0s, duration: 500ms{load} }}\n"
        );
        workspace.write("secured.yaml", &text);
        let finished = workspace.experiment("secured.yaml", &["--no-ui"]);
        match code {
            Some(code) => {
                finished.ended_with(code).saying(said);
            }
            // The lab itself has held the accounts against the mock's counters.
            None => Account::of(&workspace, &finished).all("200"),
        }
    };
    check(", tls: { insecure: true }", None, "");
    std::fs::remove_dir_all(workspace.path().join("run")).unwrap();
    check(", tls: { insecure: true }, protocol: http2", None, "");
    let unsigned = "which no authority has signed";
    check(", tls: { resumption: false }", Some(2), unsigned);
    check("", Some(2), "write `tls: { insecure: true }` in the load");
}
