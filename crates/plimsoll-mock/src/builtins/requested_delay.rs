//! Delays that a request asks for itself: `X-Delay: 10ms`, of `X-Delay-Percent: 5` of the requests.

use crate::delay::LONGEST;
use plimsoll_base::random::Draw;
use plimsoll_base::units::parse_duration;
use plimsoll_http::Fields;
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
