//! The experiment: one file that says what runs, what load it gets, which alternatives are compared and what must hold.
//!
//! ```text
//! file --document--> tree --deserr--> wire structs --convert, once--> Experiment
//! ```
//!
//! [`Experiment::load`] reports every problem of the file at once, each with `file:line:column` and what to write instead; an
//! [`Experiment`] that exists is consistent. It is pure but for [`Surroundings`]. Running it is left to `plimsoll-lab`.

mod arm;
mod component;
mod conversion;
mod decoded;
mod fault;
mod load;
mod loader;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
mod method;
mod name;
mod report;
mod scenario;
mod secret;
mod surroundings;
mod target;
mod template;
mod threshold;
mod topology;
mod trials;
pub mod wire;

pub use arm::{Arm, LoadedScenario, TooFewConnections};
pub use component::{
    CONTROL, CPU_PERIOD, Command, Component, ComponentKind, ContainerProbe, CpuQuota, Exporter,
    External, ExternalProbe, Gateway, Generator, HTTPS, Https, Listen, Listener, Mock, Placement,
    PostgresqlProbe, PrometheusProbe, Readiness, RedisProbe, RenderedFile, Scheme,
};
pub use decoded::{RECORDS, VALUES};
pub use fault::{
    Answer, CORES_APART, Certificate, Effect, Fault, FaultKind, Flaw, ForeignProxy, LEAST_LOSS,
    PacketEffect, Packets, Reload, Run,
};
pub use load::LoadSettings;
pub use method::{
    Availability, Capacity, Choice, FEWEST_TRIALS, LevelOrder, Levels, Method, Point, Row,
    Sensitivity,
};
pub use name::is_name;
pub use scenario::{Body, Data, FeederFile, Scenario, ScenarioPart, Step};
pub use secret::Secret;
pub use surroundings::{Disk, Inline, MAX_FILE_BYTES, Surroundings};
pub use target::TargetRef;
pub use template::{Field, Reference, Template, TemplateError, TemplatePart, Value};
pub use topology::Link;
pub use topology::{CLIENT, Network};
pub use wire::schema::SCHEMA;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use plimsoll_base::document::{Document, Problems};
use plimsoll_report::record::{Input, Ranges};
use plimsoll_report::threshold::Threshold;

/// The file that is loaded from a directory.
pub const FILE_NAME: &str = "experiment.yaml";

/// A consistent experiment: every name in it refers to something, every file it needs was there.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// Its question, in words.
    pub description: Option<String>,
    /// The file that it was loaded from.
    pub file: PathBuf,
    /// The directory that its relative paths were resolved against.
    pub directory: PathBuf,
    /// Components, in the order of the file.
    pub components: Vec<Component>,
    /// Indices into `components`: whatever a component refers to comes before it.
    pub start_order: Vec<usize>,
    /// The network whose hosts components run on.
    pub network: Option<Network>,
    /// Addresses of hosts, by name, in place of what their names resolve to.
    pub hosts: BTreeMap<String, IpAddr>,
    /// For each component, the indices of those that it refers to.
    pub needs: Vec<Vec<usize>>,
    /// Where the generator runs.
    pub generator: Generator,
    /// The alternatives, in the order of the file; at least one.
    pub arms: Vec<Arm>,
    /// How the arms are run.
    pub method: Method,
    /// Faults, in the order of the file.
    pub faults: Vec<Fault>,
    /// Thresholds, in the order of the file.
    pub thresholds: Vec<Threshold>,
    /// Bounds of the ranges of response times in reports.
    pub ranges: Ranges,
    /// The files that were read, the experiment's own first.
    pub inputs: Vec<Input>,
    /// Every secret that stands anywhere in it.
    pub secrets: Vec<Reference>,
}

impl Experiment {
    /// Loads the file at `path`, or [`FILE_NAME`] in the directory at `path`, with `overrides` (`path=value`, from `--set`) on top.
    ///
    /// # Errors
    /// Every problem of the file and of the files that it names, in order of position.
    pub fn load(
        path: &Path,
        overrides: &[String],
        surroundings: &dyn Surroundings,
    ) -> Result<Self, Problems> {
        conversion::load(path, overrides, surroundings)
    }

    /// Loads the file at `path`, whose text is parsed already.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn of(
        document: Document,
        text: &str,
        path: &Path,
        surroundings: &dyn Surroundings,
    ) -> Result<Self, Problems> {
        conversion::load_document(document, text, path, &[], surroundings)
    }

    /// The component of that name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components
            .iter()
            .find(|component| component.name == name)
    }

    /// The arm of that name.
    #[must_use]
    pub fn arm(&self, name: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// Links in which a proxy has to stand: those that are delayed, and those that have faults.
    #[must_use]
    pub fn led_links(&self) -> Vec<Link> {
        let delayed = match &self.method {
            Method::Sensitivity(sensitivity) => sensitivity.links.as_slice(),
            _ => &[],
        };
        let broken = self.faults.iter().filter_map(|fault| fault.kind.link());
        let mut links: Vec<Link> = delayed.iter().chain(broken).cloned().collect();
        links.sort();
        links.dedup();
        links
    }

    /// Everything that may be broken, and how: faults on each component that a trial of them may choose.
    #[must_use]
    pub fn fault_kinds(&self) -> Vec<FaultKind> {
        let own = self.faults.iter().map(|fault| fault.kind.clone());
        let chosen = match &self.method {
            Method::Availability(availability) => availability.variants(&self.faults),
            _ => Vec::new(),
        };
        own.chain(chosen).collect()
    }

    /// The host to connect to in place of another: the address that the file gives it, or else itself.
    #[must_use]
    pub fn route(&self, host: &str) -> String {
        let given = self.hosts.get(host).map(ToString::to_string);
        given.unwrap_or_else(|| host.to_owned())
    }

    /// This experiment without some components, by name: without those that refer to them too, and without the arms that lead to any of these. The
    /// second part is what each of these arms lacks.
    #[must_use]
    pub fn without(&self, absent: &[String]) -> (Self, Vec<(String, String)>) {
        let mut lacks: Vec<Option<String>> = self
            .components
            .iter()
            .map(|component| {
                absent
                    .contains(&component.name)
                    .then(|| component.name.clone())
            })
            .collect();
        for &index in &self.start_order {
            let of_needed = self.needs[index]
                .iter()
                .find_map(|needed| lacks[*needed].clone());
            lacks[index] = lacks[index].take().or(of_needed);
        }
        let lacking = |name: &str| {
            let index = self
                .components
                .iter()
                .position(|component| component.name == name)?;
            lacks[index].clone()
        };
        let kept: Vec<usize> = (0..lacks.len())
            .filter(|index| lacks[*index].is_none())
            .collect();
        let place = |index: &usize| kept.iter().position(|kept| kept == index);
        let (mut arms, mut left_out) = (Vec::new(), Vec::new());
        for arm in &self.arms {
            match lacking(&arm.target.component) {
                Some(component) => left_out.push((arm.name.clone(), component)),
                None => arms.push(arm.clone()),
            }
        }
        let remaining = Self {
            components: kept
                .iter()
                .map(|index| self.components[*index].clone())
                .collect(),
            start_order: self.start_order.iter().filter_map(place).collect(),
            needs: kept
                .iter()
                .map(|index| self.needs[*index].iter().filter_map(place).collect())
                .collect(),
            arms,
            ..self.clone()
        };
        (remaining, left_out)
    }

    /// Components in the order in which they are started.
    pub fn in_start_order(&self) -> impl Iterator<Item = &Component> {
        self.start_order
            .iter()
            .map(|index| &self.components[*index])
    }
}
