//! The shim: a small process between the lab and each child, so that nothing outlives the lab.
//!
//! It is the subreaper of everything below it and holds a pipe to the lab as its standard input. A closed pipe means
//! that the lab has ended, however it ended: the shim then kills all that runs below it, also what daemonised itself.
//! A parent-death signal would not do: it follows the spawning thread and misses grandchildren. What a child is for,
//! when it counts as ready and what it prints are the lab's business (`child`).

mod cgroup;
mod disk;
mod filter;
mod lines;
mod reaper;
mod scratch;
mod spec;

pub use spec::{Cgroup, Command, Disk, Failure, Report, Spec, Stdout};

use super::namespace;
use filter::Filter;
use lines::Lines;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::timer::Alarm;
use reaper::Reaper;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use scratch::Scratch;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};
use std::time::Duration;

/// The longest line that a shim takes, in bytes: a plan carries the rows of its feeders and the bodies of its requests.
pub const SPEC_BYTES: usize = 512 * 1024 * 1024;
/// The exit code when the child could not be started; the report says why.
pub const NOT_STARTED: u8 = 125;
/// The exit code when the child's end could not be observed.
pub const LOST: u8 = 126;

/// Runs one child to its end and returns the exit code for this process: the child's own, or 128 + the signal.
///
/// `commands` is the pipe from the lab: one line of JSON of [`Spec`], then lines of [`Command`]. `reports` receives one
/// line of JSON of [`Report`]. Changes this whole process: session, subreaper, affinity, control group.
pub fn run_shim(commands: impl AsFd, mut reports: impl Write) -> u8 {
    let mut lines = Lines::new(commands);
    let started = read_spec(&mut lines).and_then(|spec| Supervised::start(&spec));
    let report = match &started {
        Ok(supervised) => Report::Started {
            pid: supervised.reaper.main(),
        },
        Err(failure) => Report::Failed(failure.clone()),
    };
    // A lab that cannot be told is gone, and then the next read of `commands` ends the child.
    let told = serde_json::to_string(&report)
        .map_err(io::Error::from)
        .and_then(|line| writeln!(reports, "{line}"));
    match started {
        Ok(mut supervised) => {
            let outcome = told.and_then(|()| supervised.until_end(&mut lines));
            supervised.finish(outcome)
        }
        Err(_) => NOT_STARTED,
    }
}

fn read_spec(lines: &mut Lines<impl AsFd>) -> Result<Spec, Failure> {
    loop {
        if let Some(text) = lines.take() {
            return serde_json::from_str(&text)
                .map_err(io::Error::from)
                .map_err(Failure::setup("read the spec"));
        }
        if !lines.fill().map_err(Failure::setup("read the spec"))? {
            return Err(Failure::Setup("the lab ended".into()));
        }
    }
}

/// The child and what is needed to end it.
struct Supervised {
    reaper: Reaper,
    ended: OwnedFd,
    stdin: Option<ChildStdin>,
    grace: Option<Alarm>,
    cgroups: Vec<cgroup::Made>,
    scratch: Option<Scratch>,
    /// The directory that is its child's disk.
    disk: Option<PathBuf>,
    filters: Vec<Filter>,
}

/// Why the shim stops waiting.
enum Ending {
    /// The child ended, or its grace is over.
    Child,
    /// The lab is gone.
    LabGone,
}

impl Supervised {
    fn start(spec: &Spec) -> Result<Self, Failure> {
        // A signal from the terminal is the lab's to handle.
        rustix::process::setsid().ignored("it leads its session already");
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(Failure::setup("become a subreaper"))?;
        let scratch = spec.scratch.as_deref().map(Scratch::hold).transpose();
        let scratch = scratch.map_err(Failure::setup("hold its directory"))?;
        pin(&spec.cpus).map_err(Failure::setup("pin to the CPUs asked for"))?;
        let cgroups = spec.cgroups.iter().map(cgroup::Made::join);
        let cgroups = cgroups.collect::<Result<Vec<_>, _>>()?;
        if let Some(host) = spec.host {
            namespace::join(host).map_err(Failure::setup("enter its host"))?;
        }
        if let Some(disk) = &spec.disk {
            disk::mount(disk).map_err(Failure::setup("give it a disk"))?;
        }
        let mut filters = Vec::new();
        let mut child = command(spec, &mut filters)?
            .spawn()
            .map_err(|e| Failure::of_spawn(spec, &e))?;
        cgroups.iter().for_each(cgroup::Made::leave);
        let reaper = Reaper::new(child.id());
        let ended = rustix::process::Pid::from_child(&child);
        let ended = pidfd_open(ended, PidfdFlags::empty()).map_err(Failure::setup("watch it"))?;
        let mut stdin = child.stdin.take();
        if let (Some(stdin), Some(line)) = (&mut stdin, &spec.stdin_line) {
            writeln!(stdin, "{line}")
                .ignored("a child that does not read its input ends soon, and says why itself");
        }
        Ok(Self {
            reaper,
            ended,
            stdin,
            grace: None,
            cgroups,
            scratch,
            disk: spec.disk.as_ref().map(|disk| disk.dir.clone()),
            filters,
        })
    }

    /// Serves commands until the child ends, the grace is over or the lab is gone.
    fn until_end(&mut self, lines: &mut Lines<impl AsFd>) -> io::Result<Ending> {
        loop {
            while let Some(text) = lines.take() {
                self.obey(serde_json::from_str(&text)?)?;
            }
            let ready = self.wait(lines)?;
            self.reaper.reap();
            if ready.ended || ready.grace_over || self.reaper.main_status().is_some() {
                return Ok(Ending::Child);
            }
            if ready.command && !lines.fill()? {
                return Ok(Ending::LabGone);
            }
            for filter in &mut self.filters {
                filter.pass();
            }
        }
    }

    fn wait(&self, lines: &Lines<impl AsFd>) -> io::Result<Ready> {
        let mut fds = vec![
            PollFd::new(&self.ended, PollFlags::IN),
            PollFd::from_borrowed_fd(lines.as_fd(), PollFlags::IN),
        ];
        fds.extend(
            self.grace
                .iter()
                .map(|timer| PollFd::new(timer, PollFlags::IN)),
        );
        // They come last: the others are known by their places.
        let output = self.filters.iter().filter_map(Filter::readable);
        fds.extend(output.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
        // Wakes now and then to reap orphans that were handed to this process.
        let second = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        match poll(&mut fds, Some(&second)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        Ok(Ready {
            ended: ready(0),
            command: ready(1),
            grace_over: self.grace.is_some() && ready(2),
        })
    }

    fn obey(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Line(line) => {
                if let Some(stdin) = &mut self.stdin {
                    writeln!(stdin, "{line}").ignored("a child that does not read its input ends");
                }
            }
            Command::CloseStdin => self.stdin = None,
            Command::Stop { grace_ms } => {
                self.stdin = None;
                if let Some(pid) = pid(self.reaper.main()) {
                    kill_process(pid, Signal::TERM).ignored("already gone is what was wanted");
                }
                self.grace = Some(timer(grace_ms)?);
            }
        }
        Ok(())
    }

    /// Kills whatever is left and gives the exit code.
    fn finish(mut self, ending: io::Result<Ending>) -> u8 {
        let status = self.reaper.kill_all();
        self.filters.iter_mut().for_each(Filter::finish);
        drop(self.cgroups);
        if let (Ok(Ending::LabGone), Some(scratch)) = (&ending, self.scratch) {
            if let Some(disk) = &self.disk {
                namespace::unmount(disk).ignored("then its directory stays");
            }
            scratch.remove_after_the_lab();
        }
        match (ending, status) {
            (Ok(_), Some(status)) => status,
            _ => LOST,
        }
    }
}

/// Events that woke the shim.
struct Ready {
    ended: bool,
    command: bool,
    grace_over: bool,
}

/// The command, and beside it what has to be done for its output while it runs.
fn command(spec: &Spec, filters: &mut Vec<Filter>) -> Result<std::process::Command, Failure> {
    let stderr = log(&spec.stderr, &spec.secrets, filters)?;
    let stdout = match &spec.stdout {
        Stdout::Inherit => Stdio::inherit(),
        // The same pipe, so that lines keep their order.
        Stdout::Log(path) if *path == spec.stderr => {
            let same = stderr.try_clone();
            Stdio::from(same.map_err(Failure::setup("open its log"))?)
        }
        Stdout::Log(path) => Stdio::from(log(path, &spec.secrets, filters)?),
    };
    let mut command = std::process::Command::new(&spec.program);
    command
        .args(&spec.arguments)
        .env_clear()
        .envs(&spec.environment)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(stderr);
    if let Some(dir) = &spec.dir {
        command.current_dir(dir);
    }
    Ok(command)
}

/// Where a child writes for its log: the file, which is its owner's alone, or a filter into it if there are secrets to be kept out.
fn log(path: &Path, secrets: &[String], filters: &mut Vec<Filter>) -> Result<OwnedFd, Failure> {
    let opened = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    let file = opened.map_err(Failure::setup("open its log"))?;
    if secrets.is_empty() {
        return Ok(file.into());
    }
    let (filter, writer) = Filter::open(file, secrets).map_err(Failure::setup("open its log"))?;
    filters.push(filter);
    Ok(writer)
}

fn pin(cpus: &[usize]) -> rustix::io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = rustix::thread::CpuSet::new();
    for &cpu in cpus {
        if cpu >= rustix::thread::CpuSet::MAX_CPU {
            return Err(rustix::io::Errno::INVAL);
        }
        set.set(cpu);
    }
    rustix::thread::sched_setaffinity(None, &set)
}

fn timer(after_ms: u64) -> io::Result<Alarm> {
    let alarm = Alarm::new()?;
    alarm.arm_after(Duration::from_millis(after_ms));
    Ok(alarm)
}

/// A process id as the system calls take it; `None` for 0 and what is not an id.
pub(crate) fn pid(raw: u32) -> Option<Pid> {
    i32::try_from(raw).ok().and_then(Pid::from_raw)
}
