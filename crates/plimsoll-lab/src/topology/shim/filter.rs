//! A component's output on its way into its log, without the secrets of the run.
//!
//! Where there are none, a component writes into the file itself. Where there are, it writes into a pipe, which the shim empties as fast
//! as it can be read; what a pipe of this length holds is what the component may be ahead. A log on a full disk loses lines, and the
//! component does not wait for it.

use crate::mask::Masking;
use plimsoll_base::ignored::Ignored as _;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes that a component may be ahead, if the host permits it.
const PIPE_BYTES: usize = 1024 * 1024;
/// Bytes that are read at a time.
const PIECE: usize = 64 * 1024;

/// The reading end of a component's output.
pub(super) struct Filter {
    /// `None` once everything that can write to it has ended.
    pipe: Option<OwnedFd>,
    log: File,
    masking: Masking,
}

impl Filter {
    /// A filter into `log`, and the end that the component writes to.
    pub(super) fn open(log: File, secrets: &[String]) -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setpipe_size(&writer, PIPE_BYTES)
            .ignored("a smaller one does as well, only that the component waits more often");
        rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        let filter = Self {
            pipe: Some(reader),
            log,
            masking: Masking::new(secrets),
        };
        Ok((filter, writer))
    }

    /// The descriptor to wait for.
    pub(super) fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Hands on a piece of what has come; whether there may be more.
    pub(super) fn pass(&mut self) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let mut piece = vec![0; PIECE];
        let mut masked = Vec::with_capacity(PIECE);
        let more = match rustix::io::read(pipe, &mut piece) {
            Ok(0) => {
                self.close(&mut masked);
                false
            }
            Ok(count) => {
                self.masking.take(&piece[..count], &mut masked);
                true
            }
            Err(Errno::INTR) => true,
            Err(Errno::AGAIN) => false,
            Err(_) => {
                self.close(&mut masked);
                false
            }
        };
        self.log
            .write_all(&masked)
            .ignored("a full disk takes less");
        more
    }

    /// Hands on all that has come: the component is gone.
    pub(super) fn finish(&mut self) {
        while self.pass() {}
        let mut masked = Vec::new();
        self.close(&mut masked);
        self.log
            .write_all(&masked)
            .ignored("a full disk takes less");
    }

    fn close(&mut self, masked: &mut Vec<u8>) {
        self.pipe = None;
        self.masking.finish(masked);
    }
}
