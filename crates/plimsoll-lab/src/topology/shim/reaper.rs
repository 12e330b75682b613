//! Ends and reaps every process below this one.

use super::pid;
use crate::topology::process_tree::ProcessTree;
use plimsoll_base::ignored::Ignored as _;
use rustix::event::{Timespec, poll};
use rustix::process::{Signal, WaitOptions, WaitStatus, kill_process, wait};

/// How often is looked for survivors before giving up on them (about ten seconds: only the kernel can hold one longer).
const ROUNDS: usize = 2000;
const BETWEEN_ROUNDS: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Reaps everything below this process and remembers how the main child ended.
pub(super) struct Reaper {
    main: u32,
    status: Option<u8>,
}

impl Reaper {
    pub(super) fn new(main: u32) -> Self {
        Self { main, status: None }
    }

    /// The main child's id.
    pub(super) fn main(&self) -> u32 {
        self.main
    }

    /// The main child's exit code, once it has been reaped.
    pub(super) fn main_status(&self) -> Option<u8> {
        self.status
    }

    /// Reaps what has ended; says whether children remain.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((ended, status))) => {
                    if u32::try_from(ended.as_raw_pid()) == Ok(self.main) {
                        self.status = Some(code(status));
                    }
                }
                Ok(None) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Kills everything below this process, reaps it and gives the main child's exit code.
    pub(super) fn kill_all(&mut self) -> Option<u8> {
        for _ in 0..ROUNDS {
            if !self.reap() {
                break;
            }
            let living = ProcessTree::read().descendants(std::process::id());
            for process in living.iter().filter(|process| !process.ended) {
                if let Some(pid) = pid(process.pid) {
                    kill_process(pid, Signal::KILL).ignored("gone meanwhile is what was wanted");
                }
            }
            poll(&mut [], Some(&BETWEEN_ROUNDS)).ignored("a shorter pause does as well");
        }
        self.status
    }
}

/// The exit code by the shell's convention: the child's own, or 128 + the signal that ended it.
fn code(status: WaitStatus) -> u8 {
    let code = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => i32::from(super::LOST),
    };
    u8::try_from(code).unwrap_or(super::LOST)
}
