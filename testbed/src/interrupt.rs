//! Being asked to stop: Ctrl-C and SIGTERM end what is under way, so that the table is written and nothing is left running.
//!
//! Whoever waits looks at [`requested`] while it waits, and gives up.

use crate::Error;
use crate::terminal::say;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals come to the process, so this belongs to it as a whole.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Notices both signals from now on, on a thread that lasts as long as the program.
pub fn watch() -> Result<(), Error> {
    let failed = |source| Error::io("handling signals", source);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(failed)?;
    let entered = runtime.enter();
    let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let terminate = signal(SignalKind::terminate()).map_err(failed)?;
    drop(entered);
    std::thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(move || runtime.block_on(either(interrupt, terminate)))
        .map_err(failed)?;
    Ok(())
}

/// Whether it was asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The error that it was.
pub fn check() -> Result<(), Error> {
    if requested() {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

async fn either(mut interrupt: Signal, mut terminate: Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    REQUESTED.store(true, Ordering::Relaxed);
    say("interrupted; ending what runs and keeping the table");
}
