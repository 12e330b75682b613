//! Delays that a request asks for itself: `X-Delay: 10ms`, of `X-Delay-Percent: 5` of the requests.

use plimsoll_base::random::Draw;
use plimsoll_base::units::parse_duration;
use plimsoll_http::Fields;
use plimsoll_wiremock::response::delay::LONGEST;
use std::str;
use std::time::Duration;

/// The delay that the fields ask for; what cannot be read asks for none, as in go-bench-suite.
pub(crate) fn of(fields: &Fields, draw: impl FnOnce() -> Draw) -> Duration {
    let text = |name| {
        fields
            .get(name)
            .and_then(|value| str::from_utf8(value).ok())
    };
    let Some(Ok(delay)) = text("X-Delay").map(parse) else {
        return Duration::ZERO;
    };
    let percent = text("X-Delay-Percent").and_then(|text| text.parse::<i64>().ok());
    let applies = match percent {
        None | Some(100..) => true,
        Some(percent) => u64::try_from(percent).is_ok_and(|percent| draw().below(100) < percent),
    };
    if applies { delay } else { Duration::ZERO }
}

/// A duration as Go writes it; the error is for the client.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    parse_duration(text)
        .map(|delay| delay.min(LONGEST))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;
    use plimsoll_http::Limits;
    use plimsoll_http::decode::RequestDecoder;

    fn delay(fields: &str, index: u64) -> Duration {
        let mut decoder = RequestDecoder::new(Limits::default());
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        decoder.decode(request.as_bytes()).unwrap();
        of(decoder.head().fields(), || {
            Draw::new(3, Stream::Delays, index)
        })
    }

    #[test]
    fn the_fields_say_how_long() {
        let check = |fields: &str, expected: u64| {
            let expected = Duration::from_millis(expected);
            assert_eq!(delay(fields, 0), expected, "{fields}");
        };
        check("", 0);
        check("X-Delay: 10ms\r\n", 10);
        check("X-Delay: ten\r\n", 0);
        check("X-Delay: 10ms\r\nX-Delay-Percent: 100\r\n", 10);
        check("X-Delay: 10ms\r\nX-Delay-Percent: 0\r\n", 0);
        check("X-Delay: 10ms\r\nX-Delay-Percent: -1\r\n", 0);
        check("X-Delay: 10ms\r\nX-Delay-Percent: many\r\n", 10);
        check("X-Delay-Percent: 50\r\n", 0);
    }

    /// Of 10,000 draws at 5 % the count has a standard deviation of 22; five of them is the limit.
    #[test]
    fn the_percentage_is_that_of_the_requests() {
        let fields = "X-Delay: 10ms\r\nX-Delay-Percent: 5\r\n";
        let delayed = (0..10_000).filter(|index| !delay(fields, *index).is_zero());
        let count = i32::try_from(delayed.count()).unwrap();
        assert!((count - 500).abs() < 109, "{count}");
    }
}
