//! Arms whose rate, users and time the method says: at one level or in one trial of them.

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Action, Crowd, Load, Profile, Spacing, Stretch};
use std::time::Duration;

use super::Arm;
use crate::loader::Loader;
use crate::method::Point;
use crate::template::Template;
use crate::wire::{ExperimentWire, LoadWire};

/// Keys that `load` may not have beside a method that has them.
const SAID_BY_METHOD: [&str; 7] = [
    "rate",
    "ramp",
    "staircase",
    "stages",
    "users",
    "duration",
    "iterations",
];

/// Of these, times.
const TIMES: [&str; 2] = ["duration", "iterations"];

/// Refuses loads that say what the method says, and scenarios that each have a load of their own.
pub(super) fn refuse_other_loads(
    loader: &mut Loader<'_>,
    wire: &ExperimentWire,
    by_method: Option<&(LoadWire, Pointer)>,
) {
    let Some((load, method)) = by_method else {
        return;
    };
    let name = method.to_string();
    let root = Pointer::root();
    let arms = wire.arms.iter().flat_map(|arms| arms.iter());
    let of_arms = arms.map(|(name, _)| root.key("arms").key(name).key("load"));
    let places: Vec<Pointer> = std::iter::once(root.key("load")).chain(of_arms).collect();
    for place in places {
        // A method that says times alone leaves the rate to the load.
        let says_rates = load.rate.is_some() || load.users.is_some();
        for key in SAID_BY_METHOD
            .iter()
            .filter(|key| says_rates || TIMES.contains(key))
        {
            let at = place.key(key);
            if loader.is_written(&at) {
                let message = format!("is said by `{name}`: remove it here");
                loader.refuse_key(&at, message);
            }
        }
    }
    let scenarios = wire.scenarios.iter().flat_map(|scenarios| scenarios.iter());
    for (scenario, _) in scenarios.filter(|(_, wire)| wire.load.is_some()) {
        let at = root.key("scenarios").key(scenario).key("load");
        let message = format!("`{name}` says one load for all scenarios: give each a `weight`");
        loader.refuse_key(&at, message);
    }
}

impl Arm {
    /// This arm at one level: so many arrivals per second, or users, for its warm-up and `measured` after it.
    #[must_use]
    pub fn at(&self, point: Point, measured: Duration) -> Self {
        let length = self.settings.warmup.saturating_add(measured);
        match point {
            Point::Rate(rate) => {
                let rate = rate.as_per_second();
                self.with_profile(vec![self.stretch(rate, length)], measured)
            }
            Point::Users(users) => self.with_users(users, length, measured),
        }
    }

    /// This arm at one rate for its warm-up and `first` after it, then at another: both are measured.
    #[must_use]
    pub fn at_two_rates(&self, first: (f64, Duration), then: (f64, Duration)) -> Self {
        let lasting = self.settings.warmup.saturating_add(first.1);
        let profile = vec![self.stretch(first.0, lasting), self.stretch(then.0, then.1)];
        self.with_profile(profile, first.1.saturating_add(then.1))
    }

    /// This arm with as many connections as it needs, up to `most`, where the file does not say how many.
    #[must_use]
    pub fn with_connections_up_to(&self, most: u32) -> Self {
        if self.settings.connections_stated {
            return self.clone();
        }
        self.with_load(self.settings.duration, |load| {
            if let Load::Open { grow_to, .. } = load {
                *grow_to = most.max(*grow_to);
            }
        })
    }

    /// This arm at its own rate, which is one throughout, for its warm-up and `measured` after it.
    #[must_use]
    pub fn lasting(&self, measured: Duration) -> Self {
        let length = self.settings.warmup.saturating_add(measured);
        self.with_load(measured, |load| {
            if let Load::Open { profile, .. } = load {
                profile
                    .iter_mut()
                    .for_each(|stretch| stretch.length = length);
            }
        })
    }

    /// This arm over so many connections, all there from the start.
    pub(crate) fn over_connections(&self, count: u32) -> Self {
        self.with_load(self.settings.duration, |load| {
            if let Load::Open {
                connections,
                grow_to,
                ..
            } = load
            {
                (*connections, *grow_to) = (count, count);
            }
        })
    }

    /// Its rate per second, where it is one throughout.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        match &self.settings.load {
            Load::Open { profile, .. } => match profile[..] {
                [
                    Stretch {
                        profile: Profile::Constant { rate },
                        ..
                    },
                ] => Some(rate),
                _ => None,
            },
            Load::Closed { .. } => None,
        }
    }

    /// The longest that an exchange of it may take.
    pub(crate) fn longest_timeout(&self) -> Duration {
        let of_steps = self.steps.iter().filter_map(|step| step.exchange.timeout);
        of_steps.fold(self.settings.timeout, Duration::max)
    }

    /// Whether each iteration of each scenario has one exchange.
    pub(crate) fn has_one_exchange(&self) -> bool {
        let mut scenarios = self.scenarios.iter();
        scenarios.all(|scenario| is_one_exchange(&scenario.program))
    }

    fn stretch(&self, rate: f64, length: Duration) -> Stretch {
        Stretch {
            spacing: match &self.settings.load {
                Load::Open { profile, .. } => {
                    profile.first().map_or(Spacing::Even, |first| first.spacing)
                }
                Load::Closed { .. } => Spacing::Even,
            },
            ..Profile::Constant { rate }.lasting(length)
        }
    }

    fn with_profile(&self, profile: Vec<Stretch>, measured: Duration) -> Self {
        self.with_load(measured, |load| {
            if let Load::Open { profile: own, .. } = load {
                own.clone_from(&profile);
            }
        })
    }

    fn with_users(&self, users: u32, length: Duration, measured: Duration) -> Self {
        let crowd = Crowd {
            from: users,
            to: users,
            length,
        };
        self.with_load(measured, |load| {
            if let Load::Closed { users, .. } = load {
                *users = vec![crowd];
            }
        })
    }

    fn with_load(&self, measured: Duration, change: impl Fn(&mut Load)) -> Self {
        let mut arm = self.clone();
        arm.settings.duration = measured;
        change(&mut arm.settings.load);
        for scenario in &mut arm.scenarios {
            change(&mut scenario.load);
        }
        arm
    }
}

/// Whether these actions are one exchange, whichever way is taken.
fn is_one_exchange(actions: &[Action<Template>]) -> bool {
    match actions {
        [Action::Step(_)] => true,
        [Action::Group { actions, .. }] => is_one_exchange(actions),
        [Action::Mix(choices)] => choices
            .iter()
            .all(|choice| is_one_exchange(&choice.actions)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::Memory;

    fn experiment(more: &str) -> String {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenario: [{{ get: /a }}]\n{more}\n"
        );
        let experiment = match Memory::new(&text, &[]).load(&[]) {
            Ok(experiment) => experiment,
            Err(problems) => return problems.to_string(),
        };
        let settings = &experiment.arms[0].settings;
        format!(
            "{}, {:?} + {:?}",
            settings.load, settings.warmup, settings.duration
        )
    }

    #[test]
    fn the_method_says_rates_and_times() {
        let check = |more: &str, expected: &str| assert_eq!(experiment(more), expected, "{more}");
        check(
            "load: { connections: 5, profile: poisson }\nmethod: { levels: { rates: [10/s, 90/s], hold: 10s } }",
            "90/s (Poisson) over 5 connections, 2s + 10s",
        );
        check(
            "load: { think: 1s, warmup: 3s }\nmethod: { levels: { users: [5, 10], hold: 10s } }",
            "10 users who think 1.00 s, 3s + 10s",
        );
        check(
            "load: {}\nmethod: { capacity: { objective: { p99: 200ms }, from: 10/s, trial: 5s } }",
            "10/s over 50 connections, 1s + 5s",
        );
    }
}
