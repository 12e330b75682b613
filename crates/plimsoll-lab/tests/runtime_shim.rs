//! The shim with real processes: this executable is the test, the shim and the lab that gets killed, by its first argument.
//!
//! That nothing is left running is seen without waiting or polling: every process below a shim holds the write end of one pipe,
//! whose read end is at its end only when all of them are gone.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, which the lints do not recognise without its harness"
)]

#[path = "shared/shim.rs"]
mod shim;

use plimsoll_lab::shim::{Cgroup, Command, NOT_STARTED, Report, Spec, run_shim};
use shim::{Shim, executable, sh};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Far longer than anything here takes: a test that waits this long has failed.
const DEADLINE: Duration = Duration::from_secs(60);

const TESTS: [(&str, fn()); 8] = [
    ("exit_code_passes", exit_code_passes),
    ("a_signal_passes", a_signal_passes),
    ("a_missing_command_is_named", a_missing_command_is_named),
    (
        "stdin_stays_open_until_closed",
        stdin_stays_open_until_closed,
    ),
    ("stop_escalates_to_a_kill", stop_escalates_to_a_kill),
    (
        "a_childs_end_takes_its_daemons_with_it",
        a_childs_end_takes_its_daemons_with_it,
    ),
    ("a_killed_lab_leaves_nothing", a_killed_lab_leaves_nothing),
    (
        "environment_directory_and_processors_are_the_specs",
        environment_directory_and_processors_are_the_specs,
    ),
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("shim") => return ExitCode::from(run_shim(std::io::stdin(), std::io::stderr())),
        Some("doomed-lab") => return doomed_lab(),
        _ => {}
    }
    for (name, test) in TESTS {
        test();
        println!("test {name} ... ok");
    }
    quota_is_a_group_that_goes_with_the_shim();
    ExitCode::SUCCESS
}

fn exit_code_passes() {
    let mut shim = Shim::start(&sh("exit 7"));
    assert!(matches!(shim.report(), Report::Started { .. }));
    assert_eq!(shim.ended(), 7);
}

fn a_signal_passes() {
    let mut shim = Shim::start(&sh("kill -TERM $$"));
    assert_eq!(shim.ended(), 128 + 15);
}

fn a_missing_command_is_named() {
    let spec = Spec {
        program: "plimsoll-has-no-such-command".into(),
        ..sh("")
    };
    let mut shim = Shim::start(&spec);
    let Report::Failed(failure) = shim.report() else {
        panic!("it should not have started");
    };
    assert_eq!(
        failure.to_string(),
        "command `plimsoll-has-no-such-command` was not found: install it, or give its full path"
    );
    assert_eq!(shim.ended(), NOT_STARTED);
}

fn stdin_stays_open_until_closed() {
    let spec = Spec {
        stdin_line: Some("the plan".into()),
        ..sh("read line; echo \"got $line\"; cat; exit 3")
    };
    let mut shim = Shim::start(&spec);
    assert_eq!(shim.line(), "got the plan");
    shim.command(&Command::CloseStdin);
    assert_eq!(shim.ended(), 3);
}

fn stop_escalates_to_a_kill() {
    let mut shim = Shim::start(&sh("trap '' TERM; echo ready; exec tail -f /dev/null"));
    assert_eq!(shim.line(), "ready");
    shim.command(&Command::Stop { grace_ms: 20 });
    assert_eq!(shim.ended(), 128 + 9);
    shim.all_gone();
}

fn a_childs_end_takes_its_daemons_with_it() {
    let mut shim = Shim::start(&sh(&format!("{DAEMON}; read go; exit 0")));
    assert_eq!(shim.line(), "daemon");
    shim.command(&Command::CloseStdin);
    assert_eq!(shim.ended(), 0);
    shim.all_gone();
}

/// A daemon in the usual way: its own session, and its parent has ended.
const DAEMON: &str = "(setsid sh -c 'trap \"\" HUP; echo daemon; exec tail -f /dev/null' &)";

fn a_killed_lab_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let run = scratch.path().join("run");
    // Of a component that is down.
    std::fs::create_dir_all(run.join("component")).unwrap();
    let mut lab = std::process::Command::new(executable())
        .arg("doomed-lab")
        .arg(&run)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(lab.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("daemon") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "it did not start");
    }
    lab.kill().unwrap();
    lab.wait().unwrap();
    until_end(stdout);
    assert!(!run.exists(), "secrets were left");
}

/// A lab that only waits to be killed.
fn doomed_lab() -> ExitCode {
    let scratch = std::env::args().nth(2).map(PathBuf::from);
    let spec = Spec {
        scratch,
        ..sh(&format!(
            "trap '' TERM HUP; {DAEMON}; exec tail -f /dev/null"
        ))
    };
    let mut shim = std::process::Command::new(executable())
        .arg("shim")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let line = serde_json::to_string(&spec).unwrap();
    let mut commands = shim.stdin.take().unwrap();
    writeln!(commands, "{line}").unwrap();
    let mut end = Vec::new();
    std::io::stdin().read_to_end(&mut end).unwrap();
    shim.wait().unwrap();
    ExitCode::FAILURE
}

fn environment_directory_and_processors_are_the_specs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let mut spec = Spec {
        dir: Some(dir.clone()),
        cpus: vec![0],
        ..sh("echo $ONLY:$HOME; pwd; grep Cpus_allowed_list /proc/self/status")
    };
    let environment = &mut spec.environment;
    environment.insert("ONLY".to_owned(), "this".to_owned());
    let mut shim = Shim::start(&spec);
    assert_eq!(shim.line(), "this:");
    assert_eq!(shim.line(), dir.display().to_string());
    assert_eq!(shim.line(), "Cpus_allowed_list:\t0");
    assert_eq!(shim.ended(), 0);
}

/// Needs root and a CPU controller of version 1, where groups can be made anywhere.
fn quota_is_a_group_that_goes_with_the_shim() {
    let parent = Path::new("/sys/fs/cgroup/cpu");
    let dir = parent.join(format!("plimsoll-test-{}", std::process::id()));
    if std::fs::create_dir(&dir).is_err() {
        println!(
            "test quota_is_a_group_that_goes_with_the_shim ... ignored, control groups are not ours to make"
        );
        return;
    }
    std::fs::remove_dir(&dir).unwrap();
    let copy = std::env::temp_dir().join(format!("plimsoll-test-{}", std::process::id()));
    let spec = Spec {
        cgroups: vec![Cgroup {
            dir: dir.clone(),
            settings: vec![("cpu.cfs_quota_us".into(), "25000".into())],
            leave_to: parent.to_owned(),
            copy: Some(("cpu.cfs_quota_us".into(), copy.clone())),
        }],
        ..sh(&format!("cat {}/cpu.cfs_quota_us", dir.display()))
    };
    let mut shim = Shim::start(&spec);
    assert_eq!(shim.line(), "25000");
    assert_eq!(shim.ended(), 0);
    assert!(!dir.exists());
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "25000\n");
    std::fs::remove_file(copy).unwrap();
    println!("test quota_is_a_group_that_goes_with_the_shim ... ok");
}

impl Shim {
    fn ended(&mut self) -> u8 {
        let status = self.process.wait().unwrap();
        let code = status.code().unwrap_or_else(|| panic!("{status}"));
        u8::try_from(code).unwrap()
    }

    fn all_gone(&mut self) {
        until_end(self.stdout.take().unwrap());
    }
}

/// Reads to the end, which comes when the last holder of the pipe is gone.
fn until_end(mut pipe: BufReader<ChildStdout>) {
    let (sender, receiver) = mpsc::sync_channel(1);
    let reader = std::thread::spawn(move || {
        let mut rest = Vec::new();
        pipe.read_to_end(&mut rest).unwrap();
        sender.send(()).unwrap();
    });
    receiver
        .recv_timeout(DEADLINE)
        .expect("something is left running");
    reader.join().unwrap();
}
