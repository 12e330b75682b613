//! SIGINT, SIGTERM and SIGHUP: the first one asks for a clean end, a later one ends the process. To a server that can reload, SIGHUP says
//! that it should; to one that can be swapped, SIGUSR2.

use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

/// Exit code after a second signal, as shells report SIGINT.
const INTERRUPTED: i32 = 130;

/// For so long after the first signal further ones are the same one: a process group is signalled together with its member, by
/// `timeout` for instance, and a person who presses a key twice within it is impatient, not in earnest.
const SAME: Duration = Duration::from_secs(1);

/// From now on the first signal turns the value to `true`.
///
/// # Errors
/// When a thread or a handler cannot be set up.
pub fn stop_on_signal() -> io::Result<watch::Receiver<bool>> {
    let (sender, receiver) = watch::channel(false);
    heed(sender, None)?;
    Ok(receiver)
}

/// Signals to a server.
#[derive(Debug)]
pub struct Signals {
    /// Becomes true when it is to stop; whoever else may say so has a sender.
    pub stop: watch::Sender<bool>,
    /// Each SIGHUP counts it up: it is to reload.
    pub hangups: watch::Receiver<u64>,
    /// Each SIGUSR2 counts it up: it is to be started anew.
    pub swaps: watch::Receiver<u64>,
}

/// Signals of a server that can reload and be swapped.
///
/// # Errors
/// When a thread or a handler cannot be set up.
pub fn of_a_server() -> io::Result<Signals> {
    let stop = watch::Sender::new(false);
    let (hangup, hangups) = watch::channel(0);
    let (swap, swaps) = watch::channel(0);
    heed(stop.clone(), Some(Counts { hangup, swap }))?;
    Ok(Signals {
        stop,
        hangups,
        swaps,
    })
}

/// Signals that are counted.
struct Counts {
    hangup: watch::Sender<u64>,
    swap: watch::Sender<u64>,
}

fn heed(stop: watch::Sender<bool>, counts: Option<Counts>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut interrupt, mut terminate, mut hangup, mut user) = {
        let _inside = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            // To who does not count it, it is what it is to every process.
            match &counts {
                Some(_) => Some(signal(SignalKind::user_defined2())?),
                None => None,
            },
        )
    };
    // The thread lives as long as the process: signals may come until the very end.
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                let mut next = async || loop {
                    tokio::select! {
                        _ = interrupt.recv() => return,
                        _ = terminate.recv() => return,
                        _ = hangup.recv() => match &counts {
                            Some(counts) => counts.hangup.send_modify(|count| *count += 1),
                            None => return,
                        },
                        () = received(user.as_mut()) => if let Some(counts) = &counts {
                            counts.swap.send_modify(|count| *count += 1);
                        },
                    }
                };
                next().await;
                stop.send_replace(true);
                sleep(SAME).await;
                // What came meanwhile has been kept.
                let _same = tokio::time::timeout(Duration::ZERO, next()).await;
                next().await;
            });
            exit_now();
        })?;
    Ok(())
}

/// Ready when the signal has come; never without one.
async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

#[expect(
    clippy::exit,
    reason = "a second signal means: now; children end because their shim sees the pipe close"
)]
fn exit_now() {
    std::process::exit(INTERRUPTED);
}
