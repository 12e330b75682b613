//! The end of a mock: requests under way are answered, idle connections close.

use crate::world::{Mock, config};
use plimsoll_mock::{MockConfig, Timeouts};
use std::time::Duration;

#[test]
fn requests_under_way_are_answered_and_idle_connections_closed() {
    let mock = Mock::start(config());
    let (mut idle, mut busy) = (mock.client(), mock.client());
    assert_eq!(idle.get("/xml").status, 200);
    // The answer to the first of the two requests shows that the second has been read with it.
    let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    busy.write(&(request("/xml") + &request("/delay/200ms")));
    assert_eq!(busy.read("GET").status, 200);
    mock.say_stop();
    assert_eq!(busy.read("GET").status, 200);
    busy.expect_end();
    idle.expect_end();
    let summary = mock.stop();
    assert_eq!((summary.received, summary.served), (3, 3));
}

#[test]
fn after_the_grace_period_the_rest_is_dropped() {
    let mock = Mock::start(MockConfig {
        grace: Duration::from_millis(10),
        ..config()
    });
    let mut client = mock.client();
    client.write("GET /xml HTTP/1.1\r\nHost: x\r\n\r\nGET /delay/1h HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.read("GET").status, 200);
    let summary = mock.stop();
    assert_eq!((summary.received, summary.served), (2, 1));
    client.expect_end();
}

/// With patience of hours this would not come back if the mock waited for its clients.
#[test]
fn a_client_that_has_sent_half_a_head_is_not_waited_for() {
    let hour = Duration::from_secs(3600);
    let mock = Mock::start(MockConfig {
        grace: hour,
        timeouts: Timeouts {
            head: hour,
            ..Timeouts::default()
        },
        ..config()
    });
    let mut half = mock.client();
    half.write("GET /xml HTTP/1.1\r\nHost: x\r\n\r\nGET /x");
    assert_eq!(half.read("GET").status, 200);
    let summary = mock.stop();
    half.expect_end();
    assert_eq!((summary.received, summary.timed_out), (1, 0));
}
