//! Reasons behind failures of TLS: which of the two ends objected, and to what.

use super::{HandshakeError, TlsStream};
use plimsoll_base::reason::Reason;
use rustls::{AlertDescription, CertificateError, Error};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

impl HandshakeError {
    /// Why an exchange that needed this handshake was not answered.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Certificate(error) | Self::Protocol(error) => of(error),
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Reason::ClosedInHandshake
            }
            Self::Io(_) => Reason::ResetInHandshake,
        }
    }
}

/// The reason of TLS behind a read or write that failed; `None` if TLS has nothing to do with it. In TLS 1.3 a server looks at the client's
/// certificate when the client takes the handshake for done, so what it objects to comes with the first read.
#[must_use]
pub fn reason(error: &io::Error) -> Option<Reason> {
    error.get_ref()?.downcast_ref::<Error>().map(of)
}

/// Why TLS failed, if the other end has said so and nobody has read it yet: for a connection that could not be written to. It asks the
/// socket itself, whatever the runtime knows of it by now; what it reads is lost to others.
#[must_use]
pub fn objection(stream: &mut TlsStream) -> Option<Reason> {
    let tokio_rustls::TlsStream::Client(client) = stream else {
        return None;
    };
    let (tcp, session) = client.get_mut();
    let mut received = Received(tcp.as_fd());
    // It ends with what has arrived, or with what the session holds at most.
    while matches!(session.read_tls(&mut received), Ok(count) if count > 0) {
        if let Err(error) = session.process_new_packets() {
            return Some(of(&error));
        }
    }
    None
}

/// Bytes that a socket has received.
struct Received<'a>(BorrowedFd<'a>);

impl io::Read for Received<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, buffer)?)
    }
}

fn of(error: &Error) -> Reason {
    match error {
        Error::InvalidCertificate(error) => of_certificate(error),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::PeerIncompatible(_) => Reason::Incompatible,
        Error::NoApplicationProtocol => Reason::NoProtocol,
        Error::InvalidMessage(_) => Reason::NotTls,
        Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. }
        | Error::PeerMisbehaved(_)
        | Error::DecryptError
        | Error::PeerSentOversizedRecord => Reason::TlsProtocol,
        _ => Reason::TlsOther,
    }
}

fn of_certificate(error: &CertificateError) -> Reason {
    match error {
        CertificateError::UnknownIssuer => Reason::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Reason::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Reason::NotYetValid
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Reason::NameMismatch
        }
        CertificateError::Revoked => Reason::Revoked,
        _ => Reason::BadCertificate,
    }
}

/// Alerts by RFC 8446, section 6.
fn of_alert(alert: AlertDescription) -> Reason {
    match alert {
        AlertDescription::CertificateRequired => Reason::AlertCertificateRequired,
        AlertDescription::UnknownCA => Reason::AlertUnknownCa,
        AlertDescription::CertificateExpired => Reason::AlertCertificateExpired,
        AlertDescription::CertificateRevoked => Reason::AlertCertificateRevoked,
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown => Reason::AlertBadCertificate,
        AlertDescription::AccessDenied => Reason::AlertAccessDenied,
        AlertDescription::HandshakeFailure => Reason::AlertHandshakeFailure,
        AlertDescription::ProtocolVersion => Reason::AlertProtocolVersion,
        AlertDescription::UnrecognisedName => Reason::AlertUnrecognisedName,
        AlertDescription::NoApplicationProtocol => Reason::NoProtocol,
        _ => Reason::AlertOther,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{InvalidMessage, OtherError, PeerIncompatible};
    use std::sync::Arc;

    #[test]
    fn which_end_objects_to_what() {
        let check = |error: Error, expected| {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            assert_eq!(reason(&error), Some(expected));
        };
        let certificate = Error::InvalidCertificate;
        check(
            certificate(CertificateError::NotValidYet),
            Reason::NotYetValid,
        );
        check(certificate(CertificateError::Revoked), Reason::Revoked);
        check(
            certificate(CertificateError::BadSignature),
            Reason::BadCertificate,
        );
        let alert = Error::AlertReceived;
        check(
            alert(AlertDescription::CertificateUnknown),
            Reason::AlertBadCertificate,
        );
        check(
            alert(AlertDescription::UnrecognisedName),
            Reason::AlertUnrecognisedName,
        );
        check(alert(AlertDescription::InternalError), Reason::AlertOther);
        check(
            alert(AlertDescription::NoApplicationProtocol),
            Reason::NoProtocol,
        );
        check(
            PeerIncompatible::NoCipherSuitesInCommon.into(),
            Reason::Incompatible,
        );
        check(
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            Reason::NotTls,
        );
        check(Error::DecryptError, Reason::TlsProtocol);
        let other = OtherError(Arc::new(io::Error::other("something else")));
        check(Error::Other(other), Reason::TlsOther);
        assert_eq!(reason(&io::ErrorKind::ConnectionReset.into()), None);
    }
}
