//! The topology: every component of an experiment as a running process or a known address.
//!
//! [`Topology`] starts components in the order of their references, watches them, and stops them in reverse. How one kind of
//! component is launched is `launch`'s business, when it counts as ready `ready`'s, what its substitutions stand for `values`'.

mod address;
mod announce;
mod failure;
mod launch;
mod links;
mod ports;
mod ready;
mod values;
mod watched;

pub use address::{Address, Addresses};
pub(crate) use launch::inherited;
pub use links::{Links, Passed};
pub use values::Values;
use watched::Watched;

use crate::error::{LabError, LogTail};
use crate::topology::cgroup;
use crate::topology::child::{Child, Exit, STOP_GRACE};
use crate::topology::peers;
use crate::topology::probe::{Moment, Sampler};
use crate::topology::shim::Spec;
use announce::Silence;
use failure::{died, not_started};
use indexmap::IndexMap;
use launch::Launch;
use plimsoll_experiment::{
    CPU_PERIOD, Component, ComponentKind, CpuQuota, Experiment, External, HTTPS, Method, Scheme,
    Secret,
};
use plimsoll_report::record::ComponentSample;
use std::collections::BTreeMap;
use std::fs;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// How often a command is started anew when another process takes the port that was free a moment ago.
const PORT_ATTEMPTS: usize = 5;
/// The exit code with which a component of ours refuses its input.
const WRONG_INPUT: u8 = 2;

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
    /// The proxy in links that the experiment delays, once it runs.
    links: Option<Links>,
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
            links: None,
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
        let experiment = self.experiment;
        let component = experiment
            .component(name)
            .ok_or_else(|| LabError::Internal(format!("there is no component `{name}`")))?;
        if let Method::Sensitivity(_) = &experiment.method
            && self.links.is_none()
        {
            self.start_fault_proxy().await?;
        }
        let log = self.places.logs.join(format!("{name}.log"));
        let running = match &component.kind {
            ComponentKind::External(external) => self.reach(name, external, log).await?,
            ComponentKind::Mock(_) | ComponentKind::Gateway(_) => {
                self.start_own(component, log).await?
            }
            ComponentKind::Command(_) => self.start_command(component, log).await?,
        };
        self.running.insert(name.to_owned(), running);
        if let (Method::Sensitivity(sensitivity), Some(links)) =
            (&experiment.method, &mut self.links)
        {
            let wanted = &sensitivity.links;
            links.lead(name, wanted, &mut self.addresses).await?;
        }
        Ok(())
    }

    /// Starts the proxy that stands in links.
    async fn start_fault_proxy(&mut self) -> Result<(), LabError> {
        let log = self.places.logs.join(format!("{}.log", links::FAULT_PROXY));
        let spec = launch::fault_proxy(&log, &self.places, &self.values)?;
        let mut child = self.spawn(links::FAULT_PROXY, &spec).await?;
        let announced = match announce::wait(&mut child).await {
            Ok(announced) => announced,
            Err(silence) => {
                let reason = silence.to_string();
                return Err(not_started(links::FAULT_PROXY, child, &reason, &log).await);
            }
        };
        let mut announced = announced.iter();
        let api = announced.find(|(listener, _)| listener == links::API);
        let (_, api) =
            api.ok_or_else(|| LabError::Internal("the fault proxy announced no API".to_owned()))?;
        self.links = Some(Links::new(api));
        let running = Running {
            child: Some(child),
            log,
            counters: None,
            watched: Watched::Below(Sampler::default()),
        };
        self.running.insert(links::FAULT_PROXY.to_owned(), running);
        Ok(())
    }

    /// Whom components are connected with, by their names, where no link leads that is delayed.
    #[must_use]
    pub fn beside_links(&self) -> Vec<(String, String)> {
        let children = self.running.iter();
        let children = children.filter_map(|(name, running)| Some((name, running.child.as_ref()?)));
        let mut found = Vec::new();
        for (name, child) in children.filter(|(name, _)| *name != links::FAULT_PROXY) {
            let own = self.addresses.ports(name);
            let peers = peers::below(child.shim_pid()).into_iter();
            // A connection at a port of its own was made by its client.
            let made = peers.filter(|connected| !own.contains(&connected.port));
            let beside = made.filter(|connected| !self.addresses.is_led(name, connected.peer));
            found.extend(beside.map(|connected| {
                let peer = self.addresses.component_at(connected.peer);
                let peer = peer.map_or_else(|| connected.peer.to_string(), str::to_owned);
                (name.clone(), peer)
            }));
        }
        found
    }

    /// The proxy in links that the experiment delays.
    ///
    /// # Errors
    /// [`LabError::Internal`] before anything was started, or where nothing is delayed.
    pub fn links(&self) -> Result<&Links, LabError> {
        let links = self.links.as_ref();
        links.ok_or_else(|| LabError::Internal("no link is led through a proxy".to_owned()))
    }

    /// A component that runs already.
    async fn reach(
        &mut self,
        name: &str,
        external: &External,
        log: PathBuf,
    ) -> Result<Running, LabError> {
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
        Ok(Running {
            child: None,
            log,
            counters: None,
            watched: Watched::open(name, &external.probe, password).await?,
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

    /// Stops every component, last started first.
    pub async fn stop_all(&mut self) {
        let names: Vec<String> = self.running.keys().rev().cloned().collect();
        for name in names {
            self.stop(&name).await;
        }
    }

    /// Waits until a component ends by itself. May be dropped and called again; pending while all run.
    pub async fn death(&mut self) -> LabError {
        type Ending<'e> = Pin<Box<dyn Future<Output = LabError> + 'e>>;
        let children = self.running.iter_mut();
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

    /// The counters file of a mock or a gateway of ours, which outlives its process.
    #[must_use]
    pub fn counters(&self, name: &str) -> Option<PathBuf> {
        self.running.get(name)?.counters.clone()
    }

    /// The counters files of all components that keep some, by name.
    #[must_use]
    pub fn all_counters(&self) -> Vec<(String, PathBuf)> {
        let running = self.running.iter();
        running
            .filter_map(|(name, running)| Some((name.clone(), running.counters.clone()?)))
            .collect()
    }

    async fn stop(&mut self, name: &str) {
        let Some(mut running) = self.running.shift_remove(name) else {
            return;
        };
        let grace = running.grace();
        if let Some(child) = &mut running.child {
            child.stop(grace).await;
        }
    }

    async fn start_own(
        &mut self,
        component: &Component,
        log: PathBuf,
    ) -> Result<Running, LabError> {
        let name = &component.name;
        let launch = self.launch(component, &log)?;
        let mut child = self.spawn(name, &launch.spec).await?;
        let announced = match announce::wait(&mut child).await {
            Ok(announced) => announced,
            Err(Silence::Ended(Exit::Code(WRONG_INPUT))) => {
                return Err(LabError::RefusedInput {
                    component: name.clone(),
                    log: LogTail::read(&log),
                });
            }
            Err(silence) => {
                return Err(not_started(name, child, &silence.to_string(), &log).await);
            }
        };
        for (listener, mut address) in announced {
            address.secure = listener == HTTPS;
            self.addresses.set(name, &listener, address);
        }
        Ok(Running {
            child: Some(child),
            log,
            counters: launch.counters,
            watched: Watched::Below(Sampler::default()),
        })
    }

    async fn start_command(
        &mut self,
        component: &Component,
        log: PathBuf,
    ) -> Result<Running, LabError> {
        let ComponentKind::Command(command) = &component.kind else {
            return Err(LabError::Internal(format!(
                "`{}` is not a command",
                component.name
            )));
        };
        let name = &component.name;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let ports = ports::choose(name, &command.listeners)?;
            for (listener, port) in &ports {
                self.addresses
                    .set(name, listener, Address::new("127.0.0.1", *port));
            }
            let launch = self.launch(component, &log)?;
            let mut child = self.spawn(name, &launch.spec).await?;
            let address = self.addresses.get(name, address::MAIN).cloned();
            let address = address.ok_or_else(|| {
                LabError::Internal(format!("`{name}` has no listener called main"))
            })?;
            match ready::wait(&mut child, command, &address).await {
                Ok(()) => {
                    return Ok(Running {
                        child: Some(child),
                        log,
                        counters: None,
                        watched: Watched::Below(Sampler::default()),
                    });
                }
                Err(reason) => {
                    let error = not_started(name, child, &reason, &log).await;
                    if attempts == PORT_ATTEMPTS || !ports::taken(&command.listeners, &ports) {
                        return Err(error);
                    }
                }
            }
        }
    }

    fn launch(&mut self, component: &Component, log: &Path) -> Result<Launch, LabError> {
        let mut launch = launch::prepare(
            component,
            log,
            &self.places,
            &self.experiment.directory,
            &mut self.values,
            &self.addresses,
        )?;
        let quota = component.placement.cpu_quota;
        if quota.is_some() || self.experiment.method.confirms() {
            launch.spec.cgroup = Some(cgroup::limit(&self.group(&component.name), quota)?);
        }
        Ok(launch)
    }

    /// The name of the control group of a component.
    fn group(&self, name: &str) -> String {
        format!("plimsoll-{}-{name}", self.places.run_id)
    }

    /// Holds a component that runs to so many cores; without a number, to what the experiment says. It must have been started in a group
    /// of its own, as all are whose cause is to be confirmed.
    ///
    /// # Errors
    /// [`LabError::Environment`] when it is none that this experiment starts, or the host does not permit it.
    pub fn hold(&self, name: &str, cores: Option<f64>) -> Result<(), LabError> {
        let refused =
            |why: String| LabError::Environment(format!("`{name}` cannot be held: {why}"));
        let component = self.experiment.component(name);
        let running = self.running.get(name);
        let (Some(component), true) = (component, running.is_some_and(|one| one.child.is_some()))
        else {
            return Err(refused("it is none that this experiment starts".to_owned()));
        };
        let own = component.placement.cpu_quota;
        let period = own.map_or(CPU_PERIOD, |own| own.period);
        let quota = cores.map(|cores| CpuQuota { cores, period }).or(own);
        let group = cgroup::limit(&self.group(name), quota)?;
        for (file, value) in &group.settings {
            let path = group.dir.join(file);
            fs::write(&path, value)
                .map_err(|error| refused(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    async fn spawn(&self, name: &str, spec: &Spec) -> Result<Child, LabError> {
        Child::start(&self.places.executable, spec)
            .await
            .map_err(|error| error.into_lab_error(name))
    }
}
