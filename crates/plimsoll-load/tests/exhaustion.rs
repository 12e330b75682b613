//! A process without enough descriptors: an outcome of its own, counted, and never a panic.
//!
//! Alone in its file, because it lowers the limit of the whole process.

use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_http::Listener;
use plimsoll_load::fragment::Message;
use plimsoll_load::plan::{Connections, Data, Load, Pacing, Plan, Profile, Scenario, Step, Target};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::time::Duration;
use tokio::sync::watch;

/// Descriptors that are left for connections, at most.
const LIMIT: u64 = 40;

#[test]
fn connections_beyond_the_descriptor_limit_are_counted_as_exhausted() {
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(LIMIT),
            maximum: Some(LIMIT),
        },
    )
    .unwrap();
    // Connections wait in the listener's queue: nobody accepts or answers.
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let constant = Profile::Constant { rate: 500.0 };
    let duration = Duration::from_millis(200);
    let open = Load::open(vec![constant.lasting(duration)], 100, 0);
    let plan = Plan {
        seed: 1,
        shards: 1,
        target: Target {
            authority: address.to_string(),
            addresses: vec![address],
        },
        steps: vec![Step {
            name: "home".to_owned(),
            method: "GET".to_owned(),
            path: "/".into(),
            ..Step::default()
        }],
        scenarios: vec![Scenario::of_steps("main", open, 1)],
        data: Data::default(),
        warmup: Duration::ZERO,
        duration,
        connections: Connections::default(),
        pacing: Pacing::default(),
        timeout: Duration::from_millis(500),
        singly: false,
    };
    let (_stop, stopped) = watch::channel(false);
    let mut accounts = None;
    let mut for_want_of_descriptors = 0;
    plimsoll_load::run(plan, stopped, &mut |message| match message {
        Message::Finished(totals) => accounts = Some(totals.measured),
        Message::Fragment(fragment) => {
            let reasons = &fragment.steps[0].reasons;
            for_want_of_descriptors += reasons.get(&Reason::Descriptors).copied().unwrap_or(0);
        }
        Message::Started(_) | Message::Exchanges(_) | Message::Failed(_) => {}
    })
    .unwrap();
    let accounts = accounts.unwrap();
    let count = |class| accounts.steps[0].classes.get(&class).copied().unwrap_or(0);
    assert_eq!(accounts.sent, 100);
    assert_eq!(accounts.exhausted, count(OutcomeClass::Exhausted));
    assert_eq!(accounts.exhausted, for_want_of_descriptors);
    assert!(accounts.exhausted >= 100 - LIMIT, "{accounts:?}");
    assert_eq!(
        count(OutcomeClass::TimedOut) + accounts.exhausted,
        100,
        "{accounts:?}"
    );
}
