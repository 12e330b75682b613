//! Swapping the binary: on SIGUSR2 the program is started anew, gets the listening sockets, and serves once it is ready; until then, and if
//! it never is, this process serves.

use super::channel::{Channel, Message};
use super::predecessor::VARIABLE;
use crate::out;
use plimsoll_gateway::Sockets;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How often it is looked whether this process is to stop meanwhile.
const LOOK: Duration = Duration::from_millis(100);
/// How long a successor that was told to serve may take to say that it does. This process ends afterwards, unless that has ended itself.
const WORD: Duration = Duration::from_secs(5);

/// How the program is started anew.
#[derive(Debug)]
pub struct Program {
    file: PathBuf,
    arguments: Vec<OsString>,
    /// How long it may take to be ready.
    within: Duration,
}

impl Program {
    /// This program, from wherever its file is by then, with this process' arguments.
    ///
    /// # Errors
    /// When this process does not find its own file.
    pub fn own(within: Duration) -> io::Result<Self> {
        Ok(Self {
            file: std::env::current_exe()?,
            arguments: std::env::args_os().skip(1).collect(),
            within,
        })
    }
}

/// The signal that makes a process swap, and its steps then.
pub struct Swaps {
    /// Changes when the program is to be started anew.
    pub asked: watch::Receiver<u64>,
    /// Told to stop when a successor serves.
    pub stop: watch::Sender<bool>,
    /// The sockets that are handed over.
    pub sockets: Arc<Sockets>,
}

impl Swaps {
    /// Heeds them on a thread of its own, until this process is to stop. What comes of it leads to the successor, which knows by its end
    /// that this process has ended: it is to be kept until then.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn heed(mut self, program: Program) -> io::Result<JoinHandle<Option<Channel>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        std::thread::Builder::new()
            .name("swaps".to_owned())
            .spawn(move || {
                let mut swapped = None;
                while runtime.block_on(self.is_asked()) {
                    swapped = self.swap(&program);
                }
                swapped
            })
    }

    /// Whether a swap is asked for, before this process is to stop.
    async fn is_asked(&mut self) -> bool {
        let mut stop = self.stop.subscribe();
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => false,
            asked = self.asked.changed() => asked.is_ok(),
        }
    }

    fn swap(&self, program: &Program) -> Option<Channel> {
        let own = std::process::id();
        self.sockets.are_offered(true);
        match self.start(program) {
            Ok((successor, channel)) => {
                let new = successor.id();
                out::note(&format!(
                    "gateway: process {new} serves from now on; this one ({own}) drains"
                ));
                self.sockets.are_handed_over();
                self.stop.send_replace(true);
                // It is no part of this process any more: whoever adopts orphans reaps it.
                drop(successor);
                Some(channel)
            }
            Err(why) => {
                self.sockets.are_offered(false);
                out::note(&format!(
                    "gateway: no other process takes this one's place, and it goes on: {why}"
                ));
                None
            }
        }
    }

    /// Starts a successor that is ready and has been told to serve; it has ended if it has not.
    fn start(&self, program: &Program) -> Result<(Child, Channel), String> {
        let cannot = |error: io::Error| error.to_string();
        let (channel, end) = Channel::pair().map_err(cannot)?;
        let sockets = self.sockets.duplicates().map_err(cannot)?;
        let started = Command::new(&program.file)
            .args(&program.arguments)
            .env(VARIABLE, "1")
            .stdin(Stdio::from(end))
            .spawn();
        let mut successor = started
            .map_err(|error| format!("{} cannot be started: {error}", program.file.display()))?;
        let new = successor.id();
        out::note(&format!(
            "gateway: process {new} is started, to take this one's place"
        ));
        let tell = || {
            for socket in sockets {
                channel.say(&Message::Socket(socket))?;
            }
            channel.say(&Message::Complete)
        };
        let told = tell().map_err(|error| format!("it takes no sockets: {error}"));
        let ready = told.and_then(|()| self.wait(&channel, program.within));
        let told = ready.and_then(|()| channel.say(&Message::Yours).map_err(cannot));
        match told.and_then(|()| taken(&channel)) {
            Ok(()) => Ok((successor, channel)),
            Err(why) => Err(format!("{why} ({})", end_of(&mut successor))),
        }
    }

    /// Waits until the successor is ready.
    fn wait(&self, channel: &Channel, within: Duration) -> Result<(), String> {
        let seconds = within.as_secs_f64();
        let looks = within.as_nanos().div_ceil(LOOK.as_nanos()).max(1);
        for _ in 0..looks {
            match channel.hear(Some(LOOK)) {
                Ok(Some(Message::Ready)) => return Ok(()),
                Ok(Some(_)) => {
                    return Err("it says something else than that it is ready".to_owned());
                }
                Ok(None) => return Err("it ended before it was ready".to_owned()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.to_string()),
            }
            if *self.stop.borrow() {
                return Err("this process is to stop".to_owned());
            }
        }
        Err(format!("it was not ready within {seconds} s"))
    }
}

/// Waits for the word of a successor that was told to serve. One that is silent may serve already; one that has ended does not.
fn taken(channel: &Channel) -> Result<(), String> {
    match channel.hear(Some(WORD)) {
        Ok(Some(Message::Serving)) => {}
        Ok(None) => return Err("it ended before it served".to_owned()),
        Ok(Some(_)) | Err(_) => out::note("gateway: the new process has not said that it serves"),
    }
    Ok(())
}

/// Ends a successor that does not take over, if it has not ended by itself, and reaps it; how it ended.
fn end_of(successor: &mut Child) -> String {
    // One that has ended already keeps its own status.
    let ended = successor.kill().and_then(|()| successor.wait());
    match ended {
        Ok(status) => status.to_string(),
        Err(error) => format!("it cannot be ended: {error}"),
    }
}
