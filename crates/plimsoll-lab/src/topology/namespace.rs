//! Namespaces of the kernel: made by a process for itself, entered by a thread or a process. None has a name: each goes with the last
//! process in it, and takes its links, addresses, rules and mounts along.
//!
//! Their purposes are left to `network` and `shim`.

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount as unmount_from,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{
    LinkNameSpaceType, ThreadNameSpaceType, UnshareFlags, move_into_link_name_space,
    move_into_thread_name_spaces,
};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Gives the calling thread a network and a name of the machine of its own.
pub(super) fn own_network() -> io::Result<()> {
    unshare(UnshareFlags::NEWNET | UnshareFlags::NEWUTS)
}

/// Gives the calling thread mounts of its own: others see nothing of what it mounts from now on.
pub(super) fn own_mounts() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    Ok(())
}

/// Mounts an empty file system in memory of at most `bytes` at `dir`, its owner's alone.
pub(super) fn mount_memory(dir: &Path, bytes: u64) -> io::Result<()> {
    let options = CString::new(format!("size={bytes},mode=0700"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", dir, "tmpfs", flags, options.as_c_str())?;
    Ok(())
}

/// Takes what is mounted at `dir` away for this process's mounts, in use or not.
pub(super) fn unmount(dir: &Path) -> io::Result<()> {
    Ok(unmount_from(dir, UnmountFlags::DETACH)?)
}

#[expect(
    deprecated,
    reason = "it is unsafe with `FILES` alone, which is asked for nowhere, and its successor needs unsafe code"
)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// Moves the calling process, which has one thread, into network, mounts and name of the machine of the process `pid`; its working
/// directory stays the one of that path.
pub(super) fn join(pid: u32) -> io::Result<()> {
    let dir = std::env::current_dir()?;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let all = ThreadNameSpaceType::NETWORK
        | ThreadNameSpaceType::MOUNT
        | ThreadNameSpaceType::HOST_NAME_AND_NIS_DOMAIN_NAME;
    move_into_thread_name_spaces(process.as_fd(), all)?;
    std::env::set_current_dir(dir)
}

/// A network namespace, which exists as long as this or a process or socket in it.
#[derive(Debug, Clone)]
pub(super) struct NetworkNamespace(Arc<File>);

impl NetworkNamespace {
    /// The one in which the process `pid` is.
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let link = File::open(format!("/proc/{pid}/ns/net"))?;
        Ok(Self(Arc::new(link)))
    }

    /// Begins work inside. It may block, and whoever waits for it does not: it has a thread of its own, which ends with it.
    ///
    /// # Errors
    /// Those of the thread and of entering, beside the work's own.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<Inside<T>> {
        let link = Arc::clone(&self.0);
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::Builder::new().name("inside".to_owned());
        thread.spawn(move || {
            let outcome = enter(&link).and_then(|()| work());
            // Whoever dropped the receiver does not want to know.
            drop(sender.send(outcome));
        })?;
        Ok(Inside(receiver))
    }

    /// Does work inside that takes no time to speak of: the calling thread is blocked meanwhile.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(super) fn briefly_inside<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("inside".to_owned());
            let inside = thread.spawn_scoped(scope, || enter(&self.0).and_then(|()| work()))?;
            inside.join().unwrap_or_else(|_| Err(ended()))
        })
    }

    /// Does work inside and waits for it.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(super) async fn inside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.begin(work)?.outcome().await
    }
}

/// Work that goes on in a namespace.
pub(super) struct Inside<T>(oneshot::Receiver<io::Result<T>>);

impl<T> Inside<T> {
    /// Waits for its end.
    ///
    /// # Errors
    /// Those of the work; a thread that panicked says so on standard error.
    pub(super) async fn outcome(self) -> io::Result<T> {
        self.0.await.map_err(|_| ended())?
    }
}

/// Moves the calling thread into a network namespace.
fn enter(link: &File) -> io::Result<()> {
    let network = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(link.as_fd(), network)?)
}

fn ended() -> io::Error {
    io::Error::other("the thread inside the namespace ended")
}
