//! Whether arms and faults of the file are such that a trial says what it is to say.

use plimsoll_base::document::{Path as Pointer, suggestion};
use plimsoll_base::units::format_seconds;

use crate::arm::{Arm, TooFewConnections};
use crate::component::Component;
use crate::fault::Fault;
use crate::loader::Loader;
use crate::method::Method;
use crate::method::availability::{Availability, FEWEST_TRIALS, Row};

/// Most arrivals per second that are recorded one by one.
const MOST_PER_S: f64 = 5_000.0;
/// Most arrivals of a trial.
const MOST_ARRIVALS: f64 = 2_000_000.0;
/// Most where the record also has what steps take out of answers.
const MOST_WITH_EXTRACTS: f64 = 200_000.0;
/// Most values of a step's answer in the record.
const MOST_EXTRACTS: usize = 20;
/// Fewer arrivals than these could come by chance between two that fail.
const FEWEST_TO_SETTLE: f64 = 5.0;
/// Two arrivals may lie so many slots apart.
const FEWEST_IN_GAP: f64 = 3.0;
/// A shorter fault may lie between two arrivals.
const FEWEST_IN_FAULT: f64 = 2.0;
/// How much more connections there are than arrivals that can wait for one at once.
const ROOM: f64 = 1.1;
/// How long what had a deadline may be under way beyond it.
const BEYOND_S: f64 = 1.0;

/// Gives arms the connections that an outage takes, and refuses loads under which one would say something else.
pub(crate) fn prepare(loader: &mut Loader<'_>, method: &Method, arms: &mut [Arm]) {
    if !matches!(method, Method::Availability(_)) {
        return;
    }
    let at = &Pointer::root().key("method").key("availability");
    for arm in arms {
        let name = &arm.name;
        let Some(rate) = arm.rate() else {
            let message = format!(
                "{name}: its load is not one rate, so failures would not be seconds: write `load: {{ rate: 100/s }}`"
            );
            loader.refuse(at, message);
            continue;
        };
        if rate > MOST_PER_S {
            let message = format!(
                "{name}: offers {rate}/s, and at most {MOST_PER_S}/s are recorded one by one: write less"
            );
            loader.refuse(at, message);
        }
        if !arm.has_one_exchange() {
            let message = format!(
                "{name}: an iteration has more than one exchange, or none, so an arrival would not be good or failed: write one step, or a `mix` of single ones"
            );
            loader.refuse(at, message);
        }
        if arm.steps.iter().any(|step| step.exchange.follow.is_some()) {
            let message = format!(
                "{name}: follows redirects, so an arrival would be several exchanges: leave `redirects` out"
            );
            loader.refuse(at, message);
        }
        if (arm.steps.iter()).any(|step| step.exchange.extract.len() > MOST_EXTRACTS) {
            let message = format!(
                "{name}: takes more than {MOST_EXTRACTS} values out of an answer, all of which would be recorded: write fewer in `extract`"
            );
            loader.refuse(at, message);
        }
        let timeout = arm.longest_timeout().as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of connections: at most 5,000/s, and what is larger is refused as such"
        )]
        let needed = (ROOM * rate * (timeout + BEYOND_S)).ceil() as u32;
        if !arm.settings.connections_stated {
            *arm = arm.over_connections(needed);
        } else if let Some(TooFewConnections { most, write }) =
            arm.too_few_connections(needed.into())
        {
            let message = format!(
                "{name}: {most} connections, and an outage takes {needed}, as many as arrive while the first are waited for: write `{write}`, or leave out `connections` and `when_busy`"
            );
            loader.refuse(at, message);
        }
    }
}

/// Holds rows against the faults of the file.
pub(crate) fn check(
    loader: &mut Loader<'_>,
    method: &Method,
    (faults, arms, components): (&[Fault], &[Arm], &[Component]),
) {
    let Method::Availability(availability) = method else {
        return;
    };
    let root = Pointer::root();
    let at = root.key("method").key("availability");
    let names: Vec<String> = faults.iter().map(|fault| fault.name.clone()).collect();
    for row in &availability.rows {
        let at = at.key("faults").key(&row.name);
        let Some(fault) = faults.iter().find(|fault| fault.name == row.fault) else {
            let message = match names.is_empty() {
                true => "there are no faults: write them under `faults:`".to_owned(),
                false => format!(
                    "there is no fault `{}`: {}",
                    row.fault,
                    suggestion(&row.fault, &names)
                ),
            };
            loader.refuse(at.key("fault"), message);
            continue;
        };
        refuse_victims(loader, row, fault, components, &at);
    }
    for fault in faults {
        let tried = availability.rows.iter().any(|row| row.fault == fault.name);
        if !tried {
            let message =
                "is tried by no row of `method.availability.faults`: add one, or remove it";
            loader.refuse_key(root.key("faults").key(&fault.name), message);
        }
    }
    for arm in arms {
        refuse_times(loader, availability, (faults, components), arm);
    }
    refuse_budget(loader, availability, (faults, arms), &at);
}

fn refuse_victims(
    loader: &mut Loader<'_>,
    row: &Row,
    fault: &Fault,
    components: &[Component],
    at: &Pointer,
) {
    for (index, name) in row.among.iter().enumerate() {
        let at = at.key("among").index(index);
        if !components
            .iter()
            .any(|one| one.name == *name && one.is_started())
        {
            let message = format!(
                "`{name}` is no component that this experiment starts: name one that it does"
            );
            loader.refuse(&at, message);
        } else if fault.kind.on(name).is_none() {
            let message = format!(
                "a `{}` fault is of one thing: write a row and a fault for each",
                fault.kind.word()
            );
            loader.refuse(&at, message);
        }
    }
}

/// The definitions are such that arrivals of this rate can tell, a fault lasts long enough to be seen, and its trial is short enough to be recorded.
fn refuse_times(
    loader: &mut Loader<'_>,
    availability: &Availability,
    (faults, components): (&[Fault], &[Component]),
    arm: &Arm,
) {
    let Some(rate) = arm.rate() else { return };
    let mut steps = arm.steps.iter();
    let most = match steps.any(|step| !step.exchange.extract.is_empty()) {
        true => MOST_WITH_EXTRACTS,
        false => MOST_ARRIVALS,
    };
    let at = Pointer::root().key("method").key("availability");
    let fewest = [
        ("settle", availability.settle, FEWEST_TO_SETTLE),
        ("gap", availability.gap, FEWEST_IN_GAP),
    ];
    for (key, time, slots) in fewest {
        if time.as_secs_f64() * rate < slots {
            let message = format!(
                "is shorter than {slots} arrivals of {rate}/s, so it says nothing that nothing fails in it: write a longer time, or a higher rate"
            );
            loader.refuse(at.key(key), message);
        }
    }
    for (_, fault) in availability.tried(faults, arm) {
        let at = Pointer::root().key("faults").key(&fault.name).key("for");
        if fault.lasts.as_secs_f64() * rate < FEWEST_IN_FAULT {
            let message = format!(
                "is shorter than two arrivals of {rate}/s, so callers may not notice it: write a longer time, or a higher rate"
            );
            loader.refuse(&at, message);
        }
        let longest = availability.longest(fault.lasts, arm, components);
        let longest = (longest + arm.settings.warmup).as_secs_f64();
        if rate * longest > most {
            let message = format!(
                "makes a trial of up to {}, with more than {most} arrivals at {rate}/s: write less, a shorter `abort`, or a lower rate",
                format_seconds(longest)
            );
            loader.refuse(&at, message);
        }
    }
}

fn refuse_budget(
    loader: &mut Loader<'_>,
    availability: &Availability,
    (faults, arms): (&[Fault], &[Arm]),
    at: &Pointer,
) {
    let Some(budget) = availability.budget else {
        return;
    };
    let fewest = availability.takes(FEWEST_TRIALS, faults, arms);
    if budget < fewest {
        let message = format!(
            "is enough for fewer than {FEWEST_TRIALS} trials of each, which say nothing: these take about {}",
            format_seconds(fewest.as_secs_f64())
        );
        loader.refuse(at.key("budget"), message);
    }
}
