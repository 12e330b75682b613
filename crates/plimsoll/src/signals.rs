//! SIGINT, SIGTERM and SIGHUP: the first one asks for a clean end, a later one ends the process. To a server that can reload, SIGHUP says
//! that it should.

use std::io;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
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

/// The same, but each SIGHUP counts the second value up.
///
/// # Errors
/// When a thread or a handler cannot be set up.
pub fn stop_or_reload_on_signal() -> io::Result<(watch::Receiver<bool>, watch::Receiver<u64>)> {
    let (sender, receiver) = watch::channel(false);
    let (hangups, hung_up) = watch::channel(0);
    heed(sender, Some(hangups))?;
    Ok((receiver, hung_up))
}

fn heed(stop: watch::Sender<bool>, hangups: Option<watch::Sender<u64>>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut interrupt, mut terminate, mut hangup) = {
        let _inside = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
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
                        _ = hangup.recv() => match &hangups {
                            Some(hangups) => hangups.send_modify(|count| *count += 1),
                            None => return,
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

#[expect(
    clippy::exit,
    reason = "a second signal means: now; children end because their shim sees the pipe close"
)]
fn exit_now() {
    std::process::exit(INTERRUPTED);
}
