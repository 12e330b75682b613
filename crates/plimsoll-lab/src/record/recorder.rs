//! Writes what happens into the run directory as it happens, and tells whoever watches.

use crate::clock::RunClock;
use crate::error::LabError;
use crate::mask::Mask;
use crate::progress::{ComponentProgress, Numbered, Progress, SecondProgress};
use crate::record::collect::Collector;
use crate::record::rundir::RunDir;
use crate::undo::{Line, Undo};
use plimsoll_load::fragment::Fragment;
use plimsoll_report::live::Totals;
use plimsoll_report::record::{
    ComponentRow, ComponentSample, DelayRow, EventKind, EventRow, Failures, FaultRow, FaultTrial,
    HostRow, HostStrain, LoadRow, SeriesRow, SingleExchange, TrialRow,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The record of a run under way.
pub struct Recorder<'a> {
    dir: RunDir,
    clock: RunClock,
    watcher: &'a mut dyn FnMut(Progress),
    totals: Option<&'a Mutex<Totals>>,
    /// Warnings that [`Recorder::warn_once`] has given.
    warned: BTreeSet<String>,
    /// How many things there were to undo.
    undos: u64,
    /// Mask of all messages.
    mask: Mask,
}

/// An arm's load in a block, as events and progress name it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The arm.
    pub arm: String,
    /// The block, from 1.
    pub block: u32,
    /// When the load began, in seconds since the run began.
    pub start: f64,
    /// The length of the load in seconds, warm-up included.
    pub total: f64,
    /// Iterations so far, if the load ends with the last of so many.
    pub iterations: Option<Numbered>,
    /// Counts since the load began.
    pub counted: Counted,
    /// The name of the log of its histograms.
    pub log: String,
}

/// Counts over a load, for who watches.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    iterations: u64,
    exchanges: u64,
    failed: u64,
    failures: Failures,
}

impl Scene {
    /// Counts what started and what failed.
    pub fn add(&mut self, fragment: &Fragment) {
        if let Some(iterations) = &mut self.iterations {
            iterations.started += fragment.sent;
        }
        self.counted.add(fragment);
    }
}

impl Counted {
    fn add(&mut self, fragment: &Fragment) {
        self.iterations += fragment.sent;
        for step in &fragment.steps {
            self.exchanges += step.sent;
            self.failed += step.failed();
            // Whichever step it was: what is told is how exchanges fail.
            self.failures.observe("", fragment.start_s, step);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    fn exchanges_per_iteration(&self) -> Option<f64> {
        (self.iterations > 0).then(|| self.exchanges as f64 / self.iterations as f64)
    }

    /// The most frequent failure, in words.
    fn failure(&self) -> Option<String> {
        let most = self.failures.iter().max_by_key(|(_, _, seen)| seen.count)?;
        Some(most.1.words())
    }
}

impl<'a> Recorder<'a> {
    /// A record in `dir` whose times count from `clock`; what is counted enters `totals` too, if there are any.
    #[must_use]
    pub fn new(
        dir: RunDir,
        clock: RunClock,
        watcher: &'a mut dyn FnMut(Progress),
        totals: Option<&'a Mutex<Totals>>,
        mask: Mask,
    ) -> Self {
        Self {
            dir,
            clock,
            watcher,
            totals,
            warned: BTreeSet::new(),
            undos: 0,
            mask,
        }
    }

    /// The run directory.
    #[must_use]
    pub fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// Seconds since the run began.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.clock.seconds()
    }

    /// Tells whoever watches.
    pub fn tell(&mut self, progress: Progress) {
        (self.watcher)(match progress {
            Progress::Note(note) => Progress::Note(self.mask.text(&note).into_owned()),
            other => other,
        });
    }

    /// Records an event of the run.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn event(&mut self, kind: EventKind, message: &str) -> Result<(), LabError> {
        let event = self.row(kind, message);
        self.dir.append_event(&event)
    }

    /// Records a remark on the run, and tells whoever watches.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn remark(&mut self, sentence: &str) -> Result<(), LabError> {
        self.event(EventKind::Warning, sentence)?;
        self.tell(Progress::Note(sentence.to_owned()));
        Ok(())
    }

    /// Records an event of a component.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn component_event(
        &mut self,
        kind: EventKind,
        component: &str,
        message: &str,
    ) -> Result<(), LabError> {
        let event = EventRow {
            component: Some(component.to_owned()),
            ..self.row(kind, message)
        };
        self.dir.append_event(&event)
    }

    /// Records a warning about a component, unless the same stands in the record already: for what every load finds anew.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn warn_once(&mut self, component: &str, message: &str) -> Result<(), LabError> {
        if self.warned.insert(message.to_owned()) {
            self.component_event(EventKind::Warning, component, message)?;
        }
        Ok(())
    }

    /// Records an event of a load, at `t` seconds since the run began.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn load_event(
        &mut self,
        kind: EventKind,
        scene: &Scene,
        t: f64,
        message: &str,
    ) -> Result<(), LabError> {
        let event = EventRow {
            t,
            arm: Some(scene.arm.clone()),
            block: Some(scene.block),
            ..self.row(kind, message)
        };
        self.dir.append_event(&event)
    }

    /// Records a fragment of a load and tells its figures, beside the `latest` samples of components. Gives its row back.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn fragment(
        &mut self,
        scene: &Scene,
        collector: &Collector,
        fragment: &Fragment,
        latest: &[(String, ComponentSample)],
    ) -> Result<LoadRow, LabError> {
        let row = collector.row(fragment);
        // Exchanges that end after their phase belong to its figures, but to none of its seconds.
        let within = fragment.length_s > 0.0;
        if within {
            let steps = collector.step_rows(fragment).into_iter();
            let groups = collector.group_rows(fragment).into_iter();
            let rows: Vec<SeriesRow> = std::iter::once(SeriesRow::Load(row.clone()))
                .chain(steps.map(SeriesRow::Step))
                .chain(groups.map(SeriesRow::Group))
                .collect();
            self.dir.append_series(&rows)?;
        }
        if !fragment.warmup {
            let tagged = collector.tagged(fragment);
            let tagged = tagged
                .iter()
                .map(|(tag, histogram)| (tag.clone(), histogram.as_ref()));
            self.dir
                .append_histograms(&scene.log, row.t, fragment.covered_s, tagged)?;
        }
        if let Some(totals) = self.totals {
            let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
            collector.observe(fragment, &row, &mut totals);
        }
        if !within {
            return Ok(row);
        }
        self.tell(Progress::Second(SecondProgress {
            arm: row.arm.clone(),
            block: row.block,
            t: fragment.start_s + fragment.length_s,
            total: scene.total,
            iterations: scene.iterations,
            warmup: row.warmup,
            offered_per_s: row.offered_per_s,
            exchanges_per_iteration: scene.counted.exchanges_per_iteration(),
            achieved_per_s: row.achieved_per_s,
            good_per_s: row.good_per_s,
            failed: row.failed,
            failed_so_far: scene.counted.failed,
            failure: scene.counted.failure(),
            active_users: row.active_users,
            in_flight: row.in_flight,
            p50: row.response_time.p50,
            p90: row.response_time.p90,
            p95: row.response_time.p95,
            p99: row.response_time.p99,
            max: row.response_time.max,
            components: latest
                .iter()
                .map(|(name, sample)| ComponentProgress {
                    name: name.clone(),
                    cpu_cores: sample.cpu_cores,
                    rss_bytes: sample.rss_bytes,
                })
                .collect(),
        }));
        Ok(row)
    }

    /// Records samples of components and of the machine.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn samples(
        &mut self,
        samples: &[(String, ComponentSample)],
        host: Option<HostStrain>,
    ) -> Result<(), LabError> {
        let t = self.now();
        let rows: Vec<SeriesRow> = samples
            .iter()
            .map(|(name, sample)| {
                SeriesRow::Component(ComponentRow {
                    t,
                    component: name.clone(),
                    cpu_cores: sample.cpu_cores,
                    busiest_thread_cores: sample.busiest_thread_cores,
                    run_delay: sample.run_delay,
                    rss_bytes: sample.rss_bytes,
                    fds: sample.fds,
                    threads: sample.threads,
                    strain: sample.strain,
                    server: Box::new(sample.server),
                })
            })
            .chain(host.map(|host| SeriesRow::Host(HostRow { t, host })))
            .collect();
        self.dir.append_series(&rows)
    }

    /// Records a trial of a search.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn trial(&mut self, row: &TrialRow) -> Result<(), LabError> {
        self.dir.append_trial(row)
    }

    /// Records a trial of a fault, with what became of every arrival, and with secrets masked in why it does not count.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn fault_trial(
        &mut self,
        row: &mut FaultTrial,
        exchanges: &[SingleExchange],
    ) -> Result<(), LabError> {
        for said in &mut row.void {
            *said = self.mask.text(said).into_owned();
        }
        self.dir.write_exchanges(row.number, exchanges)?;
        self.dir.append_fault_trial(row)
    }

    /// Records a load under delays.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn delay(&mut self, row: &DelayRow) -> Result<(), LabError> {
        self.dir.append_delay(row)
    }

    /// Records a fault that is over, with secrets masked in what was seen of it.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub(crate) fn fault(&mut self, row: &mut FaultRow) -> Result<(), LabError> {
        for said in [&mut row.effect, &mut row.heal] {
            *said = self.mask.text(said).into_owned();
        }
        self.dir.append_fault(&Line::Over(Box::new(row.clone())))
    }

    /// Records something that has to be undone, and gives its number.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub(crate) fn open_undo(&mut self, fault: &str, undo: &Undo) -> Result<u64, LabError> {
        self.undos += 1;
        self.dir.append_fault(&Line::Open {
            number: self.undos,
            fault: fault.to_owned(),
            undo: undo.clone(),
        })?;
        Ok(self.undos)
    }

    /// Records that it has been undone.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub(crate) fn close_undo(&mut self, number: u64) -> Result<(), LabError> {
        self.dir.append_fault(&Line::Close { number })
    }

    fn row(&self, kind: EventKind, message: &str) -> EventRow {
        EventRow {
            t: self.now(),
            kind,
            message: self.mask.text(message).into_owned(),
            component: None,
            arm: None,
            block: None,
        }
    }
}
