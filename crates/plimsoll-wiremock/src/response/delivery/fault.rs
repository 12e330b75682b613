//! `"fault": "…"`: the four faults of WireMock, with the bytes that WireMock 3.13.2 sends (observed).

use super::Ending;
use crate::reader::{Node, Problems};

/// Fault of the connection instead of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It closes without a byte.
    EmptyResponse,
    /// A head that promises chunks, then something that is no chunk, and it closes.
    MalformedResponseChunk,
    /// Something that is no response, and it closes.
    RandomDataThenClose,
    /// It is reset.
    ConnectionResetByPeer,
}

const NAMES: &[(&str, Fault)] = &[
    ("CONNECTION_RESET_BY_PEER", Fault::ConnectionResetByPeer),
    ("EMPTY_RESPONSE", Fault::EmptyResponse),
    ("MALFORMED_RESPONSE_CHUNK", Fault::MalformedResponseChunk),
    ("RANDOM_DATA_THEN_CLOSE", Fault::RandomDataThenClose),
];

/// WireMock's "random data", which is always the same.
const GARBAGE: &[u8] = b"lskdu018973t09sylgasjkfg1][]'./.sdlv";

impl Fault {
    /// Its name in WireMock's format.
    pub fn name(self) -> &'static str {
        let own = NAMES.iter().find(|(_, fault)| *fault == self);
        own.map_or("", |(name, _)| name)
    }

    pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let name = node.value.as_str();
        match NAMES.iter().find(|(own, _)| Some(*own) == name) {
            Some((_, fault)) => Some(*fault),
            None => {
                let names: Vec<&str> = NAMES.iter().map(|(own, _)| *own).collect();
                node.wrong(&format!("one of {}", names.join(", ")), problems)
            }
        }
    }

    /// How the connection ends.
    pub fn ending(self) -> Ending {
        match self {
            Self::ConnectionResetByPeer => Ending::Reset,
            _ => Ending::Close,
        }
    }

    /// Bytes sent where no head can be sent by itself, as on a connection of HTTP/2.
    pub fn garbage(self) -> &'static [u8] {
        match self {
            Self::EmptyResponse | Self::ConnectionResetByPeer => b"",
            Self::MalformedResponseChunk | Self::RandomDataThenClose => GARBAGE,
        }
    }

    /// Bytes sent before the connection ends. A client that wanted it closed is promised no chunks.
    pub fn bytes(self, closes: Closes) -> Vec<u8> {
        let head: &[u8] = match (self, closes) {
            (Self::EmptyResponse | Self::ConnectionResetByPeer, _) => return Vec::new(),
            (Self::RandomDataThenClose, _) => b"",
            (Self::MalformedResponseChunk, Closes::No) => {
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            }
            (Self::MalformedResponseChunk, Closes::Yes) => {
                b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
            }
        };
        [head, GARBAGE].concat()
    }
}

/// Whether the client wanted the connection closed after its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closes {
    /// It did.
    Yes,
    /// It did not.
    No,
}
