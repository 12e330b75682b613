//! `/delay/{d}`: an empty answer after a duration such as `10ms`. Unlike go-bench-suite, a malformed one is answered with 400.

use super::requested_delay::parse;
use super::{Call, Reply};
use plimsoll_wiremock::response::answer::Answer;

pub(super) fn reply(call: &Call<'_, '_>) -> Reply {
    match parse(call.rest) {
        Ok(delay) => Reply {
            answer: Answer::text(200, ""),
            delay,
        },
        Err(message) => Answer::text(400, &message).into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::builtins::tests::get;
    use std::time::Duration;

    #[test]
    fn the_path_says_how_long() {
        let check = |path: &str, status: &str, delay: Duration| {
            let (answer, actual) = get(path);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{answer}"
            );
            assert_eq!(actual, delay);
        };
        check("/delay/10ms", "200", Duration::from_millis(10));
        check("/delay/1m1.5s", "200", Duration::from_millis(61_500));
        check("/delay/ten", "400", Duration::ZERO);
        check("/delay/-1s", "400", Duration::ZERO);
    }
}
