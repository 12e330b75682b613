//! Arms that are alike, compared forty times: from exchanges to the verdict, by the function that judges real runs.
//!
//! The data are as unkind as real ones: response times are log-normal, every block has its own luck, which both arms share, each arm
//! departs from it by a skewed factor of its own, so that nothing cancels, and now and then a block of one arm is an outlier. What must
//! be found is asked in the same words, so that the test can fail.

use crate::fixture::facts;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_report::record::*;
use plimsoll_report::summarise::{Method, summarise};

const COMPARISONS: u64 = 40;
const BLOCKS: u64 = 6;
/// Exchanges of an arm in a block.
const EXCHANGES: u32 = 1_000;
const SECONDS: f64 = 1.0;
/// Median and spread of a response time.
const MEDIAN_NS: f64 = 500e3;
const SIGMA: f64 = 0.4;
/// How far, on average, an arm's block departs from the luck that both share.
const OWN_LUCK: f64 = 0.03;
/// The share of a block's exchanges that take so many times as long, on average: the p99 has noise that the median has not.
const SLOW: f64 = 0.002;
const SLOW_TIMES: f64 = 3.0;
/// One block of an arm in so many is an outlier.
const OUTLIER_IN: u64 = 50;

/// How many comparisons called the second arm different.
#[derive(Debug, PartialEq)]
struct Called {
    p50: usize,
    p99: usize,
}

/// Five of forty or fewer have a probability of 98.6 % at the nominal 5 %.
#[test]
fn arms_that_are_alike_are_called_different_at_most_five_times() {
    let called = called_different(1.0);
    assert!(called.p50 <= 5 && called.p99 <= 5, "{called:?}");
}

/// A third more time is found in nearly every comparison without an outlier: in so many blocks, four of five.
#[test]
fn an_arm_that_takes_longer_is_found() {
    let called = called_different(1.33);
    assert!(called.p50 >= 30 && called.p99 >= 30, "{called:?}");
}

/// Compares an arm with one whose times are so many times as long.
fn called_different(times: f64) -> Called {
    let mut called = Called { p50: 0, p99: 0 };
    for comparison in 0..COMPARISONS {
        let arms = [("one", 1.0), ("two", times)];
        let arms = arms.map(|(name, factor)| arm(name, comparison, factor));
        let method = Method::Compare {
            baseline: "one".to_owned(),
        };
        let summary = summarise(&facts("same"), &method, &arms, &[]);
        let added = summary.arms["two"].added.as_ref().unwrap();
        called.p50 += usize::from(is_different(added.p50));
        called.p99 += usize::from(is_different(added.p99));
    }
    called
}

/// Whether a difference was judged, over all blocks, and called one.
fn is_different(difference: Option<Difference>) -> bool {
    let difference = difference.unwrap();
    assert_eq!(u64::from(difference.blocks), BLOCKS, "{difference:?}");
    matches!(
        difference.verdict,
        DifferenceVerdict::Worse | DifferenceVerdict::Improved
    )
}

fn arm(name: &str, comparison: u64, factor: f64) -> ArmBlocks {
    let blocks = (1..=BLOCKS).map(|block| comparison * 100 + block);
    ArmBlocks {
        name: name.to_owned(),
        blocks: (1..)
            .zip(blocks.map(|key| block(name, key, factor)))
            .collect(),
        notes: Vec::new(),
    }
}

/// A block of an arm. `key`: what both arms of a block share.
fn block(name: &str, key: u64, factor: f64) -> ArmData {
    let shared = 1.0 + 0.3 * Draw::new(2026, Stream::Order, key).exponential();
    let arm = u64::from(name == "two");
    let mut draw = Draw::new(2026, Stream::Data, 2 * key + arm);
    let own = 1.0 + OWN_LUCK * draw.exponential();
    let outlier = if draw.below(OUTLIER_IN) == 0 {
        1.5 + draw.exponential()
    } else {
        1.0
    };
    let slow = SLOW * draw.exponential();
    let scale = MEDIAN_NS * shared * own * outlier * factor;
    let mut data = ArmData::new(name, "t", LoadModel::Open, Some(f64::from(EXCHANGES)));
    let count = u64::from(EXCHANGES);
    data.seconds = SECONDS;
    (data.intended, data.sent) = (count, count);
    let step = data.steps.entry("s".to_owned()).or_default();
    step.sent = count;
    step.statuses.insert(200, count);
    let class = step.classes.entry(OutcomeClass::Passed).or_default();
    class.count = count;
    let times = class.times.entry(TimeKind::ResponseTime).or_default();
    for _ in 0..EXCHANGES {
        let tail = if draw.unit() < slow { SLOW_TIMES } else { 1.0 };
        times.record_nanos(nanos(scale * tail * (SIGMA * draw.normal()).exp()));
    }
    data
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time of milliseconds"
)]
fn nanos(time: f64) -> u64 {
    time as u64
}
