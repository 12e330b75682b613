//! The topology: every component of an experiment as a running process or a known address.
//!
//! [`Topology`] starts components in the order of their references, watches them, and stops them in reverse. How one kind of
//! component is launched is `launch`'s business, when it counts as ready `ready`'s, what its substitutions stand for `values`'.

mod address;
mod announce;
mod failure;
mod faults;
mod hosts;
mod launch;
mod limits;
mod links;
mod ports;
mod ready;
mod start;
mod target;
mod values;
mod watched;

pub use address::{Address, Addresses};
pub(crate) use launch::{clock_file, faketime, inherited};
pub use links::{Links, Passed};
pub(crate) use start::{Started, Starting};
pub(crate) use target::Target;
pub use values::Values;
use watched::Watched;

use crate::error::LabError;
use crate::topology::child::{Child, STOP_GRACE};
use crate::topology::probe::Moment;
use crate::topology::shim::Cgroup;
use crate::topology::warden::Warden;
use crate::topology::way::SharedNetwork;
use failure::died;
use indexmap::IndexMap;
use launch::Launch;
use plimsoll_experiment::{
    Command, Component, ComponentKind, Experiment, External, FaultKind, Scheme, Secret,
};
use plimsoll_report::record::ComponentSample;
use start::{Readying, Start};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How often a command is started anew when another process takes the port that was free a moment ago.
const PORT_ATTEMPTS: usize = 5;

/// Where components live on this host.
#[derive(Debug, Clone)]
pub struct ComponentPlaces {
    /// Our own executable, which is every component of ours, the generator and every shim.
    pub executable: PathBuf,
    /// A directory that only we can read: rendered files may hold secrets.
    pub scratch: PathBuf,
    /// The directory of logs.
    pub logs: PathBuf,
    /// Names what the run makes outside of directories: control groups.
    pub run_id: String,
}

/// How long a mock or a gateway of ours may take to end after SIGTERM.
const OWN_GRACE: Duration = Duration::from_secs(2);

/// A component that runs or is known to run.
struct Running {
    /// `None` for external components.
    child: Option<Child>,
    /// Its end would be a fault's doing.
    may_end: bool,
    groups: Vec<Cgroup>,
    log: PathBuf,
    counters: Option<PathBuf>,
    watched: Watched,
}

impl Running {
    /// How long it may take to end. Foreign programs get what they need. What a mock or a gateway of ours still has to do for a load that is
    /// over, such as waiting out the delay of an answer that nobody waits for, is of no use; its counters are kept as they are.
    fn grace(&self) -> Duration {
        match self.counters {
            Some(_) => OWN_GRACE,
            None => STOP_GRACE,
        }
    }
}

/// The components of an experiment, started or not.
pub struct Topology<'a> {
    experiment: &'a Experiment,
    places: ComponentPlaces,
    values: Values<'a>,
    addresses: Addresses,
    running: IndexMap<String, Running>,
    /// The counters files of components of ours, one for each start: counts of a process that was killed still count.
    counters: BTreeMap<String, Vec<PathBuf>>,
    /// The proxy in links that are slow or broken at times, once it runs.
    links: Option<Links>,
    /// The hosts that components run on, once they are made.
    network: Option<SharedNetwork>,
    /// Numbers faults of the network.
    numbers: u32,
    /// From the first fault on that somebody else would have to undo.
    warden: Option<Warden>,
}

impl<'a> Topology<'a> {
    /// A topology of which nothing runs yet.
    #[must_use]
    pub fn new(experiment: &'a Experiment, places: ComponentPlaces, values: Values<'a>) -> Self {
        Self {
            experiment,
            places,
            values,
            addresses: Addresses::default(),
            running: IndexMap::new(),
            counters: BTreeMap::new(),
            links: None,
            network: None,
            numbers: 0,
            warden: None,
        }
    }

    /// The names of components that do not run, in the order in which they start.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let components = self.experiment.in_start_order();
        let missing = components.filter(|component| !self.running.contains_key(&component.name));
        missing.map(|component| component.name.clone()).collect()
    }

    /// Starts one component and waits until it is ready. What it refers to must run already. A component of ours that ran
    /// before gets the port that it had.
    ///
    /// # Errors
    /// [`LabError`] when it is not ready before its deadline; it is then stopped.
    pub async fn start(&mut self, name: &str) -> Result<(), LabError> {
        self.start_network().await?;
        let led = self.experiment.led_links();
        if !led.is_empty() && self.links.is_none() {
            self.start_fault_proxy().await?;
        }
        let started = match &self.component(name)?.kind {
            ComponentKind::External(external) => self.reach(name, external).await?,
            ComponentKind::Command(command) => self.start_command(name, command).await?,
            ComponentKind::Mock(_) | ComponentKind::Gateway(_) => self.begin(name)?.await?,
        };
        self.adopt(name, started);
        match &mut self.links {
            Some(links) => links.lead(name, &led, &mut self.addresses).await,
            None => Ok(()),
        }
    }

    /// Begins to start one component, which is handed to [`Self::adopt`] once it is ready. A component that ran before gets the ports that it
    /// had: others were told of them.
    ///
    /// # Errors
    /// [`LabError`] when its files, ports or groups cannot be prepared.
    pub(crate) fn begin(&mut self, name: &str) -> Result<Starting, LabError> {
        let component = self.component(name)?;
        let log = self.places.logs.join(format!("{name}.log"));
        let readying = match &component.kind {
            ComponentKind::Command(command) => {
                Readying::Answers(Box::new(command.clone()), self.listen(name, command)?)
            }
            _ => Readying::Announced,
        };
        let launch = self.launch(component, &log)?;
        let executable = self.places.executable.clone();
        let start = Start {
            name: name.to_owned(),
            executable,
            launch,
            log,
            readying,
            way: self.way(name),
        };
        Ok(start.begin())
    }

    /// Takes over a component that is ready.
    pub(crate) fn adopt(&mut self, name: &str, started: Started) {
        for (listener, address) in started.announced {
            let address = self.seen(name, address);
            self.addresses.set(name, &listener, address);
        }
        if let Some(counters) = &started.running.counters {
            let files = self.counters.entry(name.to_owned()).or_default();
            files.push(counters.clone());
        }
        self.running.insert(name.to_owned(), started.running);
    }

    fn component(&self, name: &str) -> Result<&'a Component, LabError> {
        let found = self.experiment.component(name);
        found.ok_or_else(|| LabError::Internal(format!("there is no component `{name}`")))
    }

    /// The address at which a command shows that it is ready. It is given ports unless it has some.
    fn listen(&mut self, name: &str, command: &Command) -> Result<Address, LabError> {
        if self.addresses.listeners(name).is_empty() {
            for (listener, port) in ports::choose(name, &command.listeners)? {
                let address = Address::new(&self.ip(name), port);
                self.addresses.set(name, &listener, address);
            }
        }
        let main = self.addresses.get(name, address::MAIN).cloned();
        main.ok_or_else(|| LabError::Internal(format!("`{name}` has no listener called main")))
    }

    /// Starts a command, with other ports where somebody else takes one of those that were free a moment ago.
    async fn start_command(&mut self, name: &str, command: &Command) -> Result<Started, LabError> {
        let is_new = self.addresses.listeners(name).is_empty();
        let mut attempts = 1;
        loop {
            let started = self.begin(name)?.await;
            let is_taken = || ports::taken(&command.listeners, name, &self.addresses);
            if started.is_ok() || !is_new || attempts == PORT_ATTEMPTS || !is_taken() {
                return started;
            }
            attempts += 1;
            self.addresses.forget(name);
        }
    }

    /// A component that runs already.
    async fn reach(&mut self, name: &str, external: &External) -> Result<Started, LabError> {
        let mut address = Address::new(&external.host, external.port);
        address.secure = external.scheme == Scheme::Https;
        let there = self.experiment.route(&external.host);
        // Whether what no load goes to answers is for its probe to say.
        if external.scheme != Scheme::Tcp {
            ready::reachable(name, &Address::new(&there, external.port)).await?;
        }
        self.addresses.set(name, address::MAIN, address);
        let password = external.probe.password();
        let password = password.map(|it| self.values.resolve(it, None, &self.addresses));
        let password = password.transpose()?;
        let password = password.map(|value| Secret::new(value.expose()));
        let running = Running {
            child: None,
            may_end: false,
            groups: Vec::new(),
            log: self.places.logs.join(format!("{name}.log")),
            counters: None,
            watched: Watched::open(name, &external.probe, password).await?,
        };
        Ok(Started {
            running,
            announced: Vec::new(),
        })
    }

    /// Stops every component of ours that runs, last started first; gives their names. They are then missing.
    pub async fn stop_own(&mut self) -> Vec<String> {
        let own = |component: &&Component| {
            matches!(
                component.kind,
                ComponentKind::Mock(_) | ComponentKind::Gateway(_)
            )
        };
        let mut names: Vec<String> = self
            .experiment
            .in_start_order()
            .filter(own)
            .map(|component| component.name.clone())
            .filter(|name| self.running.contains_key(name))
            .collect();
        names.reverse();
        for name in &names {
            self.stop(name).await;
        }
        names
    }

    /// Stops every component, also one that has ended by itself, last started first; gives their names. They are then missing.
    pub async fn stop_components(&mut self) -> Vec<String> {
        let names: Vec<String> = self.running.keys().rev().cloned().collect();
        for name in &names {
            self.stop(name).await;
        }
        // The proxy in links was among them; the next start begins with one.
        self.links = None;
        names
    }

    /// Stops every component, and whatever else was started for them.
    pub async fn stop_all(&mut self) {
        // First: what is to be undone may need components.
        if let Some(warden) = self.warden.take() {
            warden.finish();
        }
        self.stop_components().await;
        // Whoever else has it is done by now.
        if let Some(network) = self.network.take().and_then(Arc::into_inner) {
            network.into_inner().stop().await;
        }
    }

    /// Waits until a component ends by itself. May be dropped and called again; pending while all run.
    pub async fn death(&mut self) -> LabError {
        type Ending<'e> = Pin<Box<dyn Future<Output = LabError> + 'e>>;
        let children = (self.running.iter_mut()).filter(|(_, running)| !running.may_end);
        let mut endings: Vec<Ending<'_>> = children
            .filter_map(|(name, running)| Some((name, running.child.as_mut()?, &running.log)))
            .map(|(name, child, log)| -> Ending<'_> {
                Box::pin(async move { died(name, child.ended().await, log) })
            })
            .collect();
        poll_fn(|context| {
            let mut polled = endings
                .iter_mut()
                .map(|ending| ending.as_mut().poll(context));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }

    /// The consumption of every component since the sample before; components without one are left out.
    pub fn sample(&mut self, moment: &Moment) -> Vec<(String, ComponentSample)> {
        let (running, addresses) = (self.running.iter_mut(), &self.addresses);
        running
            .filter_map(|(name, running)| {
                let shim = running.child.as_ref().map(Child::shim_pid);
                let ports = addresses.ports(name);
                let sample = running.watched.sample(moment, shim, &ports)?;
                Some((name.clone(), sample))
            })
            .collect()
    }

    /// Resources that probes may not see, by component, in words.
    #[must_use]
    pub fn denied(&self) -> Vec<(String, String)> {
        let running = self.running.iter();
        running
            .filter_map(|(name, running)| Some((name.clone(), running.watched.denied()?)))
            .collect()
    }

    /// Components whose resources are not known, and why.
    #[must_use]
    pub fn unseen(&self) -> BTreeMap<String, String> {
        let running = self.running.iter();
        running
            .filter_map(|(name, running)| Some((name.clone(), running.watched.unseen()?)))
            .collect()
    }

    /// Processor time that readings of endpoints took lately, beyond what [`Self::sample`] takes.
    #[must_use]
    pub fn probing(&self) -> Duration {
        self.running.values().map(|one| one.watched.cost()).sum()
    }

    /// Where components listen.
    #[must_use]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Values of the substitutions of arms.
    pub fn values(&mut self) -> (&mut Values<'a>, &Addresses) {
        (&mut self.values, &self.addresses)
    }

    /// The counters files of a mock or a gateway of ours, which outlive its processes: one for each start since it was last stopped.
    #[must_use]
    pub fn counters(&self, name: &str) -> &[PathBuf] {
        self.counters.get(name).map_or(&[], Vec::as_slice)
    }

    /// The counters files of all components that keep some, by name.
    #[must_use]
    pub fn all_counters(&self) -> Vec<(String, PathBuf)> {
        let running = self.running.iter();
        running
            .filter_map(|(name, running)| Some((name.clone(), running.counters.clone()?)))
            .collect()
    }

    /// The run's identity, which names what it makes outside of its directories.
    pub(crate) fn run_id(&self) -> &str {
        &self.places.run_id
    }

    /// Our own executable.
    pub(crate) fn executable(&self) -> &Path {
        &self.places.executable
    }

    /// The log of this name.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.places.logs.join(format!("{name}.log"))
    }

    /// The directory of the run that goes with it.
    pub(crate) fn scratch(&self) -> &Path {
        &self.places.scratch
    }

    /// The directory of a component's files.
    pub(crate) fn directory_of(&self, name: &str) -> PathBuf {
        self.places.scratch.join(name)
    }

    /// The directory of the experiment, absolute.
    pub(crate) fn directory(&self) -> PathBuf {
        values::absolute(&self.experiment.directory)
    }

    async fn stop(&mut self, name: &str) {
        let Some(mut running) = self.running.shift_remove(name) else {
            return;
        };
        self.counters.remove(name);
        let grace = running.grace();
        if let Some(child) = &mut running.child {
            child.stop(grace).await;
        }
    }

    fn launch(&mut self, component: &Component, log: &Path) -> Result<Launch, LabError> {
        let starts = self.counters(&component.name).len();
        let ip = self.ip(&component.name);
        let mut launch = launch::prepare(
            component,
            log,
            &self.places,
            &self.experiment.directory,
            &mut self.values,
            &self.addresses,
            launch::Origin {
                starts,
                ip,
                is_on_host: component.placement.host.is_some(),
            },
        )?;
        if self.has_fault(&component.name, |kind| {
            matches!(kind, FaultKind::Clock { .. })
        }) {
            let directory = self.directory_of(&component.name);
            launch.spec.environment.extend(launch::faked(&directory)?);
        }
        launch.spec.cgroups = self.groups(component)?;
        Ok(launch)
    }
}
