//! `clock`: a component's clock is wrong. libfaketime, which is loaded into it, takes the error from a file; the clock that only counts on is
//! left alone. Programs that do not ask the C library for the time do not obey: the proof, the date of an answer, finds out.

use super::super::{Step, step};
use super::Kind;
use crate::clock::now;
use crate::topology::component::{Target, Topology, clock_file, faketime};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// How far the date of an answer may be from the truth.
const TOLERANCE_S: f64 = 1.0;
/// A date has whole seconds: in the mean the time is so much later.
const CUT_OFF_S: f64 = 0.5;
/// How long a component may take to notice: many keep the date for a second.
const NOTICED_WITHIN: Duration = Duration::from_secs(3);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

pub(super) struct Clock {
    component: String,
    by_s: f64,
}

impl Clock {
    pub(super) fn new(component: String, by_s: f64) -> Self {
        Self { component, by_s }
    }

    fn set(&self, topology: &Topology<'_>, by_s: f64) -> Step {
        let target = topology.target(&self.component);
        let file = clock_file(&topology.directory_of(&self.component));
        step(async move {
            let target = target.ok_or("it does not run")?;
            write(&file, by_s)?;
            shows(&target, by_s).await
        })
    }
}

/// Whether clocks can be set wrong here.
pub(super) fn check() -> Result<(), String> {
    match faketime() {
        Some(_) => Ok(()),
        None => Err(
            "libfaketime is not installed: install the package `libfaketime` (Debian), or its like"
                .to_owned(),
        ),
    }
}

impl Kind for Clock {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        self.set(topology, self.by_s)
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        self.set(topology, 0.0)
    }
}

/// Tells libfaketime: the file is replaced as a whole.
fn write(file: &Path, by_s: f64) -> Result<(), String> {
    let told = crate::record::rundir::write_atomically(file, format!("{by_s:+}\n").as_bytes());
    told.map_err(|error| error.to_string())
}

/// Waits until the date of an answer is wrong by so much.
async fn shows(target: &Target, by_s: f64) -> Result<String, String> {
    let deadline = Instant::now() + NOTICED_WITHIN;
    loop {
        let error = target.date().await.map(off);
        if let Ok(error) = error
            && (error - by_s).abs() <= TOLERANCE_S
        {
            return Ok(format!("the date of its answers is off by {error:+.0} s"));
        }
        // An answer that does not come may be the leap's doing, and the next one comes.
        if Instant::now() > deadline {
            let error = error?;
            return Err(format!(
                "the date of its answers is off by {error:+.0} s: programs that do not ask the C library for the time do not obey"
            ));
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// How far a date is ahead of the truth, in seconds.
fn off(date: SystemTime) -> f64 {
    let ahead = match date.duration_since(now()) {
        Ok(ahead) => ahead.as_secs_f64(),
        Err(behind) => -behind.duration().as_secs_f64(),
    };
    ahead + CUT_OFF_S
}
