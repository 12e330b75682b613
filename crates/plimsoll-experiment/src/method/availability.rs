//! `availability` of the file: which faults are tried, how often, and by which definitions their outages are read.

use plimsoll_base::document::{DurationText, Path as Pointer, suggestion};
use plimsoll_base::units::format_seconds;
use plimsoll_load::plan::{Load, Profile};
use plimsoll_report::record::{AvailabilitySettings, FaultFacts, FaultRate, Retries, SHAM};
use std::time::Duration;

use crate::arm::Arm;
use crate::component::Component;
use crate::fault::{Fault, FaultKind};
use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{
    ArrivalWire, AvailabilityFaultWire, AvailabilityWire, LeaderWire, LoadWire, PerYearWire,
    RoleWire,
};

/// Of so many trials the longest bounds 95 % of all outages with 95 % confidence.
const TRIALS: u32 = 59;
/// Fewer trials have no interval.
pub(crate) const FEWEST_TRIALS: u32 = 5;
const MOST_TRIALS: u32 = 10_000;
/// One sham for so many trials.
const TRIALS_A_SHAM: u32 = 20;
/// Load before each trial, unless the file says how much.
const WARMUP: Duration = Duration::from_secs(1);
/// Most arrivals per second that are recorded one by one.
const MOST_PER_S: f64 = 5_000.0;
/// Most arrivals of a trial.
const MOST_ARRIVALS: f64 = 2_000_000.0;
/// How much more connections there are than arrivals that can wait for one at once.
const ROOM: f64 = 1.1;
/// How long what had a deadline may be under way beyond it.
const BEYOND_S: f64 = 1.0;

/// Everything has to be healthy for so long before a fault.
const HEALTHY: Duration = Duration::from_secs(2);
/// Between that and the earliest moment of a fault.
const LEAD: Duration = Duration::from_millis(500);
/// How long a component that is started anew, and the proof of a heal, may take beyond a fault's own time.
const HEALING: Duration = Duration::from_secs(30);

/// Trials of faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Availability {
    /// Rows of the answer, in the order of the file.
    pub rows: Vec<Row>,
    /// Trials of each row.
    pub trials: u32,
    /// Trials in which nothing is broken.
    pub shams: u32,
    /// Time of the whole run.
    pub budget: Option<Duration>,
    /// Good until then.
    pub deadline: Duration,
    /// Slow from then on.
    pub slow: Duration,
    /// Between two outages.
    pub gap: Duration,
    /// Free of failures for so long is recovered.
    pub settle: Duration,
    /// Not recovered by then is a failed failover.
    pub abort: Duration,
    /// The moment of a fault is random within so long.
    pub phase: Duration,
    /// How long a repair takes.
    pub repair: Option<Duration>,
    /// Most of a year that may be lost.
    pub within: Option<Duration>,
    /// A client that tries again.
    pub retries: Option<(u32, Duration)>,
}

/// A row of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The fault, by its name.
    pub fault: String,
    /// How many there are that may have it.
    pub servers: u32,
    /// How often one of them has it in a year.
    pub per_year: Option<FaultRate>,
    /// Components of which one is broken; empty: the fault's own.
    pub among: Vec<String>,
    /// How the one is chosen.
    pub choice: Choice,
}

/// How a victim is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// At random.
    Any,
    /// By its role, of which a command tells.
    ByRole {
        /// `None`: at random, and the role is told.
        leads: Option<bool>,
        /// Prints the name of the component that leads.
        leader: Vec<Template>,
    },
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &AvailabilityWire,
    at: &Pointer,
) -> Availability {
    let deadline = time(
        loader,
        wire.deadline,
        Duration::from_secs(1),
        &at.key("deadline"),
    );
    let trials = wire.trials.unwrap_or(TRIALS);
    refuse_number(loader, trials, &at.key("trials"));
    let rows = rows(loader, wire, &at.key("faults"));
    let rounds = trials.saturating_mul(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let shams = rounds.div_ceil(TRIALS_A_SHAM).max(FEWEST_TRIALS);
    let shams = wire.shams.unwrap_or(shams);
    refuse_number(loader, shams, &at.key("shams"));
    let availability = Availability {
        rows,
        trials,
        shams,
        budget: wire.budget.map(|budget| *budget),
        deadline,
        slow: time(loader, wire.slow, deadline / 2, &at.key("slow")),
        gap: time(loader, wire.gap, Duration::from_secs(1), &at.key("gap")),
        settle: time(
            loader,
            wire.settle,
            Duration::from_secs(5),
            &at.key("settle"),
        ),
        abort: time(
            loader,
            wire.abort,
            Duration::from_secs(60),
            &at.key("abort"),
        ),
        phase: time(loader, wire.phase, Duration::from_secs(2), &at.key("phase")),
        repair: wire.repair.map(|repair| *repair),
        within: wire.within.map(|within| *within),
        retries: wire.retries.as_ref().map(|wire| (wire.times, *wire.after)),
    };
    if availability.deadline > availability.abort {
        loader.refuse(
            at.key("deadline"),
            "is longer than `abort`: no answer would be late before a fault is given up; write less",
        );
    }
    if availability.slow > availability.deadline {
        loader.refuse(
            at.key("slow"),
            "is longer than `deadline`, after which an answer is not slow but failed: write less",
        );
    }
    if let Some(retries) = &wire.retries
        && (!(1..=10).contains(&retries.times) || retries.after.is_zero())
    {
        loader.refuse(
            at.key("retries"),
            "is no client that tries again: write for instance `{ times: 2, after: 100ms }`",
        );
    }
    availability
}

fn time(
    loader: &mut Loader<'_>,
    wire: Option<DurationText>,
    default: Duration,
    at: &Pointer,
) -> Duration {
    let time = wire.map_or(default, |time| *time);
    if time.is_zero() {
        let message = format!(
            "is nothing: write for instance `{}`",
            format_seconds(default.as_secs_f64()).replace(' ', "")
        );
        loader.refuse(at, message);
    }
    time
}

fn refuse_number(loader: &mut Loader<'_>, number: u32, at: &Pointer) {
    if !(FEWEST_TRIALS..=MOST_TRIALS).contains(&number) {
        let message = format!(
            "`{number}` trials say nothing, or have no end: write {FEWEST_TRIALS} to {MOST_TRIALS}; {TRIALS} bound 95 % of outages"
        );
        loader.refuse(at, message);
    }
}

fn rows(loader: &mut Loader<'_>, wire: &AvailabilityWire, at: &Pointer) -> Vec<Row> {
    if wire.faults.0.is_empty() {
        loader.refuse(
            at,
            "names no fault: write for instance `application: { fault: crash, servers: 2, per_year: 4 }`",
        );
    }
    let mut rows = Vec::new();
    for (name, wire) in wire.faults.iter() {
        let at = at.key(name);
        if name == SHAM {
            loader.refuse_key(
                &at,
                "is the row of trials without a fault: write another name",
            );
        }
        if let Some(message) = refuse_row_name(name) {
            loader.refuse_key(&at, message);
        }
        rows.push(row(loader, name, wire, &at));
    }
    rows
}

/// Why `text` cannot name a row; `None` when it can. Rows are for people, and parts of the paths of metrics.
fn refuse_row_name(text: &str) -> Option<String> {
    let allowed = |c: char| c.is_alphanumeric() || " -_".contains(c);
    let fits = (1..=63).contains(&text.len()) && text.chars().all(allowed) && text.trim() == text;
    (!fits).then(|| {
        format!("`{text}` cannot name a row: write at most 63 letters, digits, blanks, `-` and `_`")
    })
}

fn row(loader: &mut Loader<'_>, name: &str, wire: &AvailabilityFaultWire, at: &Pointer) -> Row {
    let among = wire.among.clone().unwrap_or_default();
    let named = u32::try_from(among.len()).unwrap_or(u32::MAX);
    let servers = wire.servers.unwrap_or(named.max(1));
    if servers == 0 {
        loader.refuse(
            at.key("servers"),
            "is nobody who may have it: write at least 1",
        );
    }
    if wire.among.is_some() && among.len() < 2 {
        loader.refuse(
            at.key("among"),
            "leaves no choice: name at least two components, or remove it",
        );
    }
    Row {
        name: name.to_owned(),
        fault: wire.fault.clone(),
        servers,
        per_year: per_year(loader, wire.per_year, &at.key("per_year")),
        choice: choice(loader, wire, at),
        among,
    }
}

fn per_year(loader: &mut Loader<'_>, wire: Option<PerYearWire>, at: &Pointer) -> Option<FaultRate> {
    Some(match wire? {
        PerYearWire::Declared(rate) => {
            if !(rate.is_finite() && rate >= 0.0) {
                loader.refuse(
                    at,
                    "is no rate: write how often one server has the fault in a year, 0 or more",
                );
            }
            FaultRate::Declared(rate)
        }
        PerYearWire::Counted(counted) => {
            if !(counted.in_years.is_finite() && counted.in_years > 0.0) {
                loader.refuse(
                    at.key("in_years"),
                    "is no time: write for how many years of one server it was counted",
                );
            }
            FaultRate::Counted {
                count: counted.counted,
                years: counted.in_years,
            }
        }
    })
}

fn choice(loader: &mut Loader<'_>, wire: &AvailabilityFaultWire, at: &Pointer) -> Choice {
    let Some(role) = wire.role else {
        if wire.leader.is_some() {
            loader.refuse_key(
                at.key("leader"),
                "tells who leads, and nobody asks: write `role: leader`, `follower` or `any` beside it, or remove it",
            );
        }
        return Choice::Any;
    };
    if wire.among.is_none() {
        loader.refuse_key(
            at.key("role"),
            "chooses among components: write `among: [a, b, c]` beside it",
        );
    }
    let Some(leader) = &wire.leader else {
        loader.refuse(
            at.key("role"),
            "needs to know who leads: write `leader: { command: [...] }` beside it, a program that prints the component's name",
        );
        return Choice::Any;
    };
    Choice::ByRole {
        leads: match role {
            RoleWire::Leader => Some(true),
            RoleWire::Follower => Some(false),
            RoleWire::Any => None,
        },
        leader: leader_command(loader, leader, &at.key("leader").key("command")),
    }
}

fn leader_command(loader: &mut Loader<'_>, wire: &LeaderWire, at: &Pointer) -> Vec<Template> {
    if wire
        .command
        .first()
        .is_none_or(|program| program.is_empty())
    {
        loader.refuse(at, "names no program: write for instance `[./who-leads]`");
    }
    let arguments = wire.command.iter().enumerate();
    arguments
        .map(|(index, text)| loader.template(&at.index(index), text, Some("")))
        .collect()
}

/// The times of each load, and what it is like unless the file says otherwise.
pub(super) fn load(wire: &AvailabilityWire) -> LoadWire {
    LoadWire {
        duration: Some(DurationText(HEALTHY)),
        warmup: Some(DurationText(WARMUP)),
        profile: Some(ArrivalWire::Slots),
        timeout: Some(
            wire.deadline
                .unwrap_or(DurationText(Duration::from_secs(1))),
        ),
        ..LoadWire::default()
    }
}

impl Availability {
    /// The earliest moment of a fault in the measured time.
    #[must_use]
    pub fn earliest(&self) -> Duration {
        HEALTHY + LEAD
    }

    /// How long the measured time of a trial may last whose fault lasts for so long: until it is given up.
    #[must_use]
    pub fn longest(&self, lasts: Duration) -> Duration {
        self.usual(lasts) + HEALING + self.abort
    }

    /// How long it lasts where callers recover at once.
    #[must_use]
    pub fn usual(&self, lasts: Duration) -> Duration {
        self.earliest() + self.phase + lasts + self.settle + self.deadline
    }

    /// The definitions by which trials of an arm are read.
    #[must_use]
    pub fn settings(&self, arm: &Arm, faults: &[Fault]) -> AvailabilitySettings {
        let facts = |row: &Row| {
            let fault = faults.iter().find(|fault| fault.name == row.fault);
            let target = match row.among.is_empty() {
                true => fault.and_then(|fault| fault.kind.target()),
                false => Some(row.among.join(", ")),
            };
            let facts = FaultFacts {
                fault: row.fault.clone(),
                kind: fault.map_or_else(String::new, |fault| fault.kind.word().to_owned()),
                target,
                servers: row.servers,
                per_year: row.per_year,
            };
            (row.name.clone(), facts)
        };
        AvailabilitySettings {
            rate_per_s: rate(arm).unwrap_or_default(),
            deadline_s: self.deadline.as_secs_f64(),
            slow_s: self.slow.as_secs_f64(),
            gap_s: self.gap.as_secs_f64(),
            settle_s: self.settle.as_secs_f64(),
            abort_s: self.abort.as_secs_f64(),
            repair_s: self.repair.map(|repair| repair.as_secs_f64()),
            within_s: self.within.map(|within| within.as_secs_f64()),
            retries: self.retries.map(|(times, after)| Retries {
                times,
                after_s: after.as_secs_f64(),
            }),
            faults: self.rows.iter().map(facts).collect(),
        }
    }
}

/// The rate of an arm, which is one throughout.
fn rate(arm: &Arm) -> Option<f64> {
    match &arm.settings.load {
        Load::Open { profile, .. } => match profile[..] {
            [ref only] => match only.profile {
                Profile::Constant { rate } => Some(rate),
                _ => None,
            },
            _ => None,
        },
        Load::Closed { .. } => None,
    }
}

/// Gives arms the connections that an outage takes, and refuses loads under which one would say something else.
pub(crate) fn prepare(loader: &mut Loader<'_>, arms: &mut [Arm]) {
    let at = &Pointer::root().key("method").key("availability");
    for arm in arms {
        let name = &arm.name;
        let Some(rate) = rate(arm) else {
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
        let timeout = arm.settings.timeout.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of connections: at most 5,000/s, and what is larger is refused as such"
        )]
        let needed = (ROOM * rate * (timeout + BEYOND_S)).ceil() as u32;
        if !arm.settings.connections_stated {
            *arm = arm.over_connections(needed);
        } else if let Load::Open { grow_to, .. } = arm.settings.load
            && grow_to < needed
        {
            let message = format!(
                "{name}: {grow_to} connections, and an outage takes {needed}, as many as arrive while the first are waited for: write `load: {{ connections: {needed} }}`, or leave it out"
            );
            loader.refuse(at, message);
        }
    }
}

/// Holds rows against the faults of the file.
pub(crate) fn check(
    loader: &mut Loader<'_>,
    availability: &Availability,
    (faults, arms, components): (&[Fault], &[Arm], &[Component]),
) {
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
        refuse_times(loader, availability, fault, arms);
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

/// A fault lasts long enough to be seen, and its trial is short enough to be recorded.
fn refuse_times(loader: &mut Loader<'_>, availability: &Availability, fault: &Fault, arms: &[Arm]) {
    let at = Pointer::root().key("faults").key(&fault.name).key("for");
    for arm in arms {
        let Some(rate) = rate(arm) else { continue };
        if fault.lasts.as_secs_f64() < 2.0 / rate {
            let message = format!(
                "is shorter than two arrivals of {}/s, so nobody need notice it: write a longer time, or a higher rate",
                rate
            );
            loader.refuse(&at, message);
            return;
        }
        if rate * availability.longest(fault.lasts).as_secs_f64() > MOST_ARRIVALS {
            let message = format!(
                "makes a trial of up to {}, with more than {MOST_ARRIVALS} arrivals at {rate}/s: write less, a shorter `abort`, or a lower rate",
                format_seconds(availability.longest(fault.lasts).as_secs_f64())
            );
            loader.refuse(&at, message);
            return;
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

impl Availability {
    /// How long so many trials of each row take, with as many shams as belong to them, where callers recover at once.
    #[must_use]
    pub fn takes(&self, trials: u32, faults: &[Fault], arms: &[Arm]) -> Duration {
        let lasts = |row: &Row| {
            let fault = faults.iter().find(|fault| fault.name == row.fault);
            fault.map_or(Duration::ZERO, |fault| fault.lasts)
        };
        let of = |row: &Row| self.usual(lasts(row)) + WARMUP + AROUND;
        let round: Duration = self.rows.iter().map(of).sum();
        let longest = self.rows.iter().map(of).max().unwrap_or_default();
        let shams = self.shams_of(trials);
        let arms = u32::try_from(arms.len().max(1)).unwrap_or(u32::MAX);
        (round * trials + longest * shams) * arms
    }

    /// Faults on the components that their rows choose among.
    #[must_use]
    pub fn variants(&self, faults: &[Fault]) -> Vec<FaultKind> {
        let of_row = |row: &Row| -> Vec<FaultKind> {
            let fault = faults.iter().find(|fault| fault.name == row.fault);
            let kinds = row.among.iter().map(|name| fault?.kind.on(name));
            kinds.flatten().collect()
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// How many shams belong to so many trials of each row.
    #[must_use]
    pub fn shams_of(&self, trials: u32) -> u32 {
        let shams = u64::from(self.shams) * u64::from(trials);
        let shams = shams.div_ceil(u64::from(self.trials.max(1)));
        u32::try_from(shams)
            .unwrap_or(u32::MAX)
            .max(FEWEST_TRIALS.min(self.shams))
    }

    /// How many trials of each row there are: as many as are wanted, or as fit into the budget.
    #[must_use]
    pub fn fitting(&self, faults: &[Fault], arms: &[Arm]) -> u32 {
        let Some(budget) = self.budget else {
            return self.trials;
        };
        let fits = |trials: &u32| self.takes(*trials, faults, arms) <= budget;
        let mut fitting = (FEWEST_TRIALS..=self.trials).rev();
        fitting.find(fits).unwrap_or(FEWEST_TRIALS)
    }
}

/// Time around the load of a trial: a generator starts and ends.
const AROUND: Duration = Duration::from_millis(500);
