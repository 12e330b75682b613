//! A load under way: the generator's messages, samples of components and whatever ends it, in one loop until it is over.

mod in_trial;

use super::deserted::Deserted;
use super::plan::{numbered, offered};
use super::{Keeping, LoadSpec, out_of_rows, stopped};
use crate::clock::passed;
use crate::error::{LabError, LogTail};
use crate::fault::Script;
use crate::load::account::Ledger;
use crate::load::demand::Pairing;
use crate::load::health::Health;
use crate::load::service_time_check::EndTimes;
use crate::load::thresholds::Watch;
use crate::load::trial::TrialWatch;
use crate::preflight;
use crate::progress::Progress;
use crate::record::collect::Collector;
use crate::record::recorder::{Counted, Recorder, Scene};
use crate::record::rundir::log_apart;
use crate::topology::cgroup;
use crate::topology::component::{Passed, Topology};
use crate::topology::generator::Generator;
use crate::topology::probe::{Cost, HealthProbe, HostProbe, Moment, SampleSubject, Sampler};
use crate::topology::process_tree::Descendants;
use plimsoll_load::fragment::{Accounts, Fragment, Message, Started};
use plimsoll_load::plan::{Plan, groups_of};
use plimsoll_report::record::Breach;
use plimsoll_report::record::{ArmData, ComponentSample, EventKind, GENERATOR, LoadRow};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How long the generator may take to stop once a component has died: an exchange under way gets a second from it.
const CLOSING: Duration = Duration::from_secs(5);

/// Between two samples of components.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Remains of a load that is over, beside its data.
pub(super) struct Over {
    pub(super) generator: Generator,
    pub(super) ledger: Ledger,
    pub(super) death: Option<LabError>,
    pub(super) stopping: bool,
    pub(super) breaches: Vec<(usize, Breach)>,
    pub(super) seconds: Vec<LoadRow>,
    pub(super) trial: Option<TrialWatch>,
    /// Passed on links before the measured time; empty where none are delayed.
    pub(super) passed: BTreeMap<String, Passed>,
    /// When the load began, in seconds since the run began.
    pub(super) start: f64,
}

/// The error of a target that nobody serves any more.
fn gone(target: &str, since_s: f64) -> LabError {
    LabError::Died {
        component: target.to_owned(),
        reason: format!(
            "it answered, and since second {since_s:.0} of the load refuses every connection"
        ),
        log: LogTail::default(),
    }
}

/// A load under way.
pub(super) struct RunningLoad {
    generator: Generator,
    processes: Descendants,
    sampler: Sampler,
    host: HostProbe,
    /// Processor time that the probes of the last sample took.
    probing: Duration,
    pairing: Pairing,
    health: Health,
    /// Where a component keeps counters.
    service_time_check: Option<EndTimes>,
    /// From the first sample on.
    probe: Option<HealthProbe>,
    scene: Scene,
    warmup: f64,
    collector: Collector,
    watch: Watch,
    /// Breaches that ended the load, once there are any.
    breaches: Vec<(usize, Breach)>,
    ledger: Ledger,
    /// When the load begins, once that is known.
    start: Option<Instant>,
    /// From when the load begins; the first sample is what later ones are compared with.
    ticks: Option<Interval>,
    sampled: bool,
    latest: Vec<(String, ComponentSample)>,
    stopping: bool,
    /// The component that the load goes to, and whether somebody still listens there.
    target: String,
    deserted: Deserted,
    script: Script,
    /// Which component died, if one did.
    death: Option<LabError>,
    /// When waiting for the generator to stop ends.
    deadline: Option<Instant>,
    /// When the measured time begins, until then.
    warm_at: Option<Instant>,
    /// Passed on links until then.
    passed: BTreeMap<String, Passed>,
    keeping: Keeping,
    /// Every second, if they are to be kept.
    seconds: Vec<LoadRow>,
    /// Its watch, where it is a trial.
    pub(super) trial: Option<TrialWatch>,
}

impl RunningLoad {
    pub(super) fn new(
        spec: LoadSpec<'_>,
        plan: &Plan,
        generator: Generator,
        service_time_check: Option<EndTimes>,
        now: f64,
    ) -> Self {
        let (model, offered) = offered(plan);
        let mut data = ArmData::new(&spec.arm.name, &spec.arm.target.to_string(), model, offered);
        data.plan = preflight::plan_facts(spec.experiment, spec.arm);
        for scenario in &plan.scenarios {
            groups_of(&scenario.program, &mut |group| {
                data.groups.entry(group).or_default();
            });
        }
        let steps: Vec<String> = plan.steps.iter().map(|step| step.name.clone()).collect();
        Self {
            script: Script::new(
                (spec.faults, spec.trial.and_then(|trial| trial.aim)),
                spec.block,
                plan,
                &data,
            ),
            watch: Watch::new(&spec.experiment.thresholds, &data, &steps),
            breaches: Vec::new(),
            generator,
            processes: Descendants::default(),
            sampler: Sampler::default(),
            host: HostProbe::default(),
            probing: Duration::ZERO,
            pairing: Pairing::default(),
            health: Health::new(plan),
            service_time_check,
            probe: None,
            scene: Scene {
                arm: spec.arm.name.clone(),
                block: spec.block,
                start: now,
                total: plan.total().as_secs_f64(),
                iterations: numbered(plan),
                counted: Counted::default(),
                log: match spec.keeping {
                    Keeping::OfArm => spec.arm.name.clone(),
                    Keeping::Apart | Keeping::ApartWithSeconds => {
                        log_apart(&spec.arm.name, spec.block)
                    }
                },
            },
            warmup: plan.warmup.as_secs_f64(),
            collector: Collector::new(data, spec.block, steps)
                .halved_at((plan.warmup + plan.duration / 2).as_secs_f64()),
            ledger: Ledger::default(),
            start: None,
            ticks: None,
            sampled: false,
            latest: Vec::new(),
            stopping: false,
            target: spec.arm.target.component.clone(),
            deserted: Deserted::default(),
            death: None,
            deadline: None,
            warm_at: None,
            passed: BTreeMap::new(),
            keeping: spec.keeping,
            seconds: Vec::new(),
            trial: None,
        }
    }

    /// The data of a load that is over, and what else is left of it.
    pub(super) fn over(self) -> (ArmData, Over) {
        let mut data = self.collector.into_data();
        data.health = self.health.conclude(&data, self.probe.as_ref());
        (data.health.both_ends, data.own_times) = self
            .service_time_check
            .map(EndTimes::conclude)
            .unwrap_or_default();
        let was_stopped = self.stopping || self.death.is_some();
        (data.faults, data.undisturbed) = self.script.over(&self.scene, was_stopped);
        let over = Over {
            generator: self.generator,
            ledger: self.ledger,
            death: self.death,
            stopping: self.stopping,
            breaches: self.breaches,
            seconds: self.seconds,
            trial: self.trial,
            passed: self.passed,
            start: self.scene.start,
        };
        (data, over)
    }

    pub(super) async fn until_finished(
        &mut self,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Accounts, LabError> {
        loop {
            let reading = self.end_times_due();
            tokio::select! {
                message = self.generator.next() => match message.map_err(|error| self.first(error))? {
                    Message::Started(started) => self.started(started, recorder)?,
                    Message::Fragment(fragment) => {
                        self.ledger.add(&fragment);
                        self.scene.add(&fragment);
                        self.collector.add(&fragment);
                        self.health.add(&fragment);
                        if let Some(service_time_check) = &mut self.service_time_check {
                            service_time_check.add(&fragment);
                        }
                        let row = recorder.fragment(&self.scene, &self.collector, &fragment, &self.latest)?;
                        self.pairing.answered(&fragment, row.achieved_per_s, self.collector.data_mut());
                        if self.keeping == Keeping::ApartWithSeconds && fragment.length_s > 0.0 {
                            self.seconds.push(row);
                        }
                        self.end_if_broken(&fragment, recorder).await?;
                        let start = self.scene.start + fragment.start_s;
                        self.script.add(&fragment, start, start + fragment.length_s);
                        // A target that is broken on purpose may refuse for as long as it is.
                        if self.trial.is_some() {
                            self.end_if_recovered(&fragment).await;
                        } else if !self.script.is_open()
                            && let Some(since) = self.deserted.add(&fragment)
                        {
                            self.end_by_death(gone(&self.target, since)).await;
                        }
                    }
                    Message::Exchanges(exchanges) => if let Some(trial) = &mut self.trial {
                        trial.add(&exchanges);
                    },
                    Message::Finished(accounts) => {
                        self.finished(&accounts, recorder)?;
                        return Ok(accounts);
                    }
                    Message::Failed(reason) => {
                        return Err(LabError::Environment(format!("the generator gave up: {reason}")));
                    }
                },
                due = self.script.next() => {
                    let done = self.script.go_on(due, &self.scene, topology, recorder);
                    if let Err(error) = done {
                        self.end_by_death(error).await;
                    }
                }
                () = passed(reading) => self.read_end_times()?,
                () = passed(self.warm_at) => {
                    self.warm_at = None;
                    self.passed = topology.passed().await.map_err(|error| self.first(error))?;
                }
                () = tick(&mut self.ticks) => self.sample(topology, recorder)?,
                () = in_trial::listen(&mut self.trial, recorder.now() + lead_seconds(0)) => {}
                death = topology.death(), if self.awaits_death() => self.died(death, recorder).await?,
                () = passed(self.deadline) => {
                    let hung = LabError::Internal("the generator does not stop".to_owned());
                    return Err(self.first(hung));
                }
                () = stopped(stop), if !self.stopping => {
                    self.stopping = true;
                    recorder.tell(Progress::Note(
                        "stopping: exchanges in flight may finish, then the record is written".to_owned(),
                    ));
                    self.generator.ask_to_stop().await;
                }
            }
        }
    }

    /// Heals what is broken on purpose, now that the load is over.
    ///
    /// # Errors
    /// As of [`Script::close`].
    pub(super) async fn heal(
        &mut self,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        self.script.close(&self.scene, topology, recorder).await
    }

    /// Ends the load, because a component died.
    async fn end_by_death(&mut self, death: LabError) {
        if self.death.is_some() {
            return;
        }
        self.death = Some(death);
        self.deadline = Some(Instant::now() + CLOSING);
        // So that its accounts close, and what was measured can be used.
        self.generator.ask_to_stop().await;
    }

    /// The first error: the death of a component before those that may follow from it.
    fn first(&mut self, error: LabError) -> LabError {
        self.death.take().unwrap_or(error)
    }

    fn started(&mut self, started: Started, recorder: &mut Recorder<'_>) -> Result<(), LabError> {
        let lead = lead_seconds(started.start_monotonic_ns);
        self.scene.start = recorder.now() + lead;
        self.collector.begin_at(self.scene.start);
        let now = Instant::now();
        let start = match Duration::try_from_secs_f64(lead) {
            Ok(lead) => now + lead,
            Err(_) => now - Duration::from_secs_f64(-lead),
        };
        self.start = Some(start);
        let warm_at = start + Duration::from_secs_f64(self.warmup);
        self.warm_at = Some(warm_at);
        self.script.begin(warm_at);
        self.ticks = Some(ticks(start.max(now)));
        let start = self.scene.start;
        if self.warmup > 0.0 {
            recorder.load_event(EventKind::WarmupStarted, &self.scene, start, "load begins")?;
        }
        recorder.load_event(
            EventKind::MeasurementStarted,
            &self.scene,
            start + self.warmup,
            "measurement begins",
        )
    }

    /// Ends the load if a threshold that may do so does not hold.
    async fn end_if_broken(
        &mut self,
        fragment: &Fragment,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        if self.stopping {
            return Ok(());
        }
        let breaches = self.watch.add(fragment, self.scene.start);
        if breaches.is_empty() {
            return Ok(());
        }
        for (place, breach) in &breaches {
            let message = format!(
                "threshold {} was not met over the last {} s: the load is ended",
                place + 1,
                breach.window_s
            );
            recorder.load_event(EventKind::Aborted, &self.scene, breach.until_s, &message)?;
            recorder.tell(Progress::Note(message));
        }
        self.breaches = breaches;
        self.stopping = true;
        self.generator.ask_to_stop().await;
        Ok(())
    }

    fn end_times_due(&self) -> Option<Instant> {
        self.service_time_check.as_ref()?.due(self.start?)
    }

    fn read_end_times(&mut self) -> Result<(), LabError> {
        match &mut self.service_time_check {
            Some(service_time_check) => service_time_check.read(),
            None => Ok(()),
        }
    }

    fn finished(
        &mut self,
        accounts: &Accounts,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        if let Some(service_time_check) = &mut self.service_time_check
            && !accounts.stopped
        {
            service_time_check.close()?;
        }
        for end in &accounts.feeders_ended {
            let at = self.scene.start + end.at_s;
            let message = format!("arm `{}` {}", self.scene.arm, out_of_rows(end));
            recorder.load_event(EventKind::Warning, &self.scene, at, &message)?;
            recorder.tell(Progress::Note(message));
        }
        let end = self.scene.start + accounts.ended_s;
        let message = if accounts.stopped {
            "load ends before its time"
        } else {
            "load ends"
        };
        recorder.load_event(EventKind::MeasurementEnded, &self.scene, end, message)
    }

    fn sample(
        &mut self,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let (cost, now) = (Cost::start(), Instant::now());
        let moment = Moment::read(now);
        let mut samples = topology.sample(&moment);
        let generator = self.processes.look(self.generator.shim_pid(), moment.forks);
        let own = self.sampler.sample(&moment, &generator, &[]);
        samples.extend(own.map(|sample| (GENERATOR.to_owned(), sample)));
        let host = self.host.sample(&moment, self.probing);
        if !std::mem::replace(&mut self.sampled, true) {
            self.probe = generator.first().map(|&pid| {
                let group = cgroup::of(pid);
                HealthProbe::new(pid, group.as_deref(), now)
            });
            self.probing = cost.so_far() + topology.probing();
            // Since the load before, or since the start: no second of this load.
            return Ok(());
        }
        let since_start = recorder.now() - self.scene.start;
        self.sample_health(since_start, now);
        self.probing = cost.so_far() + topology.probing();
        for (component, what) in topology.denied() {
            recorder.warn_once(&component, &format!("component `{component}`: {what}"))?;
        }
        recorder.samples(&samples, host.map(|(strain, _)| strain))?;
        for (name, sample) in &samples {
            if self.is_measured(since_start - sample.length_s / 2.0) {
                let components = &mut self.collector.data_mut().components;
                components.entry(name.clone()).or_default().observe(sample);
            }
        }
        if let Some((strain, length_s)) = host
            && self.is_measured(since_start - length_s / 2.0)
        {
            self.collector.data_mut().host.observe(strain, length_s);
        }
        self.pairing
            .sampled(since_start, &samples, self.collector.data_mut());
        self.latest = samples;
        Ok(())
    }

    /// Whether a sample of this middle, in seconds since the load began, belongs to the measured time: it does to the phase in which most of
    /// its interval lies.
    fn is_measured(&self, middle: f64) -> bool {
        (self.warmup..self.scene.total).contains(&middle)
    }

    /// Samples what could hold the generator back, `since_start` seconds after the load began.
    fn sample_health(&mut self, since_start: f64, now: Instant) {
        let part = match self.is_measured(since_start - SAMPLE_EVERY.as_secs_f64() / 2.0) {
            true => SampleSubject::Measured,
            false => SampleSubject::Outside,
        };
        if let Some(probe) = &mut self.probe {
            probe.sample(part, now);
        }
    }
}

/// Ticks at `start` and every second from there; late ones are skipped, not made up for.
fn ticks(start: Instant) -> Interval {
    let mut ticks = interval_at(start, SAMPLE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

/// Pending before there are ticks.
async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => ticks.tick().await,
        None => std::future::pending().await,
    };
}

/// Seconds from now to a moment of `CLOCK_MONOTONIC`; negative when it has passed.
#[expect(
    clippy::cast_precision_loss,
    reason = "the difference is small, and nanoseconds of an uptime fit a double to within a microsecond"
)]
fn lead_seconds(monotonic_ns: u64) -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now_ns = now.tv_sec * 1_000_000_000 + now.tv_nsec;
    (i128::from(monotonic_ns) - i128::from(now_ns)) as f64 * 1e-9
}
