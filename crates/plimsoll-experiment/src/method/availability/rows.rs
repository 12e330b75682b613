//! Rows of the answer: which fault, on whom, how often in a year.

use plimsoll_base::document::Path as Pointer;
use plimsoll_report::record::{FaultRate, Role, SHAM};

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{AvailabilityFaultWire, AvailabilityWire, LeaderWire, PerYearWire, RoleWire};

/// Most faults of one server in a year: a hundred an hour.
const MOST_PER_YEAR: f64 = 1e6;
/// Times over which faults are counted, in years of one server.
const SHORTEST_YEARS: f64 = 1e-3;
const LONGEST_YEARS: f64 = 1e6;

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

impl Row {
    /// The names of its rows in reports: where victims of both roles are chosen, each role has one of its own beside that of both.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let of_roles = match &self.choice {
            Choice::ByRole { leads: None, .. } => [Role::Leader, Role::Follower]
                .map(|role| role.row(&self.name))
                .to_vec(),
            Choice::Any | Choice::ByRole { .. } => Vec::new(),
        };
        std::iter::once(self.name.clone()).chain(of_roles).collect()
    }
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

pub(super) fn rows(loader: &mut Loader<'_>, wire: &AvailabilityWire, at: &Pointer) -> Vec<Row> {
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
    let with_role = match wire.role {
        Some(RoleWire::Leader) => 1,
        Some(RoleWire::Follower) => named.saturating_sub(1),
        Some(RoleWire::Any) | None => named,
    };
    let servers = wire.servers.unwrap_or(with_role.max(1));
    if servers == 0 {
        loader.refuse(at.key("servers"), "must be at least 1");
    }
    if wire.among.is_some() && among.len() < 2 {
        loader.refuse(
            at.key("among"),
            "leaves no choice: name at least two components, or remove it",
        );
    }
    for (index, one) in among.iter().enumerate() {
        if among[..index].contains(one) {
            loader.refuse(at.key("among").index(index), "is named twice: keep one");
        }
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
            if !(0.0..=MOST_PER_YEAR).contains(&rate) {
                loader.refuse(
                    at,
                    "is no rate: write how often one server has the fault in a year, 0 to 1,000,000",
                );
            }
            FaultRate::Declared(rate)
        }
        PerYearWire::Counted(counted) => {
            if !(SHORTEST_YEARS..=LONGEST_YEARS).contains(&counted.in_years) {
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
                "says who leads, and is never asked: write `role: leader`, `follower` or `any` beside it, or remove it",
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
