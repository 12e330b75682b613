//! Call structures, and what each makes of a delay of its link.
//!
//! The proxy holds back each piece that the dependency sends by the delay d, so that every turn that a request waits for lasts d longer. A
//! request's own time T and its time T(d) under the delay differ by what stands at each structure. The slope is that of the least squares
//! line through T at [`DELAYS_MS`], which for T(d) = T + k·d is k.

/// Delays of the link: those of the documentation's example.
pub const DELAYS_MS: [f64; 5] = [0.0, 4.0, 8.0, 14.0, 20.0];

/// The dependency: it answers after 2 ms.
const CALL: &str = "${dep.host}:${dep.port}/delay/2ms";

/// The word in whose place the file of the dependency's authority stands.
pub const AUTHORITY: &str = "AUTHORITY";

/// A call structure, as arguments of a caller (`target/caller.rs`).
pub struct Structure {
    /// Its name, which component and arm bear.
    pub name: &'static str,
    /// Whom its link leads to.
    pub link: &'static str,
    /// Its calls and what else is said of them.
    pub arguments: &'static [&'static str],
    /// Requests a second.
    pub rate: u32,
    /// Mean and deviation of its own work, in milliseconds.
    pub work_ms: f64,
    pub truth: Truth,
}

/// The finding that is right.
#[derive(Debug, Clone, Copy)]
pub enum Truth {
    /// A straight line with this slope.
    Straight(f64),
    /// Nothing up to a delay of so many milliseconds, and a slope of 1 from there on.
    Slack(f64),
    /// A slope with queueing.
    Saturated,
}

pub const STRUCTURES: [Structure; 10] = [
    // T + d.
    Structure {
        name: "one",
        arguments: &["--call", CALL],
        ..PLAIN
    },
    // The second begins when the first is answered: T + 2d.
    Structure {
        name: "two",
        arguments: &["--call", CALL, "--call", CALL],
        truth: Truth::Straight(2.0),
        ..PLAIN
    },
    // T + 3d.
    Structure {
        name: "three",
        arguments: &["--call", CALL, "--call", CALL, "--call", CALL],
        truth: Truth::Straight(3.0),
        ..PLAIN
    },
    // Beside it a call of another dependency, without a proxy, that takes 10 ms: max(2 ms + d, 10 ms), which is flat up to 8 ms.
    Structure {
        name: "parallel",
        arguments: &[
            "--call",
            "${dep.host}:${dep.port}/delay/2ms,${other.host}:${other.port}/delay/10ms",
        ],
        truth: Truth::Slack(8.0),
        ..PLAIN
    },
    // The request has its answer before it begins: T.
    Structure {
        name: "after",
        arguments: &["--call", CALL, "--after"],
        truth: Truth::Straight(0.0),
        ..PLAIN
    },
    // Two calls of each request but those, 5 % drawn at random, that find the answers in a cache: in the mean T + 0.95 · 2d.
    // Which requests do so is chance, and adds to the spread: half as many requests more than of the others.
    Structure {
        name: "cached",
        arguments: &["--call", CALL, "--call", CALL, "--share", "0.95"],
        rate: 180,
        truth: Truth::Straight(1.9),
        ..PLAIN
    },
    // Of ten requests in order of arrival one calls: in the mean T + d/10. Loads have a multiple of ten requests.
    Structure {
        name: "tenth",
        arguments: &["--call", CALL, "--each", "10"],
        truth: Truth::Straight(0.1),
        ..PLAIN
    },
    // A new TLS 1.3 connection for each call, without resumption. TCP's handshake ends at the proxy, which does not delay it. The client's
    // hello and the server's flight are one turn; the client's end of the handshake and its request go out together, and the answer is
    // the end of the second (RFC 8446, §2): T + 2d. Tickets come ahead of the answer or with it, and nobody waits for them. Handshakes cost
    // processor time, so there are half as many requests, of less spread.
    Structure {
        name: "tls",
        link: "dep/https",
        arguments: &[
            "--call",
            "${dep/https.host}:${dep/https.port}/delay/2ms",
            "--ca",
            AUTHORITY,
        ],
        rate: 60,
        work_ms: 5.0,
        truth: Truth::Straight(2.0),
    },
    // The first attempt is answered 503, the second, which begins when that is read, 200: T + 2d.
    Structure {
        name: "retry",
        arguments: &["--call", "${dep.host}:${dep.port}/flaky"],
        truth: Truth::Straight(2.0),
        ..PLAIN
    },
    // Four requests call at once, for 22 ms + d: the pool carries 4 / (22 ms + d) requests a second. At 130 a second that is a use of 72 %
    // without delay, 98 % at 8 ms and 137 % at 20 ms, where a queue grows as long as the load lasts; at half the rate it is 68 % there, and
    // arrivals at even distances hardly wait.
    Structure {
        name: "pool",
        arguments: &[
            "--call",
            "${dep.host}:${dep.port}/delay/22ms",
            "--pool",
            "4",
        ],
        rate: 130,
        truth: Truth::Saturated,
        ..PLAIN
    },
];

/// A call in sequence. The mean of the 60 requests of a load has a deviation of 0.9 ms, so that the interval of the slope reaches some 0.06
/// to either side; without any spread it would be narrower than the tenth of a millisecond by which a timer is late.
const PLAIN: Structure = Structure {
    name: "",
    link: "dep",
    arguments: &[],
    rate: 120,
    work_ms: 7.0,
    truth: Truth::Straight(1.0),
};

/// The slope of a link that callers notice from a delay of so many milliseconds on.
pub fn slope_beyond(slack_ms: f64) -> f64 {
    least_squares(DELAYS_MS.map(|delay| (delay - slack_ms).max(0.0)))
}

/// The slope of the least squares line through these values at [`DELAYS_MS`].
#[expect(clippy::cast_precision_loss, reason = "a number of delays")]
fn least_squares(values: [f64; DELAYS_MS.len()]) -> f64 {
    let middle = DELAYS_MS.iter().sum::<f64>() / DELAYS_MS.len() as f64;
    let off = DELAYS_MS.map(|delay| delay - middle);
    let products: f64 = off.iter().zip(values).map(|(off, value)| off * value).sum();
    products / off.iter().map(|off| off * off).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations −9.2, −5.2, −1.2, 4.8 and 10.8 with squares 252.8 in all; beyond a slack of 8 ms lie 6 and 12 ms.
    #[test]
    fn slopes_by_hand() {
        let check = |slack_ms: f64, expected: f64| {
            let slope = slope_beyond(slack_ms);
            assert!((slope - expected).abs() < 1e-12, "{slack_ms}: {slope}");
        };
        check(0.0, 1.0);
        check(8.0, (4.8 * 6.0 + 10.8 * 12.0) / 252.8);
    }
}
