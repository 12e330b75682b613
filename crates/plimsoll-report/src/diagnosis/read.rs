//! From what a file of figures says to figures; everything that is wrong with it is said at once.

use super::wire::{FaultsBlock, FiguresFile, GeneratorBlock, ObservationBlock, ProcessorsBlock};
use super::{Fault, FaultTable, Figures, Observation, Processors};
use plimsoll_base::document::{Document, DurationText, OneOrMany, Path, Problem, Problems};

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
        Figures {
            name: wire.name,
            observations: (wire.observations.0.into_iter())
                .map(|(name, block)| self.observation(name, block))
                .collect(),
            faults: wire.faults.map(|block| self.faults(block)),
        }
    }

    fn observation(&mut self, name: String, block: ObservationBlock) -> Observation {
        let path = Path::root().key("observations").key(&name);
        let (mean, longest) = (seconds(block.mean), seconds(block.max));
        if mean
            .zip(longest)
            .is_some_and(|(mean, longest)| mean > longest)
        {
            self.refuse(path.key("mean"), "longer than `max`, which no mean can be");
        }
        let (tool, generator) = block.generator.map_or((None, None), generator);
        let components: Vec<Processors> = (block.components.iter())
            .map(|(name, block)| component(name, block))
            .collect();
        let everybody = generator
            .iter()
            .map(|one| (path.key("generator"), one))
            .chain((components.iter()).map(|one| (path.key("components").key(&one.name), one)));
        let wrong: Vec<Path> = everybody
            .filter(|(_, one)| {
                one.count
                    .is_some_and(|count| !count.is_finite() || count <= 0.0)
            })
            .map(|(path, _)| path.key("cpus"))
            .collect();
        for path in wrong {
            self.refuse(path, "a number above 0");
        }
        Observation {
            offered: block.offered.map(|rate| rate.as_per_second()),
            rate: block.rate.map(|rate| rate.as_per_second()),
            users: block.users.map(exact),
            think: block.think.and_then(|think| self.think(&path, &think)),
            duration: block.duration.map(|duration| *duration),
            requests: block.requests.map(exact),
            connections: block.connections.map(exact),
            mean,
            longest,
            failed: block.failed.map(|share| *share),
            generator,
            tool,
            components,
            pool: (block.pool).map(|pool| (exact(pool.size), pool.timeout.as_secs_f64())),
            name,
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
            let servers = fault.servers.map_or(1.0, exact);
            if servers == 0.0 {
                self.refuse(path.key(&name).key("servers"), "at least 1");
            }
            let per_year = fault.per_year.unwrap_or(1.0);
            if !per_year.is_finite() || per_year < 0.0 {
                self.refuse(path.key(&name).key("per_year"), "a number, 0 or above");
            }
            faults.push(Fault {
                outage: fault.outage.as_secs_f64(),
                servers,
                impact: fault.impact.map_or(1.0 / servers.max(1.0), |share| *share),
                per_year,
                trials: fault.trials.unwrap_or(1),
                name,
            });
        }
        FaultTable {
            rate: block.rate.map(|rate| rate.as_per_second()),
            faults,
        }
    }
}

fn generator(block: GeneratorBlock) -> (Option<String>, Option<Processors>) {
    let processors = block.cpu.map(|share| Processors {
        name: "generator".to_owned(),
        share: *share,
        count: block.cpus,
    });
    (block.tool.map(|tool| tool.to_lowercase()), processors)
}

fn component(name: &str, block: &ProcessorsBlock) -> Processors {
    Processors {
        name: name.to_owned(),
        share: *block.cpu,
        count: block.cpus,
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
