//! The rest to do for a fault when everybody who knows of it has died: as plain data, which a journal keeps.
//!
//! Whatever the run has started goes with its shims, and with it most faults: limits, frozen groups, proxies, clocks. What is left are files of
//! the user's that were replaced, proxies that others have started, and commands of the user's that have to be undone by others.

use crate::toxiproxy::Change;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_report::record::FaultRow;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How long a command that undoes may take.
const PATIENCE: Timespec = Timespec {
    tv_sec: 30,
    tv_nsec: 0,
};

/// One thing to undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Undo {
    /// A file that was set aside gets its place back.
    Restore {
        /// Its place.
        file: PathBuf,
        /// Where it is now.
        aside: PathBuf,
    },
    /// A command is run, and must end with status 0.
    Run {
        /// Program and arguments.
        command: Vec<String>,
        /// Its working directory.
        dir: PathBuf,
        /// Its whole environment.
        environment: BTreeMap<String, String>,
    },
    /// A change of a proxy of a Toxiproxy is taken back.
    Proxy(Change),
}

impl Undo {
    /// The name of a file that is to take the place of one that is set aside under this name.
    pub(crate) fn minted(aside: &Path) -> PathBuf {
        aside.with_extension("minted")
    }

    /// Does it, and blocks meanwhile; not inside of a runtime. Doing so twice does no harm.
    ///
    /// # Errors
    /// Why it could not be done, in words.
    pub(crate) fn carry_out(&self) -> Result<(), String> {
        match self {
            Self::Restore { file, aside } => {
                match fs::rename(aside, file) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound && file.exists() => {}
                    done => done.map_err(|error| format!("{}: {error}", file.display()))?,
                }
                // Two names of one file, as long as nothing was put in its place: then a rename does nothing.
                fs::remove_file(aside).ignored("there is none, most often");
                let minted = Self::minted(aside);
                fs::remove_file(minted).ignored("it has taken the place, most often");
                Ok(())
            }
            Self::Run {
                command,
                dir,
                environment,
            } => run(command, dir, environment, PATIENCE),
            Self::Proxy(change) => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = runtime.map_err(|error| error.to_string())?;
                runtime.block_on(change.take_back()).map(drop)
            }
        }
    }
}

/// Runs a command to its end, and kills it with its process group where it takes too long.
fn run(
    command: &[String],
    dir: &Path,
    environment: &BTreeMap<String, String>,
    patience: Timespec,
) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("an empty command")?;
    let failed = |error: io::Error| format!("{program}: {error}");
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let group = Pid::from_child(&child);
    let ended = pidfd_open(group, PidfdFlags::empty());
    let ended = ended.map_err(|error| failed(error.into()))?;
    let mut looked_at = [PollFd::new(&ended, PollFlags::IN)];
    let has_ended = poll(&mut looked_at, Some(&patience));
    if has_ended.is_ok_and(|count| count > 0) {
        return match child.wait().map_err(failed)? {
            status if status.success() => Ok(()),
            status => Err(format!("{program}: {status}")),
        };
    }
    kill_process_group(group, Signal::KILL).ignored("it has ended just now");
    child.wait().ignored("it was ours, and is gone");
    Err(format!("{program}: it does not end"))
}

/// A line of `faults.jsonl`, and an order to a warden: what is open is what was opened and not closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Line {
    /// This is to be undone, unless it is closed.
    Open {
        /// Its number.
        number: u64,
        /// The fault that it is of.
        fault: String,
        /// The thing.
        undo: Undo,
    },
    /// A fault is over.
    Over(Box<FaultRow>),
    /// Nothing is left to be undone.
    Close {
        /// Its number.
        number: u64,
    },
}

/// Undoes of these lines what is open, last first.
///
/// # Errors
/// A sentence for each that could not be undone; the others are.
pub(crate) fn undo_open(lines: impl IntoIterator<Item = Line>) -> Result<Vec<String>, Vec<String>> {
    let mut open: BTreeMap<u64, (String, Undo)> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Open {
                number,
                fault,
                undo,
            } => {
                open.insert(number, (fault, undo));
            }
            Line::Close { number } => {
                open.remove(&number);
            }
            Line::Over(_) => {}
        }
    }
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for (fault, undo) in open.into_values().rev() {
        match undo.carry_out() {
            Ok(()) => done.push(fault),
            Err(why) => failed.push(format!("fault `{fault}`: {why}")),
        }
    }
    match failed.is_empty() {
        true => Ok(done),
        false => Err(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &[&str], dir: &std::path::Path) -> Undo {
        Undo::Run {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            dir: dir.to_owned(),
            environment: BTreeMap::new(),
        }
    }

    fn open(number: u64, undo: Undo) -> Line {
        Line::Open {
            number,
            fault: format!("fault-{number}"),
            undo,
        }
    }

    #[test]
    fn what_is_open_is_undone_last_first_and_the_rest_despite_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let append = |word: &str| {
            let script = format!("printf {word} >> order");
            run(&["/bin/sh", "-c", &script], dir.path())
        };
        let lines = [
            open(1, append("a")),
            open(2, append("b")),
            open(3, run(&["/bin/false"], dir.path())),
            open(4, append("d")),
            Line::Close { number: 2 },
        ];
        let failed = undo_open(lines).unwrap_err();
        assert_eq!(failed.len(), 1);
        assert!(
            failed[0].starts_with("fault `fault-3`: /bin/false"),
            "{failed:?}"
        );
        assert_eq!(fs::read_to_string(dir.path().join("order")).unwrap(), "da");
    }

    /// The end of a pipe is that of all who could write into it: the command, and what it had started.
    #[test]
    fn what_hangs_ends_with_its_process_group() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        // As long as it is held, whoever opens the pipe need not wait for another.
        let both_ends = fs::OpenOptions::new().read(true).write(true).open(&pipe);
        let (sender, read) = std::sync::mpsc::channel();
        std::thread::spawn({
            let pipe = pipe.clone();
            move || sender.send(fs::read(pipe).unwrap())
        });
        let script = "exec > pipe; sleep 600 & sleep 600";
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        let soon = Timespec {
            tv_sec: 0,
            tv_nsec: 200_000_000,
        };
        let failed = super::run(&command, dir.path(), &BTreeMap::new(), soon);
        assert_eq!(failed, Err("/bin/sh: it does not end".to_owned()));
        drop(both_ends.unwrap());
        let read = read.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(read.unwrap(), b"");
    }

    #[test]
    fn a_file_is_put_back_once_and_whatever_had_been_done() {
        let dir = tempfile::tempdir().unwrap();
        let (file, aside) = (
            dir.path().join("cert"),
            dir.path().join(".cert.x.set-aside"),
        );
        let undo = Undo::Restore {
            file: file.clone(),
            aside: aside.clone(),
        };
        let check = || {
            undo.carry_out().unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "before");
            assert!(!aside.exists());
        };
        // Nothing was done yet; set aside and not replaced; replaced.
        fs::write(&file, "before").unwrap();
        check();
        fs::hard_link(&file, &aside).unwrap();
        check();
        fs::rename(&file, &aside).unwrap();
        fs::write(&file, "fault").unwrap();
        check();
        check();
        fs::remove_file(&file).unwrap();
        assert!(undo.carry_out().is_err());
    }
}
