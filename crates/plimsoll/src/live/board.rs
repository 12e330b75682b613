//! The board's memory: the last second and a bounded history.

use plimsoll_base::visible::in_line;
use plimsoll_lab::{Ahead, Numbered, Progress, SecondProgress};

/// Seconds of history for the sparklines.
const HISTORY: usize = 120;

/// Everything that is drawn.
#[derive(Debug, Default)]
pub struct Board {
    /// The experiment's name.
    pub experiment: String,
    /// The activity while there is no load.
    pub phase: String,
    /// The newest note.
    pub note: String,
    /// Where in the run we are.
    pub place: Option<BoardPlace>,
    /// The last second of the current load.
    pub second: Option<SecondProgress>,
    /// Answered exchanges per second, oldest first.
    pub throughput: Vec<u64>,
    /// 99th percentiles in microseconds, oldest first.
    pub p99_us: Vec<u64>,
}

/// Where in the run we are.
#[derive(Debug)]
pub struct BoardPlace {
    /// The block, level or trial; empty where there is only one.
    pub label: String,
    /// The arm.
    pub arm: String,
    /// How much time was left when the load began.
    pub ahead: Ahead,
}

impl Board {
    /// An empty board.
    #[must_use]
    pub fn new(experiment: &str) -> Self {
        Self {
            experiment: shown(experiment),
            ..Self::default()
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, progress: &Progress) {
        match progress {
            Progress::ComponentStarting { name } => {
                self.second = None;
                self.phase = format!("starting {}", in_line(name));
            }
            Progress::ComponentReady { name } => {
                self.phase = format!("{} is ready", in_line(name));
            }
            Progress::BlockStarted { label, arm, ahead } => {
                self.second = None;
                self.phase = "starting the load".to_owned();
                self.place = Some(BoardPlace {
                    label: shown(label),
                    arm: shown(arm),
                    ahead: ahead.clone(),
                });
            }
            Progress::Second(second) => {
                remember(&mut self.throughput, second.good_per_s);
                remember(&mut self.p99_us, second.p99.unwrap_or(0.0) * 1e6);
                let mut second = second.clone();
                second.failure = second.failure.as_deref().map(shown);
                for component in &mut second.components {
                    component.name = shown(&component.name);
                }
                self.second = Some(second);
            }
            Progress::Note(note) => self.note = shown(note),
            Progress::Finished => self.phase = "writing the report".to_owned(),
        }
    }

    /// The share of the current load that is over, 0 to 1: of its time, or of its iterations where these end it.
    #[must_use]
    pub fn done(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let share = |second: &SecondProgress| match second.iterations {
            Some(Numbered { started, of }) => started as f64 / of.max(1) as f64,
            None => second.t / second.total.max(f64::MIN_POSITIVE),
        };
        self.second.as_ref().map_or(0.0, share).clamp(0.0, 1.0)
    }
}

/// A name from the file or elsewhere, as it may stand on the board.
fn shown(name: &str) -> String {
    in_line(name).into_owned()
}

fn remember(history: &mut Vec<u64>, value: f64) {
    if history.len() == HISTORY {
        history.remove(0);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a bar's height: saturation is fine"
    )]
    history.push(value as u64);
}
