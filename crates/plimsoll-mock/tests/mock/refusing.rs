//! A refused request's answer arrives, whatever else the peer has sent by then.

use crate::world::{Mock, config};

#[test]
fn a_refusal_is_not_taken_along_by_a_reset() {
    let mock = Mock::start(config());
    let mut client = mock.client();
    client.write("GET / HTTP/1.1\r\nHost : a\r\n\r\n");
    // Far more than is read at once: closing now would reset.
    client.write(&"x".repeat(100_000));
    assert_eq!(client.read("GET").status, 400);
    client.expect_end();
}
