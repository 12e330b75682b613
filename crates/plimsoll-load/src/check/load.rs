//! Whether a scenario's load can be carried out.

use super::{MAX_USERS, ProblemList};
use crate::arrivals::peak;
use crate::plan::{
    Crowd, Load, LoadField, LoadPartField, LoadPlace, PlanPlace, Profile, Spacing, Span, Stretch,
};
use std::time::Duration;

/// Waiting arrivals are held in memory.
const MAX_QUEUE: u32 = 10_000_000;
/// Arrivals per second that can be scheduled.
const MAX_RATE: f64 = 10_000_000.0;
/// One arrival in 100 hours: below this a schedule is empty for all purposes.
const LEAST_RATE: f64 = 1.0 / 360_000.0;
/// Arrivals that come at once or swell and ebb.
const MAX_ARRIVALS: u64 = 100_000_000;
/// Arrival times that are held in memory.
const MAX_TIMES: usize = 10_000_000;
/// Stretches are gone through one by one.
const MAX_STRETCHES: usize = 10_000;

pub(super) fn check(load: &Load, place: impl Fn(LoadPlace) -> PlanPlace, found: &mut ProblemList) {
    let field = |field| place(LoadPlace::Field(field));
    match load {
        Load::Open {
            profile,
            connections,
            grow_to,
            queue,
        } => {
            found.unless(
                (1..=MAX_USERS).contains(connections),
                field(LoadField::Connections),
                format_args!("must be 1 to {MAX_USERS}"),
            );
            found.unless(
                (*connections..=MAX_USERS).contains(grow_to),
                field(LoadField::GrowTo),
                format_args!("must be {connections} (`connections`) to {MAX_USERS}"),
            );
            found.unless(
                *queue <= MAX_QUEUE,
                field(LoadField::Queue),
                format_args!("must not exceed {MAX_QUEUE}"),
            );
            check_stretches(profile, place, found);
        }
        Load::Closed {
            users,
            think,
            every,
        } => {
            check_crowds(users, &place, found);
            check_span(*think, field(LoadField::Think), found);
            check_span(*every, field(LoadField::Every), found);
        }
    }
}

fn check_stretches(
    profile: &[Stretch],
    place: impl Fn(LoadPlace) -> PlanPlace,
    found: &mut ProblemList,
) {
    let whole = place(LoadPlace::Field(LoadField::Profile));
    found.unless(
        (1..=MAX_STRETCHES).contains(&profile.len()),
        whole,
        format_args!("must have 1 to {MAX_STRETCHES} parts"),
    );
    let before = found.0.len();
    for (index, stretch) in profile.iter().enumerate() {
        let field = |field| place(LoadPlace::Stretch(index, field));
        check_stretch(stretch, field, found);
    }
    // Only what is sound can be asked for its peak.
    if found.0.len() == before && !profile.is_empty() {
        found.unless(peak(profile) > 0.0, whole, "has no arrival at all");
    }
}

fn check_stretch(
    stretch: &Stretch,
    at: impl Fn(LoadPartField) -> PlanPlace,
    found: &mut ProblemList,
) {
    let at_once = matches!(stretch.profile, Profile::AtOnce { .. });
    found.unless(
        at_once == stretch.length.is_zero(),
        at(LoadPartField::Length),
        if at_once {
            "must be 0: arrivals at once take no time"
        } else {
            "must be longer than 0"
        },
    );
    let is_given = at_once || matches!(stretch.profile, Profile::Replay { .. });
    found.unless(
        stretch.spacing == Spacing::Even || !is_given,
        at(LoadPartField::Spacing),
        "arrivals at given times cannot be spaced at random",
    );
    check_profile(&stretch.profile, stretch.length, at, found);
}

fn check_profile(
    profile: &Profile,
    length: Duration,
    at: impl Fn(LoadPartField) -> PlanPlace,
    found: &mut ProblemList,
) {
    let rate = |found: &mut ProblemList, value: f64, field: LoadPartField, least: f64| {
        found.unless(
            value.is_finite() && (least..=MAX_RATE).contains(&value),
            at(field),
            format_args!("must be at least {least} and at most {MAX_RATE} per second"),
        );
    };
    match profile {
        Profile::Constant { rate: value } => rate(found, *value, LoadPartField::Rate, LEAST_RATE),
        Profile::Ramp { from, to } => {
            rate(found, *from, LoadPartField::From, 0.0);
            rate(found, *to, LoadPartField::To, 0.0);
            found.unless(
                from.max(*to) >= LEAST_RATE,
                at(LoadPartField::To),
                "one of `from` and `to` must be above 0",
            );
        }
        Profile::Staircase { from, step, every } => {
            rate(found, *from, LoadPartField::From, 0.0);
            found.unless(
                *every >= Duration::from_millis(1),
                at(LoadPartField::Every),
                "must be at least 1ms",
            );
            let levels = (length.as_secs_f64() / every.as_secs_f64().max(1e-3)).ceil();
            let last = from + step * (levels - 1.0).max(0.0);
            let is_sound = (0.0..=MAX_RATE).contains(&last) && from.max(last) >= LEAST_RATE;
            found.unless(
                step.is_finite() && is_sound,
                at(LoadPartField::Step),
                format_args!("leads to a last level of {last} per second"),
            );
        }
        Profile::StressPeak { arrivals } | Profile::AtOnce { arrivals } => found.unless(
            (1..=MAX_ARRIVALS).contains(arrivals),
            at(LoadPartField::Arrivals),
            format_args!("must be 1 to {MAX_ARRIVALS}"),
        ),
        Profile::Replay { times } => {
            found.unless(
                (1..=MAX_TIMES).contains(&times.len()),
                at(LoadPartField::Times),
                format_args!("must be 1 to {MAX_TIMES} arrivals"),
            );
            found.unless(times.is_sorted(), at(LoadPartField::Times), "must ascend");
        }
        Profile::Nothing => {}
    }
}

fn check_crowds(
    crowds: &[Crowd],
    place: &impl Fn(LoadPlace) -> PlanPlace,
    found: &mut ProblemList,
) {
    let whole = place(LoadPlace::Field(LoadField::Users));
    found.unless(
        (1..=MAX_STRETCHES).contains(&crowds.len()),
        whole,
        format_args!("must have 1 to {MAX_STRETCHES} parts"),
    );
    for (index, crowd) in crowds.iter().enumerate() {
        let at = |field| place(LoadPlace::Crowd(index, field));
        found.unless(
            !crowd.length.is_zero(),
            at(LoadPartField::Length),
            "must be longer than 0",
        );
        for (field, users) in [
            (LoadPartField::From, crowd.from),
            (LoadPartField::To, crowd.to),
        ] {
            found.unless(
                users <= MAX_USERS,
                at(field),
                format_args!("{users} users are too many: at most {MAX_USERS}"),
            );
        }
    }
    found.unless(
        crowds.is_empty() || crowds.iter().any(|crowd| crowd.from.max(crowd.to) > 0),
        whole,
        format_args!("has no user at all: write 1 to {MAX_USERS}"),
    );
}

fn check_span(span: Span, place: PlanPlace, found: &mut ProblemList) {
    if let Some(message) = span.problem() {
        found.add(place, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ScenarioPlace;

    fn problems(load: &Load) -> Vec<String> {
        let mut found = ProblemList::default();
        let place = |place| PlanPlace::Scenario(0, ScenarioPlace::Load(place));
        check(load, place, &mut found);
        let shown = found.0.iter().map(ToString::to_string);
        let below = shown.map(|line| line.trim_start_matches("scenarios[0].load.").to_owned());
        below.collect()
    }

    #[test]
    fn what_can_be_carried_out_and_what_cannot() {
        let check = |profile: Profile, expected: &[&str]| {
            let shown = format!("{profile:?}");
            let load = Load::open(vec![profile.lasting(Duration::from_secs(1))], 1, 0);
            assert_eq!(problems(&load), expected, "{shown}");
        };
        let rate = "profile[0].rate: must be at least 0.000002777777777777778 and at most 10000000 per second";
        check(Profile::Constant { rate: 0.5 }, &[]);
        check(Profile::Constant { rate: 0.0 }, &[rate]);
        check(Profile::Constant { rate: f64::NAN }, &[rate]);
        let ramp = |from, to| Profile::Ramp { from, to };
        check(ramp(0.0, 10.0), &[]);
        check(
            ramp(0.0, 0.0),
            &["profile[0].to: one of `from` and `to` must be above 0"],
        );
        let staircase = |step| Profile::Staircase {
            from: 2.0,
            step,
            every: Duration::from_millis(500),
        };
        check(staircase(-2.0), &[]);
        check(
            staircase(-3.0),
            &["profile[0].step: leads to a last level of -1 per second"],
        );
        check(Profile::StressPeak { arrivals: 1 }, &[]);
        check(
            Profile::StressPeak { arrivals: 0 },
            &["profile[0].arrivals: must be 1 to 100000000"],
        );
        check(
            Profile::AtOnce { arrivals: 1 },
            &["profile[0].length: must be 0: arrivals at once take no time"],
        );
        let replay = |times: &[u64]| Profile::Replay {
            times: times.into(),
        };
        check(replay(&[0, 5, 5]), &[]);
        check(
            replay(&[]),
            &["profile[0].times: must be 1 to 10000000 arrivals"],
        );
        check(replay(&[5, 4]), &["profile[0].times: must ascend"]);
        check(Profile::Nothing, &["profile: has no arrival at all"]);
    }

    #[test]
    fn users_and_spans_have_their_limits() {
        let second = Duration::from_secs(1);
        let closed = |users: &[(u32, u32)], think| Load::Closed {
            users: users
                .iter()
                .map(|(from, to)| Crowd {
                    from: *from,
                    to: *to,
                    length: second,
                })
                .collect(),
            think,
            every: Span::ZERO,
        };
        let check = |load: &Load, expected: &[&str]| assert_eq!(problems(load), expected);
        check(&closed(&[(0, 5), (5, 0)], Span::ZERO), &[]);
        check(
            &closed(&[(0, 0)], Span::ZERO),
            &["users: has no user at all: write 1 to 1000000"],
        );
        check(
            &closed(&[(1, 1), (1, 2_000_000)], Span::ZERO),
            &["users[1].to: 2000000 users are too many: at most 1000000"],
        );
        check(
            &closed(&[], Span::ZERO),
            &["users: must have 1 to 10000 parts"],
        );
        let backwards = Span::Uniform {
            from: 2 * second,
            to: second,
        };
        check(
            &closed(&[(1, 1)], backwards),
            &["think: the shortest must not exceed the longest"],
        );
        let wild = Span::Lognormal {
            median: second,
            sigma: 9.0,
        };
        check(
            &closed(&[(1, 1)], wild),
            &["think: must not exceed 1000h on average"],
        );
    }
}
