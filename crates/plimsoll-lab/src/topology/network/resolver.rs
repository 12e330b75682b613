//! The name server of a host: it knows the names of its network, and can be told to lie (RFC 1035).
//!
//! It answers for addresses of IPv4 and, so that a lie and its end take effect at once, for no time to live. Names that it does not know do
//! not exist.

use plimsoll_base::ignored::Ignored as _;
use serde::{Deserialize, Serialize};
use simple_dns::rdata::{A, RData};
use simple_dns::{CLASS, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// The address of a host's name server, in its own namespace alone.
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);
/// The port of name servers.
pub(super) const PORT: u16 = 53;
/// The longest message over UDP without extensions; no question of a resolver is longer.
pub(super) const MESSAGE_BYTES: usize = 512;

/// A wrong answer to every question for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lie {
    /// The name does not exist.
    Nxdomain,
    /// The server failed.
    Servfail,
    /// There is no answer at all.
    Nothing,
    /// It is another host's.
    Address(Ipv4Addr),
}

impl fmt::Display for Lie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nxdomain => write!(f, "NXDOMAIN"),
            Self::Servfail => write!(f, "SERVFAIL"),
            Self::Nothing => write!(f, "no answer"),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// Names with their addresses, and those about which is lied.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<String, Ipv4Addr>,
    lies: BTreeMap<String, Lie>,
}

impl Names {
    /// Names with their addresses.
    pub(super) fn new(known: BTreeMap<String, Ipv4Addr>) -> Self {
        let lies = BTreeMap::new();
        Self { known, lies }
    }

    /// Lies about a name; with no lie, tells the truth again.
    pub(super) fn lie(&mut self, name: String, lie: Option<Lie>) {
        match lie {
            Some(lie) => self.lies.insert(name, lie),
            None => self.lies.remove(&name),
        };
    }

    fn look_up(&self, name: &str) -> Lie {
        let name = name.to_ascii_lowercase();
        let told = self.lies.get(&name).copied();
        let true_address = || self.known.get(&name).copied().map(Lie::Address);
        told.or_else(true_address).unwrap_or(Lie::Nxdomain)
    }

    /// The answer to a question; `None` when there is none.
    fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        let query = Packet::parse(message).ok()?;
        let question = query.questions.first()?.clone();
        let recursion = query.has_flags(PacketFlag::RECURSION_DESIRED);
        let mut reply = Packet::new_reply(query.id());
        reply.set_flags(PacketFlag::RECURSION_AVAILABLE);
        if recursion {
            reply.set_flags(PacketFlag::RECURSION_DESIRED);
        }
        let name = question.qname.clone();
        let wants_ipv4 = matches!(question.qtype, QTYPE::ANY | QTYPE::TYPE(TYPE::A));
        match self.look_up(&name.to_string()) {
            Lie::Nothing => return None,
            Lie::Nxdomain => *reply.rcode_mut() = RCODE::NameError,
            Lie::Servfail => *reply.rcode_mut() = RCODE::ServerFailure,
            Lie::Address(address) if wants_ipv4 => {
                let data = RData::A(A::from(address));
                let record = ResourceRecord::new(name, CLASS::IN, 0, data);
                reply.answers.push(record);
            }
            // The name exists, and has no address of that kind.
            Lie::Address(_) => {}
        }
        reply.questions.push(question);
        reply.build_bytes_vec_compressed().ok()
    }
}

/// Answers questions for as long as the process lives.
pub(super) fn serve(socket: &UdpSocket, names: &Mutex<Names>) {
    let mut message = [0; MESSAGE_BYTES];
    loop {
        // What cannot be received or sent is lost, as datagrams are.
        let Ok((length, asker)) = socket.recv_from(&mut message) else {
            continue;
        };
        let names = names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = names.answer(&message[..length]) {
            socket
                .send_to(&answer, asker)
                .ignored("whoever asked asks again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simple_dns::{Name, QCLASS, Question};

    fn ask(names: &Names, name: &str, kind: TYPE) -> Option<(RCODE, Vec<Ipv4Addr>)> {
        let mut query = Packet::new_query(7);
        let (kind, class) = (QTYPE::TYPE(kind), QCLASS::CLASS(CLASS::IN));
        let question = Question::new(Name::new(name).unwrap(), kind, class, false);
        query.questions.push(question);
        let answer = names.answer(&query.build_bytes_vec().unwrap())?;
        let reply = Packet::parse(&answer).unwrap();
        assert_eq!(reply.id(), 7);
        let addresses = reply.answers.iter().map(|record| match &record.rdata {
            RData::A(a) => Ipv4Addr::from(a.address),
            other => panic!("{other:?}"),
        });
        Some((reply.rcode(), addresses.collect()))
    }

    #[test]
    fn names_of_the_network_and_lies_about_them() {
        let own = Ipv4Addr::new(10, 77, 1, 1);
        let other = Ipv4Addr::new(10, 77, 1, 2);
        let mut names = Names::new([("db-a".to_owned(), own)].into());
        let found = |address| Some((RCODE::NoError, vec![address]));
        assert_eq!(ask(&names, "db-a", TYPE::A), found(own));
        assert_eq!(ask(&names, "DB-A", TYPE::A), found(own));
        let empty = Some((RCODE::NoError, Vec::new()));
        assert_eq!(ask(&names, "db-a", TYPE::AAAA), empty);
        let unknown = Some((RCODE::NameError, Vec::new()));
        assert_eq!(ask(&names, "example.org", TYPE::A), unknown);
        let mut check = |lie, expected| {
            names.lie("db-a".to_owned(), lie);
            assert_eq!(ask(&names, "db-a", TYPE::A), expected);
        };
        check(Some(Lie::Nxdomain), unknown);
        check(
            Some(Lie::Servfail),
            Some((RCODE::ServerFailure, Vec::new())),
        );
        check(Some(Lie::Nothing), None);
        check(Some(Lie::Address(other)), found(other));
        check(None, found(own));
    }

    #[test]
    fn noise_is_not_answered() {
        let names = Names::default();
        assert_eq!(names.answer(b""), None);
        assert_eq!(names.answer(&[0; 12]), None);
        assert_eq!(names.answer(&[0xff; 40]), None);
    }
}
