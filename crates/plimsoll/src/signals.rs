//! SIGINT, SIGTERM and SIGHUP: the first one asks for a clean end, a later one ends the process.

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
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let mut next = async || {
                tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => (), _ = hangup.recv() => () }
            };
            next().await;
            sender.send_replace(true);
            sleep(SAME).await;
            // What came meanwhile has been kept.
            let _same = tokio::time::timeout(Duration::ZERO, next()).await;
            next().await;
        });
        exit_now();
    })?;
    Ok(receiver)
}

#[expect(
    clippy::exit,
    reason = "a second signal means: now; children end because their shim sees the pipe close"
)]
fn exit_now() {
    std::process::exit(INTERRUPTED);
}
