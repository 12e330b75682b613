//! Why an exchange was not answered, from what its connection said and how far it had come.

use super::progress::{Point, Progress};
use plimsoll_base::reason::Reason;
use plimsoll_http::{ProtocolError, ReadError, tls};
use rustix::io::Errno;
use std::io;

/// The `timeout` of an exchange passed on an open connection.
pub(super) fn overdue(point: Point) -> Reason {
    match point {
        Point::Request => Reason::TimeoutRequest,
        Point::FirstByte => Reason::TimeoutFirstByte,
        Point::Head => Reason::TimeoutHead,
        Point::Body => Reason::TimeoutBody,
    }
}

/// The answer could not be read to its end.
pub(super) fn of_reading(error: &ReadError, progress: &Progress) -> Reason {
    match error {
        ReadError::Protocol(error) => of_protocol(*error),
        ReadError::Closed => closed(progress),
        ReadError::Io(error) => of_transport(error, progress),
    }
}

/// The connection failed.
pub(super) fn of_transport(error: &io::Error, progress: &Progress) -> Reason {
    if let Some(reason) = tls::reason(error) {
        return reason;
    }
    // A secured connection that ends without TLS having said so ends by FIN all the same.
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return closed(progress);
    }
    match Errno::from_io_error(error) {
        Some(Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH) => Reason::Lost,
        _ => reset(progress),
    }
}

/// The other end closed in good order.
pub(super) fn closed(progress: &Progress) -> Reason {
    match progress.point() {
        Point::Request | Point::FirstByte if progress.fresh => Reason::ClosedUnanswered,
        Point::Request | Point::FirstByte => Reason::ClosedKept,
        Point::Head => Reason::ClosedHead,
        Point::Body => Reason::ClosedBody,
    }
}

/// The other end, or something on the way, reset the connection.
pub(super) fn reset(progress: &Progress) -> Reason {
    match progress.point() {
        Point::Request | Point::FirstByte if progress.fresh => Reason::ResetUnanswered,
        Point::Request | Point::FirstByte => Reason::ResetKept,
        Point::Head => Reason::ResetHead,
        Point::Body => Reason::ResetBody,
    }
}

fn of_protocol(error: ProtocolError) -> Reason {
    match error {
        ProtocolError::ContentLength
        | ProtocolError::TransferEncoding
        | ProtocolError::AmbiguousLength => Reason::BadLength,
        ProtocolError::ChunkSize | ProtocolError::ChunkEnd | ProtocolError::Trailer => {
            Reason::BadChunk
        }
        ProtocolError::HeadTooLarge | ProtocolError::BodyTooLarge => Reason::TooLarge,
        _ => Reason::BadHead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_fails_differently_before_and_within_an_answer() {
        let check = |error: ReadError, fresh, point, expected| {
            let progress = Progress::new(fresh);
            progress.reached(point);
            assert_eq!(of_reading(&error, &progress), expected, "{error}");
        };
        let errno = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        let reset = || errno(Errno::CONNRESET).into();
        check(reset(), true, Point::FirstByte, Reason::ResetUnanswered);
        check(reset(), false, Point::Request, Reason::ResetKept);
        check(reset(), false, Point::Head, Reason::ResetHead);
        check(reset(), false, Point::Body, Reason::ResetBody);
        let closed = || ReadError::Closed;
        check(closed(), true, Point::Request, Reason::ClosedUnanswered);
        check(closed(), false, Point::FirstByte, Reason::ClosedKept);
        check(closed(), true, Point::Head, Reason::ClosedHead);
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        check(cut.into(), true, Point::Body, Reason::ClosedBody);
        let lost = errno(Errno::TIMEDOUT);
        check(lost.into(), false, Point::FirstByte, Reason::Lost);
        let malformed = ProtocolError::ChunkSize;
        check(malformed.into(), true, Point::Body, Reason::BadChunk);
    }
}
