//! Reading what users name: regular files of a limited length, and pipes where these make sense.
//!
//! A pipe waits for a writer that may never come, `/dev/zero` has no end, and a directory is no text. Whoever names one is told so, and
//! what to write instead. What stands in a file, and which limit is right for it, is left to who reads it.

use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The longest that files of one sort may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(u64);

impl Limit {
    /// Configurations, descriptions and stub mappings: what is read as a tree, whose nodes take far more than their text.
    pub const DOCUMENT: Self = Self::mebibytes(16);
    /// Bodies, feeders, certificates, recordings: what is held as it is.
    pub const CONTENT: Self = Self::mebibytes(64);
    /// Files of a recorded run, which grow with its length.
    pub const RECORD: Self = Self::mebibytes(1024);

    /// So many times 2²⁰ bytes.
    #[must_use]
    pub const fn mebibytes(count: u64) -> Self {
        Self(count * 1024 * 1024)
    }

    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// Kinds of files that may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Regular files: what is read again, or named in a file that outlives the command.
    Files,
    /// Pipes, too, to their end: what is read once, for a flag that a shell's `<(…)` may fill.
    FilesAndPipes,
}

/// Kind of thing that is named instead of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    Directory,
    Pipe,
    Device,
    Socket,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "this is a directory, not a file: name a file in it",
            Self::Pipe => {
                "this is a pipe, not a file: write what comes out of it into a file, and name that"
            }
            Self::Device => "this is a device, not a file: name a regular file",
            Self::Socket => "this is a socket, not a file: name a regular file",
        })
    }
}

/// The content of a regular file.
///
/// # Errors
/// As of [`std::fs::read`]; [`ErrorKind::IsADirectory`], [`ErrorKind::InvalidInput`] for other things that are no files and
/// [`ErrorKind::FileTooLarge`], all of which display as what is wrong and what to write instead.
pub fn read(path: &Path, limit: Limit) -> io::Result<Vec<u8>> {
    read_of(path, limit, Kinds::Files)
}

/// The content of a regular file that is text.
///
/// # Errors
/// As of [`read`]; [`ErrorKind::InvalidData`] where it is not UTF-8.
pub fn read_text(path: &Path, limit: Limit) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Content that is text.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where it is not UTF-8.
pub fn text(content: Vec<u8>) -> io::Result<String> {
    let refused = |_| io::Error::new(ErrorKind::InvalidData, "the file is not UTF-8 text");
    String::from_utf8(content).map_err(refused)
}

/// The content of what is named, if it is of these kinds.
///
/// # Errors
/// As of [`read`].
pub fn read_of(path: &Path, limit: Limit, kinds: Kinds) -> io::Result<Vec<u8>> {
    let (file, found) = open(path, kinds)?;
    if found.is_file() && found.len() > limit.bytes() {
        return Err(too_large(limit));
    }
    read_open(file, limit)
}

/// The rest of the content of a file that is open.
///
/// # Errors
/// As of [`read`].
pub fn read_open(file: File, limit: Limit) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // One byte more tells what is as long as the limit from what is longer, also where a length is not known.
    file.take(limit.bytes() + 1).read_to_end(&mut content)?;
    match content.len() as u64 > limit.bytes() {
        true => Err(too_large(limit)),
        false => Ok(content),
    }
}

/// Opens a regular file, to be read piece by piece.
///
/// # Errors
/// As of [`read`], but for its length.
pub fn open_file(path: &Path) -> io::Result<File> {
    Ok(open(path, Kinds::Files)?.0)
}

/// Opens without waiting for a writer of a pipe that is refused, and judges what it has opened.
fn open(path: &Path, kinds: Kinds) -> io::Result<(File, Metadata)> {
    // A socket cannot be opened, and what opening a device does is its driver's.
    judge(std::fs::metadata(path)?.file_type(), kinds)?;
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    if kinds == Kinds::Files {
        // What has become a pipe since.
        flags |= OFlags::NONBLOCK;
    }
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    judge(found.file_type(), kinds)?;
    Ok((file, found))
}

fn judge(found: FileType, kinds: Kinds) -> io::Result<()> {
    let other = match found {
        found if found.is_file() => return Ok(()),
        found if found.is_dir() => Other::Directory,
        found if found.is_fifo() && kinds == Kinds::FilesAndPipes => return Ok(()),
        found if found.is_fifo() => Other::Pipe,
        found if found.is_socket() => Other::Socket,
        _ => Other::Device,
    };
    let kind = match other {
        Other::Directory => ErrorKind::IsADirectory,
        _ => ErrorKind::InvalidInput,
    };
    Err(io::Error::new(kind, other.to_string()))
}

fn too_large(limit: Limit) -> io::Error {
    let (mebibytes, bytes) = (limit.bytes() / 1024 / 1024, limit.bytes());
    let message =
        format!("the file is too large: at most {bytes} bytes ({mebibytes} MiB) of it are read");
    io::Error::new(ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::net::UnixListener;

    /// The content, or the kind of error and its words.
    fn check(path: &Path, limit: u64, kinds: Kinds, expected: Result<&str, (ErrorKind, &str)>) {
        let read = read_of(path, Limit(limit), kinds);
        let read = read.map_err(|error| (error.kind(), error.to_string()));
        let read = read
            .as_ref()
            .map(|bytes| std::str::from_utf8(bytes).unwrap());
        let read = read.map_err(|(kind, words)| (*kind, words.as_str()));
        assert_eq!(read, expected, "{}", path.display());
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let socket = dir.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let invalid = ErrorKind::InvalidInput;
        for (path, kind, words) in [
            (
                dir.path(),
                ErrorKind::IsADirectory,
                "this is a directory, not a file: name a file in it",
            ),
            (
                &fifo,
                invalid,
                "this is a pipe, not a file: write what comes out of it into a file, and name that",
            ),
            (
                &socket,
                invalid,
                "this is a socket, not a file: name a regular file",
            ),
            (
                Path::new("/dev/zero"),
                invalid,
                "this is a device, not a file: name a regular file",
            ),
        ] {
            check(path, 10, Kinds::Files, Err((kind, words)));
            assert!(open_file(path).is_err());
        }
        let absent = read(&dir.path().join("absent"), Limit::DOCUMENT).unwrap_err();
        assert_eq!(absent.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_may_be_as_long_as_the_limit() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0123456789").unwrap();
        let refused = "the file is too large: at most 9 bytes (0 MiB) of it are read";
        let refused = Err((ErrorKind::FileTooLarge, refused));
        check(file.path(), 10, Kinds::Files, Ok("0123456789"));
        check(file.path(), 9, Kinds::Files, refused);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_where_it_may_be_one() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"piped").unwrap();
        drop(writer);
        let number = std::os::fd::AsRawFd::as_raw_fd(&reader);
        let path = format!("/proc/self/fd/{number}");
        check(Path::new(&path), 5, Kinds::FilesAndPipes, Ok("piped"));
        let words =
            "this is a pipe, not a file: write what comes out of it into a file, and name that";
        let refused = Err((ErrorKind::InvalidInput, words));
        check(Path::new(&path), 5, Kinds::Files, refused);
    }

    #[test]
    fn a_pipe_without_an_end_is_read_to_the_limit() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"0123456789").unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&reader);
        let path = format!("/proc/self/fd/{number}");
        let refused = "the file is too large: at most 5 bytes (0 MiB) of it are read";
        let refused = Err((ErrorKind::FileTooLarge, refused));
        check(Path::new(&path), 5, Kinds::FilesAndPipes, refused);
    }

    #[test]
    fn what_is_no_text_is_said_to_be_none() {
        assert_eq!(text(b"a".to_vec()).unwrap(), "a");
        let error = text(vec![0xff]).unwrap_err();
        assert_eq!(error.to_string(), "the file is not UTF-8 text");
    }
}
