//! How an answer goes out: as a whole, at a pace, in part, or not as it should (a fault).
//!
//! The answer and its delay are decided elsewhere; sending is left to `connection`.

mod fault;
mod pacing;

use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
pub use fault::{Closes, Fault};
pub use pacing::Pacing;
use plimsoll_base::units;
use serde_json::Value;
use std::time::Duration;

/// How long a request is left without an answer at most.
const LONGEST_HANG: Duration = Duration::from_secs(24 * 3600);

/// How a stub's answer goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// As a whole, at once.
    #[default]
    Plain,
    /// Piece by piece.
    Paced(Pacing),
    /// So many bytes of the body, and the connection ends.
    Cut(usize, Ending),
    /// Nothing for so long, and the connection closes.
    Hang(Duration),
    /// Something else in its place.
    Fault(Fault),
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In good order.
    Close,
    /// By a reset.
    Reset,
}

impl Delivery {
    /// How long another server's answer without a body takes: as in WireMock, a dribble's whole time.
    pub fn time_of_an_empty_proxied_body(self) -> Duration {
        match self {
            Self::Paced(Pacing::Chunks { total, .. }) => total,
            _ => Duration::ZERO,
        }
    }

    /// Reads `fault` and `chunkedDribbleDelay` of a response; a fault wins, as in WireMock.
    pub fn read(object: &mut Object<'_>, problems: &mut Problems) -> Self {
        let fault = object.get("fault");
        let fault = fault.and_then(|node| Fault::read(&node, problems));
        let pacing = object.get("chunkedDribbleDelay");
        let pacing = pacing.and_then(|node| Pacing::read_dribble(&node, problems));
        match (fault, pacing) {
            (Some(fault), _) => Self::Fault(fault),
            (None, Some(pacing)) => Self::Paced(pacing),
            (None, None) => Self::Plain,
        }
    }

    /// Reads what `metadata.plimsoll` has of deliveries: at most one of `bytesPerSecond`, `hang`, `resetAfterBytes` and `truncateAfterBytes`.
    pub fn read_extension(object: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let bandwidth = object.get("bytesPerSecond");
        let bandwidth = bandwidth.and_then(|node| match node.integer(problems)? {
            rate @ 1.. => Some(Self::Paced(Pacing::Bandwidth(rate.unsigned_abs()))),
            _ => node.wrong("1 or more", problems),
        });
        let hang = object.get("hang");
        let hang = hang.and_then(|node| read_hang(&node, problems));
        let mut cut = |name, ending| {
            let node = object.get(name)?;
            let bytes = usize::try_from(node.integer(problems)?).ok();
            let bytes = bytes.or_else(|| node.wrong("0 or more", problems));
            Some(Self::Cut(bytes?, ending))
        };
        let reset = cut("resetAfterBytes", Ending::Reset);
        let truncated = cut("truncateAfterBytes", Ending::Close);
        let all = [bandwidth, hang, reset, truncated];
        let mut all = all.into_iter().flatten();
        let first = all.next();
        if all.next().is_some() {
            let message = "an answer goes out in one way: write one of \"bytesPerSecond\", \"hang\", \"resetAfterBytes\" and \"truncateAfterBytes\"";
            problems.push(StubProblem::invalid(&object.pointer, message));
        }
        first
    }
}

/// `true` or a time.
fn read_hang(node: &Node<'_>, problems: &mut Problems) -> Option<Delivery> {
    let limit = match node.value {
        Value::Bool(true) => Some(LONGEST_HANG),
        Value::String(text) => units::parse_duration(text).ok(),
        _ => None,
    };
    match limit {
        Some(limit) => Some(Delivery::Hang(limit.min(LONGEST_HANG))),
        None => node.wrong("true or a time like \"30s\"", problems),
    }
}
