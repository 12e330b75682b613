//! Tyk's own public files: how many of them load, and why the others do not.
//!
//! A checkout of Tyk's gateway is named with `--tyk`. Every classic API definition in it is judged by `plimsoll validate`, and every
//! `tyk.conf` beside an empty directory of definitions and an empty file of policies: those that it names are the machine's that it is
//! for. What loads means what it means to Tyk by `docs/tyk.md`, whose rows have tests of their own.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use plimsoll_testbed::host;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const CHECK: Check = Check {
    name: "tyk-files",
    about: "Tyk's own API definitions and configurations are read (--tyk CHECKOUT)",
    run,
};

/// Share of the files that must load, in percent.
const MUST_LOAD: usize = 60;

/// The sort of a file, by which it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Definition,
    Configuration,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let Some(checkout) = &bench.tyk else {
        let why = "name a checkout of Tyk's gateway with --tyk";
        return Ok(vec![Bar::not_measured("Tyk's own files", why)]);
    };
    let mut fates: BTreeMap<(Sort, PathBuf), BTreeSet<String>> = BTreeMap::new();
    for path in files(checkout)? {
        let Some(sort) = sort(&path) else { continue };
        let reasons = match sort {
            Sort::Definition => judge(bench, &path)?,
            Sort::Configuration => judge_configuration(bench, &path)?,
        };
        let name = path.strip_prefix(checkout).unwrap_or(&path);
        fates.insert((sort, name.to_owned()), reasons);
    }
    let count = |is: &dyn Fn(Sort, &BTreeSet<String>) -> bool| {
        fates
            .iter()
            .filter(|((sort, _), why)| is(*sort, why))
            .count()
    };
    let (all, load) = (fates.len(), count(&|_, why| why.is_empty()));
    let of = |wanted: Sort| {
        let load = count(&|sort, why| sort == wanted && why.is_empty());
        format!("{load} of {}", count(&|sort, _| sort == wanted))
    };
    let mut bars = vec![
        Bar::judged(
            "files that load",
            format!("at least {MUST_LOAD} %"),
            format!("{load} of {all} of commit {}", host::commit(checkout)),
            all > 0 && load * 100 >= all * MUST_LOAD,
        ),
        Bar::shown("API definitions that load", "", of(Sort::Definition)),
        Bar::shown("configurations that load", "", of(Sort::Configuration)),
    ];
    bars.extend(reasons(&fates));
    Ok(bars)
}

/// Why files do not load, most frequent first.
fn reasons(fates: &BTreeMap<(Sort, PathBuf), BTreeSet<String>>) -> Vec<Bar> {
    let mut files: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for reasons in fates.values() {
        for reason in reasons {
            let (count, alone) = files.entry(reason).or_default();
            *count += 1;
            *alone += usize::from(reasons.len() == 1);
        }
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(reason, (count, _))| (usize::MAX - count, *reason));
    let bar = |(reason, (count, alone)): (&str, (usize, usize))| {
        Bar::shown(
            format!("refused: {reason}"),
            "files, of which for this alone",
            format!("{count}, {alone}"),
        )
    };
    files.into_iter().map(bar).collect()
}

/// Files below a directory whose names say JSON or a configuration, in order.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let error = |source| Error::io(format!("reading {}", directory.display()), source);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(error)? {
        let entry = entry.map_err(error)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(error)?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && name != ".git" {
            found.extend(files(&path)?);
        } else if kind.is_file()
            && [".json", ".conf", ".conf.example"]
                .iter()
                .any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The sort of a file. A configuration that is no JSON is known by its name.
fn sort(path: &Path) -> Option<Sort> {
    let text = fs::read_to_string(path).ok()?;
    let name = path.file_name()?.to_string_lossy();
    let is_configuration = name.starts_with("tyk") && name.contains(".conf");
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value["proxy"]["listen_path"].is_string() => Some(Sort::Definition),
        Ok(value) if value["app_path"].is_string() => Some(Sort::Configuration),
        Ok(_) => None,
        // Others of that name are of init systems and servers.
        Err(_) if is_configuration && text.trim_start().starts_with('{') => {
            Some(Sort::Configuration)
        }
        Err(_) => None,
    }
}

fn judge_configuration(bench: &Bench, path: &Path) -> Result<BTreeSet<String>, Error> {
    let scratch = tempfile::tempdir().map_err(|e| Error::io("making a directory", e))?;
    let at = |name: &str| scratch.path().join(name);
    let write = |name: &str, text: &str| {
        fs::write(at(name), text).map_err(|e| Error::io("writing a configuration", e))
    };
    fs::create_dir(at("apps")).map_err(|e| Error::io("making a directory", e))?;
    write("policies.json", "{}")?;
    let text = fs::read_to_string(path).map_err(|e| Error::io("reading a configuration", e))?;
    let text = match serde_json::from_str::<Value>(&text) {
        Err(_) => text,
        Ok(mut conf) => {
            conf["app_path"] = json!(at("apps"));
            let policies = &mut conf["policies"];
            if policies["policy_record_name"]
                .as_str()
                .is_some_and(|name| !name.is_empty())
            {
                policies["policy_record_name"] = json!(at("policies.json"));
            }
            if policies["policy_path"]
                .as_str()
                .is_some_and(|path| !path.is_empty())
            {
                policies["policy_path"] = json!(at("apps"));
            }
            conf.to_string()
        }
    };
    write("tyk.conf", &text)?;
    judge(bench, &at("tyk.conf"))
}

/// Why a file is refused; nothing, if it loads.
fn judge(bench: &Bench, path: &Path) -> Result<BTreeSet<String>, Error> {
    let mut command = Command::new(&bench.plimsoll);
    let output = command.arg("validate").arg(path).output();
    let output = output.map_err(|e| Error::io("running plimsoll validate", e))?;
    if output.status.success() {
        return Ok(BTreeSet::new());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let place = format!("{}:", path.display());
    let found = told
        .lines()
        .filter_map(|line| Some(line.split_once(&place)?.1));
    let mut reasons: BTreeSet<String> = found.map(reason).collect();
    if reasons.is_empty() {
        reasons.insert(told.lines().next().unwrap_or("no word of it").to_owned());
    }
    Ok(reasons)
}

/// Of `line:column: path: message` the path, with `*` for names that a file chooses; of a file as a whole the message.
fn reason(problem: &str) -> String {
    let rest = problem.splitn(3, ':').nth(2).unwrap_or(problem).trim();
    let Some((path, _)) = rest
        .split_once(": ")
        .filter(|(path, _)| !path.contains(' '))
    else {
        return rest.split(':').next().unwrap_or(rest).to_owned();
    };
    let mut names: Vec<String> = Vec::new();
    for name in path.split('.') {
        let chosen = matches!(
            names.last().map(String::as_str),
            Some(
                "versions" | "access_rights" | "add_headers" | "global_headers" | "method_actions"
            )
        );
        let name = name.split('[').next().unwrap_or(name);
        names.push(if chosen { "*" } else { name }.to_owned());
    }
    names.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_paths_without_what_a_file_chooses() {
        for (problem, expected) in [
            ("3:4: use_oauth2: not supported: x", "use_oauth2"),
            (
                "3:4: version_data.versions.v1.extended_paths.virtual[0].path: x",
                "version_data.versions.*.extended_paths.virtual.path",
            ),
            ("1:2: not JSON: write a key", "not JSON"),
        ] {
            assert_eq!(reason(problem), expected);
        }
    }
}
