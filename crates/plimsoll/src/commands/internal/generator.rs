//! `plimsoll generator` (hidden): one line of JSON with a plan on standard input, one message per line on standard output.

use crate::exit::{Ending, Failure};
use crate::out;
use plimsoll_load::fragment::Message;
use plimsoll_load::plan::Plan;
use std::io::{self, BufRead as _, Read as _};
use tokio::sync::watch;

/// Runs the plan. The end of standard input stops it cleanly.
pub fn run() -> Result<Ending, Failure> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|e| Failure::Internal(format!("reading the plan: {e}")))?;
    let plan: Plan =
        serde_json::from_str(&line).map_err(|e| Failure::Internal(format!("the plan: {e}")))?;
    let stop = stop_at_end_of_input()
        .map_err(|e| Failure::Environment(format!("watching standard input: {e}")))?;
    let mut unheard = false;
    let mut emit = |message: Message| unheard |= !say(&message);
    plimsoll_load::run(plan, stop, &mut emit)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    if unheard {
        Err(Failure::Internal("nobody reads the fragments".to_owned()))
    } else {
        Ok(Ending::Passed)
    }
}

/// Writes one message; whether that was possible.
fn say(message: &Message) -> bool {
    serde_json::to_string(message).is_ok_and(|line| out::document(&format!("{line}\n")).is_ok())
}

/// Turns true when standard input ends. The thread lives as long as the process.
fn stop_at_end_of_input() -> io::Result<watch::Receiver<bool>> {
    let (sender, receiver) = watch::channel(false);
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut rest = io::stdin().lock().take(u64::MAX);
            let mut scratch = [0; 64];
            while matches!(rest.read(&mut scratch), Ok(count) if count > 0) {}
            sender.send_replace(true);
        })?;
    Ok(receiver)
}
