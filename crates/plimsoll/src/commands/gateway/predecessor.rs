//! The gateway whose place this process takes, if it was started for that.

use super::channel::{Channel, Message};
use crate::environment::variable;
use crate::exit::Failure;
use crate::out;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_gateway::Socket;
use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;
use tokio::sync::watch;

/// The variable by which a process knows that its standard input leads to its predecessor.
pub const VARIABLE: &str = "PLIMSOLL_TAKES_OVER";
/// How long the predecessor may take to say what it hands over.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether anybody still waits for the predecessor's end.
const LOOK: Duration = Duration::from_millis(100);

/// The gateway whose place this process takes.
pub struct Predecessor {
    channel: Channel,
    /// The sockets that it hands over.
    pub sockets: Vec<Socket>,
}

impl Predecessor {
    /// The predecessor and its sockets; `None` for a process that takes nobody's place.
    pub fn find() -> Result<Option<Self>, Failure> {
        if variable(VARIABLE).is_none() {
            return Ok(None);
        }
        let found = Self::hear().map_err(|error| {
            Failure::Environment(format!(
                "{VARIABLE} is set, and standard input leads to no gateway: {error}"
            ))
        });
        found.map(Some)
    }

    fn hear() -> io::Result<Self> {
        let channel = Channel::of(io::stdin().as_fd().try_clone_to_owned()?)?;
        let mut sockets = Vec::new();
        loop {
            match channel.hear(Some(PATIENCE))? {
                Some(Message::Socket(socket)) => sockets.push(socket),
                Some(Message::Complete) => return Ok(Self { channel, sockets }),
                Some(Message::Ready | Message::Yours | Message::Serving) | None => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
    }

    /// Says that everything is set up, and waits for its word. A predecessor that has gone without one has nobody serve in its place.
    pub fn take_over(&self) {
        if let Err(error) = self.channel.say(&Message::Ready) {
            out::note(&format!(
                "gateway: the process before cannot be told: {error}"
            ));
            return;
        }
        match self.channel.hear(None) {
            Ok(Some(_)) => {}
            Ok(None) => out::note("gateway: the process before has gone; this one serves"),
            Err(error) => out::note(&format!("gateway: the process before: {error}")),
        }
    }

    /// Says that this process serves, so that the one before may end; returns when that has ended, or `leaving` is true.
    pub fn release(self, leaving: &watch::Receiver<bool>) {
        self.channel
            .say(&Message::Serving)
            .ignored("it has gone already");
        while !*leaving.borrow() {
            match self.channel.hear(Some(LOOK)) {
                // It has nothing more to say: its end alone matters.
                Ok(Some(_)) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}
