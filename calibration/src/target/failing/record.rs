//! Failures of a target on one clock. Pure: time comes in as an argument.

use std::time::{Duration, Instant};

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Requests are answered with 503.
    Unavailable,
    /// Connections are refused, and those that there are end with their next request.
    Refuses,
    /// Requests are never answered.
    Silent,
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its way.
    pub how: How,
    /// Of the accounts each so many-th is hit.
    pub each: u32,
    /// When it began.
    pub began: Instant,
    /// Known when it begins, but for refusals.
    pub ended: Option<Instant>,
    /// Its end may have been so much earlier: the clock was read before and after.
    pub unsure: Duration,
    /// Requests that it hit; those of connections that were refused never came.
    pub requests: u64,
}

/// Something that is done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    Answered,
    Unavailable,
    Unanswered,
    /// Its connection ends.
    CutOff,
}

/// Failures so far.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// In their order; the last may go on.
    pub(super) failures: Vec<Failure>,
    /// Requests that were read, whatever was done with them.
    pub(super) requests: u64,
    /// The number of failures there will be once the one that was injected has begun; `None`: it is healed.
    injected: Option<usize>,
}

impl How {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Refuses => "refuse",
            Self::Silent => "silent",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        let all = [Self::Unavailable, Self::Refuses, Self::Silent];
        all.into_iter().find(|how| how.word() == word)
    }
}

impl Failure {
    /// How long it lasted; `None` while it does.
    pub fn length(&self) -> Option<Duration> {
        Some(self.ended?.saturating_duration_since(self.began))
    }
}

impl Record {
    pub(super) fn inject(&mut self) {
        self.injected = Some(self.failures.len() + 1);
    }

    pub(super) fn heal(&mut self) {
        self.injected = None;
    }

    /// A failure begins; without a length it ends when that is told.
    pub(super) fn begin(&mut self, how: How, each: u32, now: Instant, length: Option<Duration>) {
        self.failures.push(Failure {
            how,
            each: each.max(1),
            began: now,
            ended: length.map(|length| now + length),
            unsure: Duration::ZERO,
            requests: 0,
        });
    }

    /// A refusal ended between these two moments.
    pub(super) fn end_refusal(&mut self, from: Instant, to: Instant) {
        if let Some(last) = self.failures.last_mut()
            && last.ended.is_none()
        {
            last.ended = Some(to);
            last.unsure = to.saturating_duration_since(from);
        }
    }

    /// Whether the one that was injected has begun; it may be over.
    pub(super) fn has_begun(&self) -> bool {
        self.injected
            .is_some_and(|number| self.failures.len() >= number)
    }

    pub(super) fn is_healed(&self, now: Instant) -> bool {
        let is_over = |last: &Failure| last.ended.is_some_and(|ended| ended <= now);
        self.injected.is_none() && self.failures.last().is_none_or(is_over)
    }

    pub(super) fn treat(&mut self, account: u32, now: Instant) -> Treatment {
        self.requests += 1;
        let Some(last) = self.failures.last_mut() else {
            return Treatment::Answered;
        };
        let is_over = last.ended.is_some_and(|ended| ended <= now);
        if is_over || now < last.began || !account.is_multiple_of(last.each) {
            return Treatment::Answered;
        }
        last.requests += 1;
        match last.how {
            How::Unavailable => Treatment::Unavailable,
            How::Silent => Treatment::Unanswered,
            How::Refuses => Treatment::CutOff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn a_failure_hits_its_accounts_from_its_beginning_to_its_end() {
        let start = clock::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut record = Record::default();
        record.inject();
        assert!(!record.has_begun());
        record.begin(How::Silent, 3, at(100), Some(Duration::from_millis(50)));
        assert!(record.has_begun());
        let mut check = |account, ms, expected| assert_eq!(record.treat(account, at(ms)), expected);
        check(3, 99, Treatment::Answered);
        check(3, 100, Treatment::Unanswered);
        check(4, 120, Treatment::Answered);
        check(0, 149, Treatment::Unanswered);
        check(0, 150, Treatment::Answered);
        assert_eq!(record.failures[0].requests, 2);
        // It is not healed until it is told so.
        assert!(record.has_begun() && !record.is_healed(at(200)));
        record.heal();
        assert!(!record.has_begun() && record.is_healed(at(200)));
        assert!(!record.is_healed(at(120)));
    }

    #[test]
    fn a_refusal_ends_when_it_does() {
        let start = clock::now();
        let mut record = Record::default();
        record.begin(How::Refuses, 1, start, None);
        assert_eq!(record.treat(0, start), Treatment::CutOff);
        assert_eq!(record.failures[0].length(), None);
        assert!(!record.is_healed(start + Duration::from_secs(9)));
        let end = start + Duration::from_millis(12);
        record.end_refusal(end - Duration::from_millis(2), end);
        let later = end + Duration::from_secs(1);
        record.end_refusal(later, later);
        assert_eq!(record.failures[0].unsure, Duration::from_millis(2));
        assert_eq!(record.failures[0].length(), Some(Duration::from_millis(12)));
        assert_eq!(record.treat(0, end), Treatment::Answered);
    }
}
