//! Where in a plan a problem is.

use std::fmt;

/// Defines fields of a part of a plan, with the names that they have in it.
macro_rules! fields {
    ($(#[$meta:meta])* $part:ident { $($field:ident = $name:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $part {
            $(#[doc = concat!("`", $name, "`")] $field,)*
        }

        impl $part {
            /// Its name in the plan.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)*
                }
            }
        }
    };
}

fields!(
    /// A field of the plan itself.
    PlanField {
        Shards = "shards",
        Authority = "target.authority",
        Addresses = "target.addresses",
        Steps = "steps",
        Scenarios = "scenarios",
        Duration = "duration",
        Timeout = "timeout",
        Pacing = "pacing",
    }
);

fields!(
    /// A field of the connections.
    ConnectionsField {
        Shared = "shared",
        Exchanges = "exchanges",
        ConnectTimeout = "connect_timeout",
        FirstByteTimeout = "first_byte_timeout",
        Streams = "streams",
        Policy = "policy",
        Sources = "sources",
        Tls = "tls",
        Identities = "tls.identities",
    }
);

fields!(
    /// A field of a step.
    StepField {
        Name = "name",
        Method = "method",
        Path = "path",
        Body = "body",
        Timeout = "timeout",
        Pause = "pause",
        Status = "check.status",
    }
);

fields!(
    /// A field of a scenario's load.
    LoadField {
        Connections = "connections",
        GrowTo = "grow_to",
        Queue = "queue",
        Profile = "profile",
        Users = "users",
        Think = "think",
        Every = "every",
    }
);

fields!(
    /// A field of a part of a load: of a stretch of arrivals, or of a number of users.
    LoadPartField {
        Length = "length",
        Spacing = "spacing",
        Rate = "rate",
        From = "from",
        To = "to",
        Every = "every",
        Step = "step",
        Arrivals = "arrivals",
        Times = "times",
    }
);

fields!(
    /// A field of a feeder.
    FeederField {
        AtEnd = "at_end",
        Order = "order",
        Text = "text",
    }
);

/// A place in a plan. Indices count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPlace {
    /// In the plan itself.
    Field(PlanField),
    /// In its connections.
    Connections(ConnectionsField),
    /// In a step.
    Step(usize, StepPlace),
    /// In a scenario.
    Scenario(usize, ScenarioPlace),
    /// A pause of the programs, in their order.
    Pause(usize),
    /// A condition of the programs, in their order.
    Condition(usize),
    /// A constant of the data.
    Value(usize),
    /// In a feeder of the data.
    Feeder(usize, FeederField),
}

/// A place in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPlace {
    /// One of its fields.
    Field(StepField),
    /// A header field.
    Header(usize),
    /// A predicate on the answer beside the status.
    Predicate(usize),
    /// An extraction.
    Extract(usize),
}

/// A place in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScenarioPlace {
    /// Its name.
    Name,
    /// Its program.
    Program,
    /// Its limit of iterations.
    Iterations,
    /// In its load.
    Load(LoadPlace),
}

/// A place in a scenario's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadPlace {
    /// One of its fields.
    Field(LoadField),
    /// In a stretch of its profile.
    Stretch(usize, LoadPartField),
    /// In a part of its users.
    Crowd(usize, LoadPartField),
}

impl fmt::Display for PlanPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => f.write_str(field.name()),
            Self::Connections(field) => write!(f, "connections.{}", field.name()),
            Self::Step(index, place) => write!(f, "steps[{index}].{place}"),
            Self::Scenario(index, place) => write!(f, "scenarios[{index}].{place}"),
            Self::Pause(index) => write!(f, "pauses[{index}]"),
            Self::Condition(index) => write!(f, "conditions[{index}]"),
            Self::Value(index) => write!(f, "data.values[{index}]"),
            Self::Feeder(index, field) => write!(f, "data.feeders[{index}].{}", field.name()),
        }
    }
}

impl fmt::Display for StepPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => f.write_str(field.name()),
            Self::Header(index) => write!(f, "headers[{index}]"),
            Self::Predicate(index) => write!(f, "check.also[{index}]"),
            Self::Extract(index) => write!(f, "extract[{index}]"),
        }
    }
}

impl fmt::Display for ScenarioPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("name"),
            Self::Program => f.write_str("program"),
            Self::Iterations => f.write_str("iterations"),
            Self::Load(place) => write!(f, "load.{place}"),
        }
    }
}

impl fmt::Display for LoadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => f.write_str(field.name()),
            Self::Stretch(index, field) => write!(f, "profile[{index}].{}", field.name()),
            Self::Crowd(index, field) => write!(f, "users[{index}].{}", field.name()),
        }
    }
}
