//! Load of one arm: the common `load` with the arm's own fields over it, and what the fields mean together.

mod arrivals;
pub(super) mod connections;
mod layers;
mod replay;
mod stage;
mod stage_kind;
mod users;
mod written;

use std::time::Duration;

use plimsoll_load::plan::{Connections, Load, Pacing};

use super::loader::Loader;
use super::wire::{ConnectionCountWire, PacingWire};
use arrivals::Arrivals;

pub(super) use layers::{Layer, Layers};
pub(super) use written::Written;

/// How much load, when, and by which means.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSettings {
    /// The model with its arrivals or users.
    pub load: Load,
    /// So many iterations of the closed model and no more.
    pub iterations: Option<u64>,
    /// Load before the measurement.
    pub warmup: Duration,
    /// The measured time, after the warm-up.
    pub duration: Duration,
    /// How connections are made, kept and shared.
    pub connections: Connections,
    /// Whether somebody wrote how many there are.
    pub connections_stated: bool,
    /// How exactly intended starts are kept.
    pub pacing: Pacing,
    /// How long an exchange may take unless its step says otherwise.
    pub timeout: Duration,
}

const TIMEOUT: Duration = Duration::from_secs(10);

/// The settings, and where they are written.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    layers: Layers<'_>,
) -> Option<(LoadSettings, Written)> {
    let warmup = layers.get(|wire| wire.warmup);
    let warmup = warmup.map_or(Duration::ZERO, |warmup| *warmup);
    let arrivals = arrivals::convert(loader, layers, warmup);
    let connections = connections::convert(loader, layers);
    let Arrivals {
        load,
        total,
        written,
    } = arrivals?;
    let settings = LoadSettings {
        load,
        iterations: layers.get(|wire| wire.iterations),
        duration: total - warmup,
        warmup,
        connections,
        connections_stated: layers
            .get(|wire| wire.connections)
            .and_then(ConnectionCountWire::number)
            .is_some()
            || layers.get(|wire| wire.shared_connections).is_some()
            || layers.get(|wire| wire.when_busy).is_some(),
        pacing: match layers.get(|wire| wire.pacing) {
            None => Pacing::default(),
            Some(PacingWire::Precise) => Pacing::Precise,
            Some(PacingWire::Gap(gap)) => Pacing::Gap(*gap),
        },
        timeout: layers
            .get(|wire| wire.timeout)
            .map_or(TIMEOUT, |timeout| *timeout),
    };
    Some((settings, written))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_load::arrivals::{Arrivals, SchedulePart};
    use plimsoll_load::plan::{Crowd, Load, Profile, Spacing, Span, Stretch};

    use super::super::memory::{Memory, with_load};

    /// The model and what differs from the defaults, of the arm `main`.
    fn check(load: &str, expected: &str) {
        let experiment = with_load(load, "").load(&[]).unwrap();
        let settings = &experiment.arm("main").unwrap().settings;
        assert_eq!(settings.load.to_string(), expected, "{load}");
    }

    #[test]
    fn every_model_and_profile_can_be_written() {
        check(
            "{ rate: 90/min, duration: 5s }",
            "1.5/s over 50 connections",
        );
        check(
            "{ rate: 10/s, profile: poisson, connections: 5, queue: 0, duration: 5s }",
            "10/s (Poisson) over 5 connections",
        );
        check(
            "{ ramp: { from: 1/s, to: 50/s }, duration: 5s }",
            "1/s to 50/s over 50 connections",
        );
        check(
            "{ staircase: { from: 10/s, step: 5/s, every: 1s }, duration: 5s }",
            "10/s, 5/s more every 1.00 s over 50 connections",
        );
        check("{ users: 5, duration: 5s }", "5 users");
        check(
            "{ stages: [{ rate: 5/s, for: 1s }, { ramp: { from: 0/s, to: 9/s }, for: 250ms, profile: poisson }, { stress_peak: 7, for: 2s }, { nothing: 3s }] }",
            "5/s for 1.00 s, then 0/s to 9/s (Poisson) for 250 ms, then a peak of 7 arrivals for 2.00 s, then nothing for 3.00 s over 50 connections",
        );
        check(
            "{ stages: [{ users: 5, for: 1s }, { users: { from: 5, to: 9 }, for: 2s }, { nothing: 3s }], every: 1s }",
            "5 for 1.00 s, then 5 to 9 for 2.00 s, then 0 for 3.00 s users once every 1.00 s",
        );
        check(
            "{ users: 5, think: 1s, duration: 5s }",
            "5 users who think 1.00 s",
        );
    }

    /// Load and duration of the generator, of a load without warm-up.
    fn plan(load: &str) -> (Load, Duration) {
        let files = [("e/times.txt", "0\n0.25\n# late\n1.5s\n")];
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenario: [{{ get: /a }}]\nload: {load}\n"
        );
        let experiment = Memory::new(&text, &files).load(&[]).unwrap();
        let settings = &experiment.arm("main").unwrap().settings;
        (settings.load.clone(), settings.duration)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn each_kind_of_stage_is_a_stretch_of_its_length() {
        let check = |stage: &str, expected: &[Stretch]| {
            let (load, duration) = plan(&format!("{{ stages: [{stage}, {{ nothing: 1s }}] }}"));
            let Load::Open { profile, .. } = load else {
                panic!("{load:?}");
            };
            let nothing = Profile::Nothing.lasting(ms(1000));
            assert_eq!(profile, [expected, &[nothing]].concat(), "{stage}");
            let length: Duration = profile.iter().map(|stretch| stretch.length).sum();
            assert_eq!(duration, length, "{stage}");
        };
        let constant = |rate, length| Profile::Constant { rate }.lasting(ms(length));
        check("{ rate: 90/min, for: 1m30s }", &[constant(1.5, 90_000)]);
        let ramp = Profile::Ramp { from: 0.0, to: 5.0 };
        let poisson = Stretch {
            spacing: Spacing::Poisson,
            ..ramp.lasting(ms(2))
        };
        check(
            "{ ramp: { from: 0, to: 5/s }, for: 2ms, profile: poisson }",
            &[poisson],
        );
        let staircase = || Profile::Staircase {
            from: 10.0,
            step: 5.0,
            every: ms(500),
        };
        let stairs = "{ staircase: { from: 10/s, step: 5/s, every: 500ms";
        check(
            &format!("{stairs} }}, for: 1750ms }}"),
            &[staircase().lasting(ms(1750))],
        );
        check(
            &format!("{stairs}, levels: 3 }} }}"),
            &[staircase().lasting(ms(1500))],
        );
        check(
            &format!("{stairs}, levels: 3 }}, for: 1750ms }}"),
            &[staircase().lasting(ms(1500)), constant(20.0, 250)],
        );
        let peak = Profile::StressPeak { arrivals: 5000 };
        check(
            "{ stress_peak: 5000, for: 20s }",
            &[peak.lasting(ms(20_000))],
        );
        let at_once = Profile::AtOnce { arrivals: 1000 };
        check("{ at_once: 1000 }", &[at_once.lasting(ms(0))]);
        let nothing = Profile::Nothing.lasting(ms(10_000));
        check(
            "{ nothing: 10s }, { rate: 90/min, for: 2s }",
            &[nothing, constant(1.5, 2_000)],
        );
        let replay = || Profile::Replay {
            times: [0, 250_000_000, 1_500_000_000].into(),
        };
        check("{ replay: times.txt }", &[replay().lasting(ms(1501))]);
        check(
            "{ replay: times.txt, for: 1s }",
            &[replay().lasting(ms(1000))],
        );
    }

    /// From the file to the nanosecond: half an arrival that the first stage leaves over is half of the next one's first gap.
    #[test]
    fn stages_make_the_schedule_that_they_say() {
        let stages = "[{ rate: 10/s, for: 350ms }, { rate: 20/s, for: 100ms }, { nothing: 50ms }, { at_once: 2 }, { replay: times.txt }, { ramp: { from: 0/s, to: 10/s }, for: 1s }]";
        let (load, duration) = plan(&format!("{{ stages: {stages} }}"));
        let Load::Open { profile, .. } = load else {
            panic!("{load:?}");
        };
        let at: Vec<u128> = Arrivals::new(&profile, 1, duration, SchedulePart::All)
            .map(|arrival| u128::from(arrival.at / 1_000))
            .collect();
        let ramp =
            |count: f64| 2_001_000 + Duration::from_secs_f64((count / 5.0).sqrt()).as_micros();
        let mut expected = vec![0, 100_000, 200_000, 300_000, 375_000, 425_000];
        expected.extend([500_000, 500_000, 500_000, 750_000, 2_000_000]);
        expected.extend([0.0, 1.0, 2.0, 3.0, 4.0].map(ramp));
        assert_eq!(at, expected);
        assert_eq!(duration, ms(3_001));
    }

    #[test]
    fn each_kind_of_users_is_a_crowd_of_its_length() {
        let check = |stage: &str, expected: &[(u32, u32, u64)]| {
            let (load, duration) = plan(&format!("{{ stages: [{stage}] }}"));
            let Load::Closed { users, .. } = load else {
                panic!("{load:?}");
            };
            let crowd = |(from, to, length): &(u32, u32, u64)| Crowd {
                from: *from,
                to: *to,
                length: ms(*length),
            };
            assert_eq!(
                users,
                expected.iter().map(crowd).collect::<Vec<_>>(),
                "{stage}"
            );
            let length: Duration = users.iter().map(|crowd| crowd.length).sum();
            assert_eq!(duration, length, "{stage}");
        };
        check("{ users: 50, for: 1m }", &[(50, 50, 60_000)]);
        check(
            "{ users: { from: 0, to: 100 }, for: 30s }",
            &[(0, 100, 30_000)],
        );
        let spawned = "{ users: { from: 100, to: 0, rate: 10/s }";
        check(
            "{ users: { from: 0, to: 100, rate: 10/s } }",
            &[(0, 100, 10_000)],
        );
        check(
            &format!("{spawned}, for: 10s }}, {{ nothing: 1s }}"),
            &[(100, 0, 10_000), (0, 0, 1_000)],
        );
        check(
            "{ users: { from: 5, to: 8, rate: 90/min }, for: 3s }",
            &[(5, 8, 2_000), (8, 8, 1_000)],
        );
        let levels = "{ users: { from: 10, step: 5, every: 1s";
        check(
            &format!("{levels}, levels: 3 }} }}"),
            &[(10, 10, 1_000), (15, 15, 1_000), (20, 20, 1_000)],
        );
        check(
            &format!("{levels}, levels: 2 }}, for: 2500ms }}"),
            &[(10, 10, 1_000), (15, 15, 1_500)],
        );
        check(
            &format!("{levels} }}, for: 2500ms }}"),
            &[(10, 10, 1_000), (15, 15, 1_000), (20, 20, 500)],
        );
    }

    /// A user who knows Locust writes the load's length, and how fast users come.
    #[test]
    fn short_forms_are_one_stage_as_long_as_the_load() {
        let check = |load: &str, expected: &str| {
            let (load, duration) = plan(load);
            assert_eq!(format!("{load}, {duration:?}"), expected);
        };
        check(
            "{ users: { from: 0, to: 100, rate: 10/s }, warmup: 5s, duration: 15s }",
            "0 to 100 for 10.0 s, then 100 for 10.0 s users, 15s",
        );
        check(
            "{ staircase: { from: 1/s, step: 1/s, every: 2s, levels: 5 }, warmup: 4s }",
            "1/s, 1/s more every 2.00 s over 50 connections, 6s",
        );
        check(
            "{ stages: [{ rate: 5/s, for: 10s }], warmup: 4s, duration: 6s }",
            "5/s over 50 connections, 6s",
        );
    }

    #[test]
    fn lengths_of_time_may_be_drawn() {
        let check = |think: &str, expected: Span| {
            let (load, _) = plan(&format!("{{ users: 1, think: {think}, duration: 1s }}"));
            assert!(
                matches!(load, Load::Closed { think, every: Span::ZERO, .. } if think == expected)
            );
            let (load, _) = plan(&format!("{{ users: 1, every: {think}, duration: 1s }}"));
            assert!(
                matches!(load, Load::Closed { every, think: Span::ZERO, .. } if every == expected)
            );
        };
        check("1s", Span::Constant(ms(1000)));
        check(
            "{ uniform: [5s, 30s] }",
            Span::Uniform {
                from: ms(5_000),
                to: ms(30_000),
            },
        );
        check("{ exponential: 2s }", Span::Exponential { mean: ms(2_000) });
        check(
            "{ lognormal: { median: 2s, sigma: 0.5 } }",
            Span::Lognormal {
                median: ms(2_000),
                sigma: 0.5,
            },
        );
        check(
            "{ lognormal: { median: 2s, sigma: 1 } }",
            Span::Lognormal {
                median: ms(2_000),
                sigma: 1.0,
            },
        );
    }

    #[test]
    fn an_arrival_that_finds_nobody_idle_waits_or_is_dropped_or_gets_a_new_user() {
        let check = |keys: &str, expected: (u32, u32, u32)| {
            let (load, _) = plan(&format!("{{ rate: 1/s, duration: 1s{keys} }}"));
            let Load::Open {
                connections,
                grow_to,
                queue,
                ..
            } = load
            else {
                panic!("{load:?}");
            };
            assert_eq!((connections, grow_to, queue), expected, "{keys}");
        };
        check("", (50, 50, 10_000));
        check(", when_busy: queue, queue: 5", (50, 50, 5));
        check(", when_busy: drop, connections: 7", (7, 7, 0));
        check(", when_busy: { grow: 500 }", (50, 500, 10_000));
        check(", connections: auto", (50, 50, 10_000));
    }

    #[test]
    fn connections_that_are_left_open_are_as_if_nobody_wrote_them() {
        let method = "method: { capacity: { objective: { p99: 1s }, from: 10/s } }\n";
        let settings = |load: &str| {
            let experiment = with_load(load, method).load(&[]).unwrap();
            experiment.arms[0].settings.clone()
        };
        assert_eq!(settings("{ connections: auto }"), settings("{}"));
        assert!(!settings("{ connections: auto }").connections_stated);
        assert!(settings("{ connections: 50 }").connections_stated);
        // An arm leaves open what the common load says.
        let arms = "arms: { a: {}, b: { load: { connections: auto } } }\n";
        let load = "{ rate: 1/s, connections: 7, duration: 1s }";
        let experiment = with_load(load, arms).load(&[]).unwrap();
        let shown = experiment
            .arms
            .iter()
            .map(|arm| arm.settings.load.to_string());
        assert_eq!(
            shown.collect::<Vec<String>>(),
            ["1/s over 7 connections", "1/s over 50 connections"]
        );
    }

    #[test]
    fn connections_are_not_left_open_and_said_elsewhere() {
        let check = |load: &str, expected: &str| {
            let problems = with_load(load, "").load(&[]).unwrap_err().to_string();
            assert!(problems.contains(expected), "{problems}");
        };
        check(
            "{ users: 5, connections: auto, duration: 1s }",
            "load.connections: has no meaning with `users`: remove it",
        );
        check(
            "{ rate: 1/s, connections: auto, when_busy: drop, duration: 1s }",
            "load.connections: `auto` leaves open how many there are, and `when_busy` does not: write a number, or remove one of the two",
        );
        check(
            "{ rate: 1/s, connections: auto, shared_connections: 5, duration: 1s }",
            "and `shared_connections` does not",
        );
        check(
            "{ rate: 1/s, connections: many, duration: 1s }",
            "load.connections: `many` is unknown: write a number such as `50`, or `auto`",
        );
    }

    #[test]
    fn an_arm_with_arrivals_of_its_own_leaves_the_length_of_the_common_ones_behind() {
        let arms = "arms:
  common: {}
  staged: { load: { stages: [{ rate: 5/s, for: 3s }] } }
  other: { load: { when_busy: drop, profile: poisson } }
";
        let load = "{ stages: [{ rate: 1/s, for: 8s }, { rate: 2/s, for: 2s, profile: constant }], duration: 10s, queue: 5 }";
        let experiment = with_load(load, arms).load(&[]).unwrap();
        let shown: Vec<String> = experiment
            .arms
            .iter()
            .map(|arm| {
                format!(
                    "{}: {}, {:?}",
                    arm.name, arm.settings.load, arm.settings.duration
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        common: 1/s for 8.00 s, then 2/s for 2.00 s over 50 connections, 10s
        staged: 5/s over 50 connections, 3s
        other: 1/s (Poisson) for 8.00 s, then 2/s for 2.00 s over 50 connections, 10s
        ");
    }

    #[test]
    fn defaults_and_the_other_settings() {
        let plain = with_load("{ rate: 1/s, duration: 5s }", "")
            .load(&[])
            .unwrap();
        insta::assert_snapshot!(format!("{:?}", plain.arms[0].settings), @"LoadSettings { load: Open { profile: [Stretch { profile: Constant { rate: 1.0 }, spacing: Even, length: 5s }], connections: 50, grow_to: 50, queue: 10000 }, iterations: None, warmup: 0ns, duration: 5s, connections: Connections { policy: PerUser, exchanges: None, protocol: Http1, tls: None, sources: [], resolve: None, connect_timeout: None, first_byte_timeout: None }, connections_stated: false, pacing: Gap(200µs), timeout: 10s }");
        let load = "{ rate: 1/s, warmup: 2s, duration: 5s, pacing: precise, timeout: 1s, keep_alive: false }";
        let full = with_load(load, "").load(&[]).unwrap();
        insta::assert_snapshot!(format!("{:?}", full.arms[0].settings), @"LoadSettings { load: Open { profile: [Stretch { profile: Constant { rate: 1.0 }, spacing: Even, length: 7s }], connections: 50, grow_to: 50, queue: 10000 }, iterations: None, warmup: 2s, duration: 5s, connections: Connections { policy: PerExchange, exchanges: None, protocol: Http1, tls: None, sources: [], resolve: None, connect_timeout: None, first_byte_timeout: None }, connections_stated: false, pacing: Precise, timeout: 1s }");
    }

    #[test]
    fn an_arm_overrides_field_by_field_and_a_new_model_replaces_the_old() {
        let arms = "arms:
  same: {}
  faster: { load: { rate: 20/s } }
  wider: { load: { connections: 7, timeout: 3s } }
  closed: { load: { users: 3 } }
  thinking: { load: { think: 1s } }
  ramp: { load: { ramp: { from: 1/s, to: 2/s }, profile: constant } }
";
        let load = "{ rate: 10/s, profile: poisson, connections: 5, duration: 5s }";
        let refused = with_load(load, arms).load(&[]).unwrap_err();
        insta::assert_snapshot!(refused, @"e/experiment.yaml:11:23: arms.thinking.load.think: has no meaning with `rate`: remove it");
        let experiment = with_load(
            load,
            &arms
                .replace(", profile: constant", "")
                .replace("think: 1s", ""),
        )
        .load(&[])
        .unwrap();
        let shown: Vec<String> = experiment
            .arms
            .iter()
            .map(|arm| {
                format!(
                    "{}: {} {:?}",
                    arm.name, arm.settings.load, arm.settings.timeout
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        same: 10/s (Poisson) over 5 connections 10s
        faster: 20/s (Poisson) over 5 connections 10s
        wider: 10/s (Poisson) over 7 connections 3s
        closed: 3 users 10s
        thinking: 10/s (Poisson) over 5 connections 10s
        ramp: 1/s to 2/s (Poisson) over 5 connections 10s
        ");
    }
}
