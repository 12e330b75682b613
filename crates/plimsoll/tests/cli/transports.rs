//! The generator against a real nginx, our own mock and peers that fail it: what was agreed on, and that every exchange is accounted for.

mod certificates;
mod disturbed;
mod http2;
mod ours;
mod secured;
mod silent;

use crate::program::{Finished, Workspace, experiment_args};
use plimsoll_testbed::authority::Authority;
use plimsoll_testbed::peers::nginx::{Logged, Nginx, Site};
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Child;

/// An arm's own account of its exchanges.
#[derive(Debug)]
struct Account {
    arm: Value,
}

/// An authority, and an nginx that shows its certificate for `localhost`.
struct Secured {
    authority: Authority,
    nginx: Nginx,
}

impl Secured {
    /// `protocols` is what stands behind `listen …`: `ssl`, or `ssl http2`.
    fn start(listen: &str, directives: &str) -> Self {
        let authority = Authority::new().unwrap();
        let issued = authority.issue(&["localhost"]).unwrap();
        let files = [
            ("server.pem", issued.certificate.as_str()),
            ("server.key", &issued.key),
            ("clients.pem", authority.certificate()),
            ("long", &"x".repeat(40_000)),
        ];
        let body = format!(
            "ssl_certificate @directory@/server.pem; ssl_certificate_key @directory@/server.key; \
             ssl_session_cache shared:sessions:1m; {directives}\nlocation / {{ return 200 ok; }}\n\
             location = /long {{ root @directory@; limit_rate 400k; }}"
        );
        let nginx = Nginx::start(&Site {
            listen,
            server: &body,
            files: &files,
            ..Site::default()
        })
        .unwrap();
        Self { authority, nginx }
    }

    /// A directory with the authority's certificate in `ca.pem`.
    fn workspace(&self) -> Workspace {
        let workspace = Workspace::new();
        workspace.write("ca.pem", self.authority.certificate());
        workspace
    }

    /// Writes a certificate of the authority's and its key for each of these names, as pairs in `clients`.
    fn issue_to(&self, workspace: &Workspace, names: &[&str]) {
        for name in names {
            let issued = self.authority.issue(&[name]).unwrap();
            workspace.write(&format!("clients/{name}.pem"), &issued.certificate);
            workspace.write(&format!("clients/{name}.key"), &issued.key);
        }
    }
}

/// A hundred arrivals in the second that loads here last, for four users.
const OPEN: &str = "rate: 100/s, connections: 4";
/// Four users who send as fast as they are answered.
const CLOSED: &str = "users: 4";

/// An experiment of one step against a server that runs already, with a second of this load. It is written as `load.yaml`.
fn write_experiment(workspace: &Workspace, scheme: &str, address: SocketAddr, load: &str) {
    let port = address.port();
    let text = format!(
        "version: 1\nname: transports\ncomponents:\n  server: {{ external: \"{scheme}://localhost:{port}\", probe: none }}\n\
         scenario: [{{ get: / }}]\nload: {{ {load}, warmup: 0s, duration: 1s }}\nhosts: {{ localhost: 127.0.0.1 }}\n"
    );
    workspace.write("load.yaml", &text);
}

/// Runs that experiment to its end.
fn measured(workspace: &Workspace, scheme: &str, address: SocketAddr, load: &str) -> Account {
    write_experiment(workspace, scheme, address, load);
    let finished = workspace.experiment("load.yaml", &["--no-ui"]);
    Account::of(workspace, &finished)
}

/// Starts it.
fn started(workspace: &Workspace, scheme: &str, address: SocketAddr, load: &str) -> Child {
    write_experiment(workspace, scheme, address, load);
    let mut command = workspace.command(&experiment_args("load.yaml"));
    command.arg("--no-ui");
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for its end.
fn ended(workspace: &Workspace, child: Child) -> Account {
    let finished = Finished::of(child.wait_with_output().unwrap());
    Account::of(workspace, &finished)
}

impl Account {
    /// Of a run that came to its end, whatever it found; its sums must hold.
    fn of(workspace: &Workspace, finished: &Finished) -> Self {
        assert!(
            matches!(finished.code, Some(0 | 4 | 6)),
            "{}\n{}",
            finished.stdout,
            finished.stderr
        );
        let account = Self {
            arm: workspace.json("run/summary.json")["arms"]["main"].clone(),
        };
        let [intended, dropped, in_flight] =
            ["intended", "dropped", "in_flight"].map(|key| account.number(key));
        assert_eq!(intended, account.sent() + dropped, "{account:?}");
        assert_eq!(
            account.sent(),
            account.outcomes().values().sum::<u64>() + in_flight,
            "{account:?}"
        );
        account
    }

    fn number(&self, key: &str) -> u64 {
        let number = self.arm[key].as_u64();
        number.unwrap_or_else(|| panic!("{key}: {}", self.arm))
    }

    fn sent(&self) -> u64 {
        self.number("sent")
    }

    /// The sum of all times of a kind, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "counts of a second's load")]
    fn total(&self, kind: &str) -> f64 {
        let times = &self.arm[kind];
        let count = times["count"]
            .as_u64()
            .unwrap_or_else(|| panic!("{kind}: {}", self.arm));
        times["mean"].as_f64().unwrap_or(0.0) * count as f64
    }

    /// How often exchanges ended so: `200`, or an outcome's name.
    fn count(&self, outcome: &str) -> u64 {
        self.outcomes().get(outcome).copied().unwrap_or(0)
    }

    /// How many exchanges ended how; never zero.
    fn outcomes(&self) -> std::collections::BTreeMap<String, u64> {
        let named = self.arm["outcomes"].as_object().unwrap().iter();
        let answered = self.arm["outcomes"]["answered"].as_object().unwrap();
        named
            .filter(|(name, _)| *name != "answered")
            .chain(answered)
            .map(|(name, count)| (name.clone(), count.as_u64().unwrap()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Fails unless all that was sent ended so. Of a hundred arrivals some may wait longer than a load does, on a machine that is busy
    /// with other things; they are dropped.
    fn all(&self, outcome: &str) {
        assert!(self.sent() >= 20, "{self:?}");
        assert_eq!(self.count(outcome), self.sent(), "{:?}", self.outcomes());
    }
}

/// Fails unless the log has a line for each answer that the generator counted, and no other.
fn reconciled(account: &Account, log: &[Logged]) {
    for status in [200, 400] {
        let logged = log.iter().filter(|line| line.status == status).count();
        let logged = u64::try_from(logged).unwrap();
        assert_eq!(account.count(&status.to_string()), logged, "{account:?}");
    }
}
