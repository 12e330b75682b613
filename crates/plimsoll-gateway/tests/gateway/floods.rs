//! Frames of HTTP/2 one by one, for what no library would send.

use crate::support::{Gateway, PATIENCE};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A frame: kind, flags, stream, payload.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The preface and empty settings.
pub fn opening() -> Vec<u8> {
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
    ]
    .concat()
}

/// `GET /` on this stream, in HPACK's static names, with the authority `x`.
pub fn get(stream: u32) -> Vec<u8> {
    frame(1, 5, stream, &[0x82, 0x86, 0x84, 0x41, 1, b'x'])
}

/// A frame as it was read.
pub struct Frame {
    pub kind: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// The next frame; none at the end of the connection.
pub fn read(stream: &mut TcpStream) -> Option<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).ok()?;
    Some(Frame {
        kind: head[3],
        stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
        payload,
    })
}

/// Whether the gateway ends a connection that sends all of this, and serves others meanwhile.
pub fn ends_under(gateway: &Gateway, flood: &[u8]) -> bool {
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    // It may be over before all of it is written, and with a reset.
    let _written = stream.write_all(flood);
    let mut answer = Vec::new();
    let ended = match stream.read_to_end(&mut answer) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    };
    ended && gateway.connect().get("/").status() == 200
}
