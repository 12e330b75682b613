//! How connections are made, kept, shared and secured, against servers that say what they saw; accounts hold whatever happens to them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod http2;
mod policies;
mod secured;
mod server;

use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::{Accounts, Fragment, Message};
use plimsoll_load::plan::{Load, Plan};
use plimsoll_testbed::authority::Authority;
use plimsoll_testbed::peers::tls_server;
use server::{Answer, Manner};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// A server over clear HTTP/1.1 that always says 200.
fn obliging() -> Manner {
    Manner {
        tls: None,
        http2: false,
        answer: |_| Answer::Bytes(2),
    }
}

/// A server's TLS that agrees to these protocols and asks clients for a certificate of this authority if it is told to.
fn acceptor(authority: &Authority, alpn: &[&str], asks: bool) -> TlsAcceptor {
    of_manner(
        authority,
        tls_server::Manner {
            versions: rustls::ALL_VERSIONS,
            alpn,
            asks,
            expired: false,
        },
    )
}

fn of_manner(authority: &Authority, manner: tls_server::Manner<'_>) -> TlsAcceptor {
    TlsAcceptor::from(tls_server::config(authority, manner).unwrap())
}

/// How many iterations of one step, so exchanges, a plan has unless a test says otherwise.
const EXCHANGES: u64 = 60;

/// So many iterations of one step and no more, by so many users on one shard who all begin at once. The load ends with the last of them:
/// how many exchanges there are does not depend on how fast this machine is.
fn plan(address: SocketAddr, users: u32) -> Plan {
    let nothing = serde_json::json!({ "secs": 0, "nanos": 0 });
    let long = Duration::from_secs(120);
    serde_json::from_value(serde_json::json!({
        "seed": 1,
        "shards": 1,
        "target": { "authority": "localhost", "addresses": [address] },
        "steps": [{ "name": "home", "method": "GET", "path": [{ "literal": "/" }] }],
        "scenarios": [{ "name": "main", "load": Load::closed(users, Duration::ZERO, long), "program": [{ "step": 0 }], "iterations": EXCHANGES }],
        "warmup": nothing,
        "duration": long,
        "connections": {},
        "pacing": { "gap": { "secs": 0, "nanos": 200_000 } },
        "timeout": { "secs": 20, "nanos": 0 },
    }))
    .unwrap()
}

/// Everything that a run said.
struct Run {
    fragments: Vec<Fragment>,
    accounts: Accounts,
}

fn run(plan: Plan) -> Run {
    let (_stop, stopped) = watch::channel(false);
    let mut fragments = vec![];
    let mut accounts = None;
    plimsoll_load::run(plan, stopped, &mut |message| match message {
        Message::Started(_) => {}
        Message::Fragment(fragment) => fragments.push(fragment),
        Message::Exchanges(_) => panic!("nobody asked for single exchanges"),
        Message::Finished(totals) => accounts = Some(totals),
        Message::Failed(text) => panic!("{text}"),
    })
    .unwrap();
    let run = Run {
        fragments,
        accounts: accounts.unwrap(),
    };
    let (all, step) = (&run.accounts.measured, &run.accounts.measured.steps[0]);
    assert_eq!(all.intended, all.sent + all.dropped);
    assert_eq!(step.sent, step.classes.values().sum::<u64>());
    run
}

fn merged<'a>(histograms: impl Iterator<Item = &'a TimeHistogram>) -> Option<TimeHistogram> {
    let mut all: Option<TimeHistogram> = None;
    histograms.for_each(|histogram| all.get_or_insert_default().merge(histogram));
    all
}

impl Run {
    /// Exchanges that began.
    fn sent(&self) -> u64 {
        self.accounts.measured.steps[0].sent
    }

    fn count(&self, class: OutcomeClass) -> u64 {
        let classes = &self.accounts.measured.steps[0].classes;
        classes.get(&class).copied().unwrap_or(0)
    }

    /// Why exchanges of the step were not answered.
    fn reasons(&self) -> BTreeMap<Reason, u64> {
        let mut all = BTreeMap::new();
        for (reason, count) in self.fragments.iter().flat_map(|f| &f.steps[0].reasons) {
            *all.entry(*reason).or_default() += count;
        }
        all
    }

    /// All exchanges were left unanswered for this reason.
    fn all_for(&self, reason: Reason) {
        assert_eq!(self.reasons(), [(reason, self.sent())].into());
        assert_eq!(self.count(reason.class()), self.sent());
    }

    /// How many times of a kind iterations have.
    fn times(&self, kind: TimeKind) -> u64 {
        self.fragments
            .iter()
            .filter_map(|fragment| fragment.iterations.get(&kind))
            .map(TimeHistogram::count)
            .sum()
    }

    /// All times of a kind of iterations.
    fn histogram(&self, kind: TimeKind) -> Option<TimeHistogram> {
        merged(
            self.fragments
                .iter()
                .filter_map(|fragment| fragment.iterations.get(&kind)),
        )
    }

    /// All times of a kind of the step's answers and timeouts.
    fn of_step(&self, kind: TimeKind) -> TimeHistogram {
        let mut all = TimeHistogram::new();
        for fragment in &self.fragments {
            all.merge(&fragment.steps[0].histogram(kind));
        }
        all
    }

    /// Connections that were established.
    fn connected(&self) -> u64 {
        self.fragments
            .iter()
            .map(|fragment| fragment.connected)
            .sum()
    }

    /// Connections that the server closed and that were replaced.
    fn reconnected(&self) -> u64 {
        self.fragments
            .iter()
            .map(|fragment| fragment.reconnected)
            .sum()
    }
}
