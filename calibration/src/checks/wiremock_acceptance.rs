//! WireMock's own acceptance tests judge the mock: how many pass, and whether any fails that is not known to.
//!
//! A checkout of WireMock at the tag 3.13.2 is named with `--wiremock`. Its tests are compiled against its released jars, with our classes of
//! `calibration/wiremock/java` in the place of its server: they start our executable, write options as flags, and ask over the admin API.
//! The jars come from `bench/peers/install wiremock-acceptance`. Which classes are run stands in `classes.txt`, beside it what fails and why.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const CHECK: Check = Check {
    name: "wiremock-acceptance",
    about: "WireMock's own acceptance tests, with the mock in the place of its server (--wiremock CHECKOUT)",
    run,
};

/// Tests of which the real server passes 741 in the same place.
const MUST_PASS: usize = 716;
/// The tests that may fail, a line each: class, test, why.
const KNOWN: &str = include_str!("../../wiremock/failures.txt");
/// The classes that are run, a line for each process that runs some: options of Java's, and their names.
const CLASSES: &str = include_str!("../../wiremock/classes.txt");

/// The fates of the tests of a class, by their names.
type Class = BTreeMap<String, Fate>;

/// The fate of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Passed,
    Skipped,
    Failed(String),
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let Some(checkout) = &bench.wiremock else {
        let why = "name a checkout of WireMock 3.13.2 with --wiremock";
        return Ok(vec![Bar::not_measured("WireMock's acceptance tests", why)]);
    };
    let suite = Suite::build(bench, checkout)?;
    let mut fates: BTreeMap<String, Class> = BTreeMap::new();
    for line in CLASSES.lines() {
        bench.progress(line.split(' ').nth(1).unwrap_or(line));
        suite.run(line, &mut fates)?;
    }
    Ok(bars(&fates, KNOWN))
}

/// The compiled tests.
struct Suite<'a> {
    plimsoll: PathBuf,
    checkout: &'a Path,
    class_path: OsString,
}

impl<'a> Suite<'a> {
    /// Compiles WireMock's tests and our classes, in a directory that goes with the bench.
    fn build(bench: &Bench, checkout: &'a Path) -> Result<Self, Error> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let jars = here.join("../target/peers/wiremock-acceptance");
        if !jars.exists() {
            let why = "`bench/peers/install wiremock-acceptance` brings it";
            return Err(Error::Missing(why.to_owned()));
        }
        let scratch = bench.directory()?;
        let (theirs, ours) = (scratch.join("theirs"), scratch.join("ours"));
        let tests = checkout.join("src/test");
        let extension = checkout.join("test-extension/test-extension.jar");
        let all = [jars.join("*"), extension.clone()];
        let path = joined(&all);
        let mut sources = java_files(&checkout.join("src/testFixtures/java"))?;
        sources.extend(java_files(&tests.join("java/com"))?);
        sources.extend(java_files(&tests.join("java/ignored"))?);
        bench.progress("javac");
        compile(&path, &theirs, &sources)?;
        let own = java_files(&here.join("wiremock/java"))?;
        compile(&joined(&[all[0].clone(), theirs.clone()]), &ours, &own)?;
        let class_path = joined(&[
            ours,
            theirs,
            tests.join("resources"),
            checkout.join("src/testFixtures/resources"),
            tests.join("resources/classpath-filesource.jar"),
            extension,
            jars.join("*"),
        ]);
        Ok(Self {
            plimsoll: fs::canonicalize(&bench.plimsoll)
                .map_err(|source| Error::io("finding the executable", source))?,
            checkout,
            class_path,
        })
    }

    /// Runs the classes of a line in one process, and adds what became of their tests.
    fn run(&self, line: &str, fates: &mut BTreeMap<String, Class>) -> Result<(), Error> {
        let (options, classes): (Vec<&str>, Vec<&str>) =
            line.split(' ').partition(|word| word.starts_with('-'));
        let mut plimsoll = OsString::from("-Dplimsoll=");
        plimsoll.push(&self.plimsoll);
        let mut command = Command::new("java");
        command
            .args([
                "-XX:TieredStopAtLevel=1",
                "-Duser.timezone=Australia/Sydney",
            ])
            .args(OPENED)
            .args(options)
            .arg(plimsoll)
            .arg("-cp")
            .arg(&self.class_path)
            .arg("com.github.tomakehurst.wiremock.Suite")
            .args(classes)
            .current_dir(self.checkout);
        let output = command.output().map_err(Error::when("starting java"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        read(&said, fates).ok_or_else(|| {
            let told = String::from_utf8_lossy(&output.stderr);
            let last = told.lines().last().unwrap_or_default();
            Error::Measured(format!(
                "{line}: the tests did not come to their end: {last}"
            ))
        })
    }
}

/// Java's own packages that the tests reach into.
const OPENED: [&str; 3] = [
    "--add-exports=java.base/sun.security.x509=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
];

fn compile(class_path: &OsString, to: &Path, sources: &[PathBuf]) -> Result<(), Error> {
    let mut command = Command::new("javac");
    command
        .args([
            "-nowarn",
            "-proc:none",
            "-encoding",
            "UTF-8",
            OPENED[0],
            "-cp",
        ])
        .arg(class_path)
        .arg("-d")
        .arg(to)
        .args(sources);
    let output = command.output().map_err(Error::when("starting javac"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let error = told.lines().find(|line| line.contains("error:"));
    let error = error.unwrap_or("no word of it").to_owned();
    Err(Error::Measured(format!("javac: {error}")))
}

fn joined(paths: &[PathBuf]) -> OsString {
    let mut joined = OsString::new();
    for path in paths {
        if !joined.is_empty() {
            joined.push(":");
        }
        joined.push(path);
    }
    joined
}

/// The sources below a directory.
fn java_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let error = |source| Error::io(format!("reading {}", directory.display()), source);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            found.extend(java_files(&path)?);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "java")
        {
            found.push(path);
        }
    }
    Ok(found)
}

/// Reads lines `passed`, `failed` or `skipped`, class, test and reason; `None` unless they end with `end`.
fn read(said: &str, fates: &mut BTreeMap<String, Class>) -> Option<()> {
    for line in said.lines() {
        if line == "end" {
            return Some(());
        }
        let words: Vec<&str> = line.split('\t').collect();
        let [outcome, class, test, why] = words[..] else {
            continue;
        };
        let fate = match outcome {
            "passed" => Fate::Passed,
            "failed" => Fate::Failed(why.to_owned()),
            _ => Fate::Skipped,
        };
        let class = fates.entry(class.to_owned()).or_default();
        let same = |name: &String| *name == test || name.starts_with(&format!("{test} #"));
        let again = class.keys().filter(|name| same(name)).count();
        let name = match again {
            0 => test.to_owned(),
            again => format!("{test} #{}", again + 1),
        };
        class.insert(name, fate);
    }
    None
}

/// Whether enough pass and nothing fails that is not known to; beside it every class, and every failure that is new.
fn bars(fates: &BTreeMap<String, Class>, known: &str) -> Vec<Bar> {
    let passed = |class: &Class| class.values().filter(|fate| **fate == Fate::Passed).count();
    let all: usize = fates.values().map(BTreeMap::len).sum();
    let pass: usize = fates.values().map(passed).sum();
    let is_known = |class: &str, test: &str| {
        let entry = format!("{class}\t{test}\t");
        known.lines().any(|line| line.starts_with(&entry))
    };
    let failures = fates.iter().flat_map(|(class, tests)| {
        tests.iter().filter_map(move |(test, fate)| match fate {
            Fate::Failed(why) => Some((class.as_str(), test.as_str(), why.as_str())),
            Fate::Passed | Fate::Skipped => None,
        })
    });
    let new: Vec<_> = failures
        .filter(|(class, test, _)| !is_known(class, test))
        .collect();
    let mut bars = vec![
        Bar::judged(
            "tests that pass",
            format!("at least {MUST_PASS}"),
            format!("{pass} of {all}"),
            pass >= MUST_PASS,
        ),
        Bar::judged(
            "tests that fail and are not known to",
            "none",
            new.len().to_string(),
            new.is_empty(),
        ),
    ];
    for (class, tests) in fates {
        let measured = format!("{} of {}", passed(tests), tests.len());
        bars.push(Bar::shown(class, "", measured));
    }
    for (class, test, why) in new {
        let why = why.chars().take(200).collect();
        bars.push(Bar::shown(format!("fails: {class}.{test}"), "", why));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn lines_become_bars() {
        let said = "passed\tA\tone()\t\nfailed\tA\ttwo()\twhy\nnoise\nskipped\tB\tthree()\tnot here\n\
                    passed\tB\tfour()\t\npassed\tB\tfour()\t\nend\n";
        let mut fates = BTreeMap::new();
        assert!(read(said, &mut fates).is_some());
        let check = |known: &str, verdict: Verdict, count: usize| {
            let bars = bars(&fates, known);
            assert_eq!(bars[0].measured, "3 of 5");
            assert_eq!(
                (bars[0].verdict, bars[1].verdict),
                (Verdict::Failed, verdict)
            );
            assert_eq!(bars.len(), count);
        };
        check("", Verdict::Failed, 5);
        check("A\ttwo()\tit is meant so\n", Verdict::Held, 4);
        assert!(read("passed\tA\tone()\t\n", &mut BTreeMap::new()).is_none());
    }
}
