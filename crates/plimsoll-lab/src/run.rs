//! One run of an experiment, from its manifest to its summary.

mod conclude;
mod manifest;
mod method;
mod skipped_arms;

use crate::clock::{RunClock, wall_clock};
use crate::error::LabError;
use crate::fault;
use crate::options::RunOptions;
use crate::preflight::Warning;
use crate::progress::Progress;
use crate::record::recorder::Recorder;
use crate::record::rundir;
use crate::record::rundir::{REPORT_HTML, REPORT_MARKDOWN, RunDir, SUMMARY};
use crate::run::conclude::Course;
use crate::run::method::{Ending, Session};
use crate::topology::component::{ComponentPlaces, Topology, Values};
use crate::topology::token;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::Experiment;
use plimsoll_report::record::{EventKind, Manifest, RunState, Summary};
use plimsoll_report::render;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use tokio::sync::watch;

/// Random bytes of a run's identity.
const ID_BYTES: usize = 6;

/// Why nothing is concluded from a run that was told to stop, or whose host failed.
const INTERRUPTED: &str = "the run was interrupted";

/// Outcome of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The run directory.
    pub dir: PathBuf,
    /// Its results.
    pub summary: Summary,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
}

/// Runs `experiment`, telling `progress` what happens, until its end or until `stop` is true. Must be called within a tokio
/// runtime with time and I/O.
///
/// # Errors
/// [`LabError`] when the run cannot begin or go on. Components are stopped by then; what was measured stays in the run directory,
/// whose manifest says `interrupted`, with summary and reports if a component died, a feeder had no row left or the host failed.
pub async fn run(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    progress: &mut dyn FnMut(Progress),
    stop: watch::Receiver<bool>,
) -> Result<RunOutcome, LabError> {
    let (experiment, absent) = skipped_arms::leave_out(experiment, options.surroundings)?;
    let experiment = &experiment;
    fault::check(experiment)?;
    fault::check_foreign(experiment).await?;
    let id = token::mint(ID_BYTES)?;
    let mut manifest = manifest::of(experiment, options, id, wall_clock());
    let dir = RunDir::create(&options.out, &manifest)?;
    let scratch = tempfile::Builder::new()
        .prefix("plimsoll-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
        .map_err(|error| LabError::Environment(format!("no temporary directory: {error}")))?;
    let places = ComponentPlaces {
        executable: options.executable.clone(),
        scratch: scratch.path().to_owned(),
        logs: dir.logs(),
        run_id: manifest.id.clone(),
    };
    let mut values = Values::new(options.surroundings, &experiment.directory, options.seed);
    values.gather(&experiment.secrets);
    let mask = values.mask().clone();
    let mut session = Session {
        experiment,
        executable: &options.executable,
        seed: options.seed,
        cpus: manifest.host.cpus,
        topology: Topology::new(experiment, places, values),
        recorder: Recorder::new(
            dir,
            RunClock::start(),
            progress,
            options.totals,
            mask.clone(),
        ),
        stop,
        arms: conclude::empty(experiment, options.warnings),
        breaches: BTreeMap::new(),
        searches: BTreeMap::new(),
        earlier: options.earlier.clone(),
        delays: BTreeMap::new(),
        trials: BTreeMap::new(),
        absent,
    };
    let ending = carry_out(&mut session, options.warnings).await;
    session.topology.stop_all().await;
    let outcome = ending.and_then(|ending| finish(&mut session, ending, &mut manifest));
    let outcome = outcome.map_err(|error| error.masked(&mask));
    outcome.inspect_err(|error| note_failure(&mut session, &mut manifest, error))
}

async fn carry_out(
    session: &mut Session<'_, '_>,
    warnings: &[Warning],
) -> Result<Ending, LabError> {
    session
        .recorder
        .event(EventKind::RunStarted, "the run begins")?;
    for absent in session.absent.clone() {
        let message = format!(
            "arm `{}` is left out: component `{}`: {}",
            absent.arm, absent.component, absent.reason
        );
        session.recorder.remark(&message)?;
    }
    for warning in warnings {
        let message = warning.to_string();
        session.recorder.event(EventKind::Warning, &message)?;
    }
    method::run(session).await
}

/// Says in the record why the run did not end well. The disk may be the reason, so this is best effort.
fn note_failure(session: &mut Session<'_, '_>, manifest: &mut Manifest, error: &LabError) {
    let recorder = &mut session.recorder;
    let message = error.to_string();
    let noted = match error {
        LabError::Died { component, .. } => {
            recorder.component_event(EventKind::ComponentDied, component, &message)
        }
        _ => recorder.event(EventKind::Warning, &message),
    };
    noted.ignored("the run's own end is on its way");
    recorder.dir().release_reserve();
    manifest.state = RunState::Interrupted;
    manifest.ended_at = Some(wall_clock());
    recorder
        .dir()
        .write_manifest(manifest)
        .ignored("the run's own end is on its way");
    // Nothing is concluded from accounts that do not hold, or from a file that is not what was meant.
    let concludes = matches!(
        error,
        LabError::Died { .. }
            | LabError::Environment(_)
            | LabError::NotHealed { .. }
            | LabError::OutOfRows { .. }
    );
    let measured = session.arms.iter().any(|arm| !arm.blocks.is_empty());
    let measured = measured || !session.trials.is_empty();
    if concludes && measured {
        conclude_part(session, manifest, error).ignored("the run's own end is on its way");
    }
}

/// Writes summary and reports of what was measured before the run failed.
fn conclude_part(
    session: &Session<'_, '_>,
    manifest: &Manifest,
    error: &LabError,
) -> Result<(), LabError> {
    let course = Course {
        deaths: match error {
            LabError::Died {
                component, reason, ..
            } => vec![format!("component `{component}` died: {reason}")],
            _ => Vec::new(),
        },
        cut_short: Some(match error {
            LabError::OutOfRows { .. } => error.to_string(),
            _ => INTERRUPTED.to_owned(),
        }),
        ..Course::default()
    };
    let summary = conclude::summarise(session, manifest, course);
    session.recorder.dir().write_json(SUMMARY, &summary)?;
    write_reports(session.recorder.dir())
}

fn finish(
    session: &mut Session<'_, '_>,
    ending: Ending,
    manifest: &mut Manifest,
) -> Result<RunOutcome, LabError> {
    let course = Course {
        cut_short: (ending == Ending::Interrupted).then(|| INTERRUPTED.to_owned()),
        breaches: session.breaches.clone(),
        deaths: Vec::new(),
    };
    let summary = conclude::summarise(session, manifest, course);
    let recorder = &mut session.recorder;
    let (state, event, message) = match ending {
        Ending::Interrupted => (
            RunState::Interrupted,
            EventKind::Interrupted,
            "the run was told to stop",
        ),
        Ending::Aborted => (
            RunState::Aborted,
            EventKind::RunEnded,
            "the run ends: a threshold ended its load",
        ),
        Ending::Complete => (RunState::Complete, EventKind::RunEnded, "the run ends"),
    };
    recorder.event(event, message)?;
    recorder.dir().write_json(SUMMARY, &summary)?;
    manifest.state = state;
    manifest.ended_at = Some(wall_clock());
    recorder.dir().write_manifest(manifest)?;
    recorder.tell(Progress::Finished);
    write_reports(recorder.dir())?;
    recorder.dir().release_reserve();
    Ok(RunOutcome {
        dir: recorder.dir().root().to_owned(),
        summary,
        interrupted: ending == Ending::Interrupted,
    })
}

/// Writes the report files from what a later reader will find in the directory.
fn write_reports(dir: &RunDir) -> Result<(), LabError> {
    let view = rundir::load(dir.root())?;
    dir.write(REPORT_HTML, render::html::render(&view).as_bytes())?;
    dir.write(REPORT_MARKDOWN, render::markdown::render(&view).as_bytes())
}
