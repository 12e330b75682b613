//! From what a file of figures says to figures; everything that is wrong with it is said at once.

use super::wire::{FaultsBlock, FiguresFile, GeneratorBlock, ObservationBlock, ProcessorsBlock};
use super::{Failed, Fault, FaultTable, Figures, Observation, Processors, Used, stated};
use plimsoll_base::document::{Document, DurationText, OneOrMany, Path, Problem, Problems, Scalar};

impl Figures {
    /// Reads a file of figures; `file` is the name that messages carry.
    ///
    /// # Errors
    /// Every problem of the text, each as `file:line:column: path: message`.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let document = Document::parse_yaml(file, text)?;
        let wire: FiguresFile = document.decode()?;
        let mut reader = Reader {
            document: &document,
            problems: Vec::new(),
        };
        let figures = reader.figures(wire);
        Problems::from_iter(reader.problems).or_ok(figures)
    }
}

struct Reader<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn refuse(&mut self, path: impl Into<Path>, message: impl Into<String>) {
        self.problems.push(self.document.problem(path, message));
    }

    fn figures(&mut self, wire: FiguresFile) -> Figures {
        if wire.version != 1 {
            let message = format!(
                "version {} is not available in this version: write 1",
                wire.version
            );
            self.refuse("version", message);
        }
        if wire.observations.0.is_empty() && wire.faults.is_none() {
            self.refuse(
                Path::root(),
                "there are neither `observations` nor `faults`",
            );
        }
        let observations: Vec<Observation> = (wire.observations.0.into_iter())
            .map(|(name, block)| self.observation(name, block))
            .collect();
        self.named(&observations);
        Figures {
            name: wire.name,
            observations,
            faults: wire.faults.map(|block| self.faults(block)),
        }
    }

    fn observation(&mut self, name: String, block: ObservationBlock) -> Observation {
        let path = Path::root().key("observations").key(&name);
        let times = [
            ("min", seconds(block.min)),
            ("mean", seconds(block.mean)),
            ("max", seconds(block.max)),
        ];
        self.rising(&path, &times);
        let [(_, shortest), (_, mean), (_, longest)] = times;
        let (tool, generator) = (block.generator).map_or((None, None), |one| {
            self.generator(&path.key("generator"), one)
        });
        let components = (block.components.0.into_iter())
            .filter_map(|(name, block)| self.component(&path, name, &block))
            .collect();
        Observation {
            setup: block.setup,
            offered: block.offered.map(|rate| rate.as_per_second()),
            rate: block.rate.map(|rate| rate.as_per_second()),
            users: block.users.map(exact),
            think: block.think.and_then(|think| self.think(&path, &think)),
            duration: block.duration.map(|duration| *duration),
            requests: block.requests.map(exact),
            connections: block.connections.map(exact),
            shortest,
            mean,
            longest,
            failed: self.written(path.key("failed"), block.failed.as_ref(), Failed::parse),
            no_more_than: block.no_more_than,
            generator,
            tool,
            components,
            pool: (block.pool).map(|pool| (exact(pool.size), pool.timeout.as_secs_f64())),
            name,
        }
    }

    /// Refuses a shorter time behind a longer one.
    fn rising(&mut self, path: &Path, times: &[(&str, Option<f64>)]) {
        let stated: Vec<(&str, f64)> = (times.iter())
            .filter_map(|(name, time)| Some((*name, (*time)?)))
            .collect();
        for pair in stated.windows(2) {
            let ((lower, short), (upper, long)) = (pair[0], pair[1]);
            if short > long {
                self.refuse(
                    path.key(lower),
                    format!("longer than `{upper}`, which cannot be"),
                );
            }
        }
    }

    fn generator(
        &mut self,
        path: &Path,
        block: GeneratorBlock,
    ) -> (Option<String>, Option<Processors>) {
        let used = self.written(path.key("cpu"), block.cpu.as_ref(), Used::parse);
        let processors = used.map(|used| Processors {
            name: "generator".to_owned(),
            used,
            count: self.count(path, block.cpus),
        });
        (block.tool.map(|tool| tool.to_lowercase()), processors)
    }

    fn component(
        &mut self,
        path: &Path,
        name: String,
        block: &ProcessorsBlock,
    ) -> Option<Processors> {
        let path = path.key("components").key(&name);
        let used = self.written(path.key("cpu"), Some(&block.cpu), Used::parse);
        let count = self.count(&path, block.cpus);
        used.map(|used| Processors { name, used, count })
    }

    /// A number of processors.
    fn count(&mut self, path: &Path, cpus: Option<f64>) -> Option<f64> {
        if cpus.is_some_and(|count| !count.is_finite() || count <= 0.0) {
            self.refuse(path.key("cpus"), "a number above 0");
        }
        cpus
    }

    /// Result of `parse` for a text; `None` where it is absent or refused.
    fn written<T>(
        &mut self,
        path: Path,
        text: Option<&Scalar>,
        parse: fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        parse(text?)
            .map_err(|message| self.refuse(path, message))
            .ok()
    }

    /// Refuses names of observations that are none.
    fn named(&mut self, observations: &[Observation]) {
        for one in observations {
            let Some(other) = &one.no_more_than else {
                continue;
            };
            if !observations.iter().any(|known| known.name == *other) {
                let path = Path::root().key("observations").key(&one.name);
                self.refuse(
                    path.key("no_more_than"),
                    format!("there is no observation `{other}`"),
                );
            }
        }
    }

    fn think(&mut self, path: &Path, think: &OneOrMany<DurationText>) -> Option<(f64, f64)> {
        match think.0.as_slice() {
            [one] => Some((one.as_secs_f64(), one.as_secs_f64())),
            [shortest, longest] if **shortest <= **longest => {
                Some((shortest.as_secs_f64(), longest.as_secs_f64()))
            }
            _ => {
                self.refuse(
                    path.key("think"),
                    "one time, or the shortest and the longest: `[5s, 30s]`",
                );
                None
            }
        }
    }

    fn faults(&mut self, block: FaultsBlock) -> FaultTable {
        let path = Path::root().key("faults").key("kinds");
        let mut faults = Vec::new();
        for (name, fault) in block.kinds.0 {
            let path = path.key(&name);
            if fault.servers == Some(0) {
                self.refuse(path.key("servers"), "at least 1");
            }
            if !fault.per_year.is_finite() || fault.per_year < 0.0 {
                self.refuse(path.key("per_year"), "a number, 0 or above");
            }
            let impact = self.written(path.key("impact"), Some(&fault.impact), stated::part);
            faults.push(Fault {
                outage: fault.outage.as_secs_f64(),
                servers: fault.servers.map_or(1.0, exact),
                impact: impact.unwrap_or(1.0),
                per_year: fault.per_year,
                trials: fault.trials,
                name,
            });
        }
        FaultTable {
            rate: block.rate.map(|rate| rate.as_per_second()),
            claimed: block.claimed.map(|share| *share),
            repair: seconds(block.repair),
            faults,
        }
    }
}

fn seconds(time: Option<DurationText>) -> Option<f64> {
    time.map(|time| time.as_secs_f64())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a report stay far below 2^53"
)]
fn exact(count: u64) -> f64 {
    count as f64
}
