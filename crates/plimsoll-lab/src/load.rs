//! One arm's load in one block: the generator is run to its end, and everything that happens meanwhile is collected.
//!
//! Which arm, in which order and how often is the method's decision; what the figures mean the report's.

mod deserted;
mod target;

use crate::account::Ledger;
use crate::cgroup;
use crate::collect::Collector;
use crate::component::{Topology, inherited};
use crate::demand::Pairing;
use crate::error::{ErrorKind, LabError, LogTail};
use crate::generator::{Generator, GeneratorSpec};
use crate::health::Health;
use crate::preflight;
use crate::probe::{Cost, HealthProbe, HostProbe, Moment, Part, Sampler};
use crate::progress::{Numbered, Progress};
use crate::recorder::{Counted, Recorder, Scene};
use crate::rundir::log_apart;
use crate::service_time_check::{EndTimes, counted};
use crate::watch::Watch;
use deserted::Deserted;
use plimsoll_base::counters::Counter;
use plimsoll_experiment::{Arm, Experiment};
use plimsoll_load::arrivals::expected;
use plimsoll_load::fragment::{Accounts, FeederEnd, Fragment, Message, Started};
use plimsoll_load::plan::{Load, Plan, groups_of};
use plimsoll_report::record::Breach;
use plimsoll_report::record::{
    ArmData, ComponentSample, EventKind, GENERATOR, LoadModel, LoadRow, TargetLedger,
};
use std::path::Path;
use std::time::Duration;
use target::target;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How long the generator may take to stop once a component has died: an exchange under way gets a second from it.
const CLOSING: Duration = Duration::from_secs(5);
/// Between two samples of components.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// Result of one load.
pub struct Loaded {
    /// The arm's data of the block.
    pub data: ArmData,
    /// How it ended.
    pub end: End,
    /// Notes that should stand beside its figures.
    pub notes: Vec<String>,
    /// Every second of it, if they were to be kept.
    pub seconds: Vec<LoadRow>,
}

/// How a load ended.
#[derive(Debug)]
pub enum End {
    /// As planned.
    Complete,
    /// It was told to stop before its time.
    Stopped,
    /// These thresholds, by their place in the experiment, did not hold over a window and ended it.
    Aborted(Vec<(usize, Breach)>),
    /// A component or the generator died, or a feeder had no row left; the data is what was measured until then.
    Failed(LabError),
}

/// Definition of a load.
#[derive(Clone, Copy)]
pub struct LoadSpec<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The arm.
    pub arm: &'a Arm,
    /// The block, from 1.
    pub block: u32,
    /// Keys arrivals and data.
    pub seed: u64,
    /// Our own executable.
    pub executable: &'a Path,
    /// Use of its seconds and histograms.
    pub keeping: Keeping,
}

/// Use of the data that a load measures beyond its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Its histograms go to the log of its arm.
    OfArm,
    /// Its histograms go to a log of its own: another load of the same arm is not to be mixed with it.
    Apart,
    /// Its histograms go to a log of its own, and its seconds are handed back.
    ApartWithSeconds,
}

/// Runs the load to its end, or until `stop` is true.
///
/// # Errors
/// [`LabError`] when the record cannot be written, the generator gives up or accounts do not hold. The generator is gone in any case.
pub async fn run(
    spec: LoadSpec<'_>,
    topology: &mut Topology<'_>,
    recorder: &mut Recorder<'_>,
    stop: &mut watch::Receiver<bool>,
) -> Result<Loaded, LabError> {
    let plan = plan(spec, topology, recorder).await?;
    let counted_before = counted(&spec.arm.target, topology)?;
    let environment = inherited(topology.values().0);
    let mask = topology.values().0.mask().clone();
    let placement = &spec.experiment.generator;
    let generator = GeneratorSpec {
        executable: spec.executable,
        cpus: placement.cpus.iter().map(|&cpu| cpu as usize).collect(),
        environment,
        log: recorder.dir().log(GENERATOR),
        mask: &mask,
    };
    let generator = Generator::start(generator, &plan).await?;
    let service_time_check = end_times(spec, &plan, topology);
    let mut running = RunningLoad::new(spec, &plan, generator, service_time_check, recorder.now());
    let finished = running.until_finished(topology, recorder, stop).await;
    let (mut data, over) = running.over();
    data.unseen = topology.unseen();
    let totals = match finished {
        Ok(totals) => totals,
        // Its accounts are open, so they are held against nothing.
        Err(error) if error.kind() == ErrorKind::ComponentDied => {
            return Ok(Loaded {
                data,
                end: End::Failed(error),
                notes: Vec::new(),
                seconds: over.seconds,
            });
        }
        Err(error) => return Err(error),
    };
    over.generator.finish().await;
    let ledger = over.ledger;
    ledger.check(&totals).map_err(LabError::Internal)?;
    let counted_after = counted(&spec.arm.target, topology)?;
    if let (Some(before), Some(after)) = (counted_before, counted_after) {
        let since = after.since(&before);
        data.ledgers.push(TargetLedger {
            component: spec.arm.target.component.clone(),
            sent: ledger.exchanges(),
            answered: ledger.answered(),
            received: since.get(Counter::Received),
            served: since.get(Counter::Served),
        });
    }
    let starved = totals.feeders_ended.iter().find(|end| end.failed);
    let end = match (over.death, starved) {
        (Some(death), _) => End::Failed(death),
        (None, Some(end)) => End::Failed(LabError::OutOfRows {
            feeder: end.feeder.clone(),
            rows: end.rows,
        }),
        (None, None) if !over.breaches.is_empty() => End::Aborted(over.breaches),
        (None, None) if totals.stopped && over.stopping => End::Stopped,
        (None, None) => End::Complete,
    };
    let notes = totals.feeders_ended.iter().map(out_of_rows).collect();
    Ok(Loaded {
        data,
        end,
        notes,
        seconds: over.seconds,
    })
}

/// Remains of a load that is over, beside its data.
struct Over {
    generator: Generator,
    ledger: Ledger,
    death: Option<LabError>,
    stopping: bool,
    breaches: Vec<(usize, Breach)>,
    seconds: Vec<LoadRow>,
}

/// The times at both ends, of components that keep any.
fn end_times(spec: LoadSpec<'_>, plan: &Plan, topology: &Topology<'_>) -> Option<EndTimes> {
    let measured = plan.warmup..plan.total();
    EndTimes::new(
        measured,
        &spec.arm.target.component,
        topology.all_counters(),
    )
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
struct RunningLoad {
    generator: Generator,
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
    /// Which component died, if one did.
    death: Option<LabError>,
    /// When waiting for the generator to stop ends.
    deadline: Option<Instant>,
    keeping: Keeping,
    /// Every second, if they are to be kept.
    seconds: Vec<LoadRow>,
}

impl RunningLoad {
    fn new(
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
            watch: Watch::new(&spec.experiment.thresholds, &data, &steps),
            breaches: Vec::new(),
            generator,
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
            keeping: spec.keeping,
            seconds: Vec::new(),
        }
    }

    /// The data of a load that is over, and what else is left of it.
    fn over(self) -> (ArmData, Over) {
        let mut data = self.collector.into_data();
        data.health = self.health.conclude(&data, self.probe.as_ref());
        (data.health.both_ends, data.own_times) = self
            .service_time_check
            .map(EndTimes::conclude)
            .unwrap_or_default();
        let over = Over {
            generator: self.generator,
            ledger: self.ledger,
            death: self.death,
            stopping: self.stopping,
            breaches: self.breaches,
            seconds: self.seconds,
        };
        (data, over)
    }

    async fn until_finished(
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
                        recorder.fragment(&self.scene, &self.collector, &fragment, &self.latest)?;
                        let per_s = self.collector.row(&fragment).achieved_per_s;
                        self.pairing.answered(&fragment, per_s, self.collector.data_mut());
                        if self.keeping == Keeping::ApartWithSeconds && fragment.length_s > 0.0 {
                            self.seconds.push(self.collector.row(&fragment));
                        }
                        self.end_if_broken(&fragment, recorder).await?;
                        if let Some(since) = self.deserted.add(&fragment) {
                            self.end_by_death(gone(&self.target, since)).await;
                        }
                    }
                    Message::Finished(accounts) => {
                        self.finished(&accounts, recorder)?;
                        return Ok(accounts);
                    }
                    Message::Failed(reason) => {
                        return Err(LabError::Environment(format!("the generator gave up: {reason}")));
                    }
                },
                () = passed(reading) => self.read_end_times()?,
                () = tick(&mut self.ticks) => self.sample(topology, recorder)?,
                death = topology.death(), if self.death.is_none() => self.end_by_death(death).await,
                () = passed(self.deadline) => {
                    let hung = LabError::Internal("the generator does not stop".to_owned());
                    return Err(self.first(hung));
                }
                () = stopped(stop), if !self.stopping => {
                    self.stopping = true;
                    recorder.tell(Progress::Note(
                        "told to stop: what is under way may end, then the record is written".to_owned(),
                    ));
                    self.generator.ask_to_stop().await;
                }
            }
        }
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
                "threshold {} does not hold over the last {} s: it ends the load",
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
        let generator = moment.below(self.generator.shim_pid());
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
            true => Part::Measured,
            false => Part::Outside,
        };
        if let Some(probe) = &mut self.probe {
            probe.sample(part, now);
        }
    }
}

/// How many iterations there will be, if it is these that end the load: where each scenario has a number of them.
fn numbered(plan: &Plan) -> Option<Numbered> {
    let numbers = plan.scenarios.iter().map(|scenario| scenario.iterations);
    let of = numbers.sum::<Option<u64>>()?;
    Some(Numbered { started: 0, of })
}

/// Sentence on an arm that ended when a feeder had no row left, after its name.
fn out_of_rows(end: &FeederEnd) -> String {
    let FeederEnd { feeder, rows, .. } = end;
    let then = match end.failed {
        true => "which ended the load",
        false => "and users who would have got another stopped",
    };
    format!("ran out of data: the feeder `{feeder}` has dealt all of its {rows} rows, {then}")
}

/// Ticks at `start` and every second from there; late ones are skipped, not made up for.
fn ticks(start: Instant) -> Interval {
    let mut ticks = interval_at(start, SAMPLE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

/// Pending until the deadline; for ever without one.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Pending before there are ticks.
async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => ticks.tick().await,
        None => std::future::pending().await,
    };
}

/// Pending until the run is to stop; for ever if nobody can say so any more.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending().await
    }
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

/// The model of the whole plan, and its mean rate over the measured time; none where users of the closed model make their own arrivals.
fn offered(plan: &Plan) -> (LoadModel, Option<f64>) {
    let mut arrivals = 0.0;
    for scenario in &plan.scenarios {
        let Load::Open { profile, .. } = &scenario.load else {
            return (LoadModel::Closed, None);
        };
        arrivals += expected(profile, plan.total()) - expected(profile, plan.warmup);
    }
    let seconds = plan.duration.as_secs_f64();
    (LoadModel::Open, Some(arrivals / seconds))
}

async fn plan(
    spec: LoadSpec<'_>,
    topology: &mut Topology<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Plan, LabError> {
    let target = target(spec, topology, recorder).await?;
    let (values, addresses) = topology.values();
    let mut plan = spec.arm.plan(
        spec.seed,
        spec.experiment.generator.shards,
        target,
        |reference| values.lookup(reference, None, addresses),
    )?;
    if plan
        .connections
        .resolve
        .as_ref()
        .is_some_and(|name| spec.experiment.hosts.contains_key(&name.host))
    {
        plan.connections.resolve = None;
    }
    plan.check()
        .map_err(|problems| LabError::Input(format!("arm `{}`: {problems}", spec.arm.name)))?;
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_load::plan::{Connections, Data, Pacing, Profile, Scenario, Step, Target};

    fn plan(profile: Profile) -> Plan {
        let open = Load::open(vec![profile.lasting(Duration::from_secs(8))], 1, 1);
        Plan {
            seed: 1,
            shards: 1,
            target: Target {
                authority: "a".into(),
                addresses: vec!["127.0.0.1:80".parse().unwrap()],
            },
            steps: vec![Step {
                name: "a".into(),
                method: "GET".into(),
                path: "/".into(),
                ..Step::default()
            }],
            scenarios: vec![Scenario::of_steps("main", open, 1)],
            data: Data::default(),
            warmup: Duration::from_secs(2),
            duration: Duration::from_secs(6),
            connections: Connections::default(),
            pacing: Pacing::Precise,
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_offered_rate_is_the_mean_of_the_measured_part() {
        let check = |profile: Profile, expected: f64| {
            let plan = plan(profile);
            let (model, mean) = offered(&plan);
            assert_eq!(model, LoadModel::Open);
            let mean = mean.unwrap();
            assert!(
                (mean - expected).abs() < 1e-9,
                "{:?}: {mean}",
                plan.scenarios
            );
        };
        check(Profile::Constant { rate: 10.0 }, 10.0);
        check(
            Profile::Ramp {
                from: 0.0,
                to: 80.0,
            },
            50.0,
        );
        let every = Duration::from_secs(4);
        check(
            Profile::Staircase {
                from: 10.0,
                step: 30.0,
                every,
            },
            // 2 s at 10, 4 s at 40.
            30.0,
        );
    }
}
