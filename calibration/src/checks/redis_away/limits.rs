//! The limits of a key while Redis is away: its rate and its quota hold, and one that is withdrawn opens nothing any more.

use super::setting::{Said, Setting};
use crate::Wait;
use crate::bar::{Bar, Verdict};
use crate::bench::Error;
use crate::{clock, interrupt};
use serde_json::json;
use std::time::Duration;

/// Requests per second that the key with a rate has.
const RATE: f64 = 50.0;
/// How long it asks for more.
const SPAN: Duration = Duration::from_secs(3);
/// Between two of its requests, and so far less than its rate allows.
const BETWEEN: Duration = Duration::from_millis(1);
/// Requests that the other key has in all.
const QUOTA: usize = 100;
/// How many of them it uses before Redis leaves, and how often it asks from then on.
const USED: usize = 20;
const ASKED: usize = 2 * QUOTA;
/// How long a withdrawn key is tried when Redis is back: several turns, in which the gateway hears what others say of keys.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// How long Redis may take to hear of a key: a turn, many times over.
const HEARING: Wait = Wait::up_to(Duration::from_secs(5));

/// A key, and the status of its requests that are refused.
#[derive(Debug, Clone, Copy)]
struct Key {
    name: &'static str,
    refusal: u16,
}

const LIMITED: Key = Key {
    name: "key-with-a-rate",
    refusal: 429,
};
const COUNTED: Key = Key {
    name: "key-with-a-quota",
    refusal: 403,
};
const WITHDRAWN: Key = Key {
    name: "key-to-be-withdrawn",
    refusal: 403,
};

/// How a key's requests were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Answers {
    /// With 200.
    admitted: usize,
    /// With the key's refusal.
    refused: usize,
    other: usize,
}

/// Takes Redis away once more, and asks with keys of whom each has a limit.
pub(super) fn bars(setting: &mut Setting) -> Result<Vec<Bar>, Error> {
    let quota = json!({ "quota_max": QUOTA, "quota_renewal_rate": 86_400 });
    setting.make(COUNTED.name, &quota)?;
    setting.make(LIMITED.name, &json!({ "rate": RATE, "per": 1 }))?;
    let name = setting.make(WITHDRAWN.name, &json!({}))?;
    let mut counted = ask(setting, COUNTED, USED)?;
    let mut withdrawn = vec![("before", setting.ask(WITHDRAWN.name)?, 200)];
    // Redis must have heard of the key, or it has nothing to bring back.
    HEARING.until("a key in Redis", || setting.redis_has(&name))?;

    setting.leave()?;
    setting.waits_for(Said::Fail)?;
    let (rate, span) = ask_for(setting, LIMITED, SPAN)?;
    counted = counted.and(ask(setting, COUNTED, ASKED)?);
    setting.withdraw(WITHDRAWN.name)?;
    withdrawn.push(("at once", setting.ask(WITHDRAWN.name)?, 403));
    setting.expect(Said::Fail)?;

    setting.back()?;
    setting.waits_for(Said::Pass)?;
    let (late, _) = ask_for(setting, WITHDRAWN, AFTERWARDS)?;
    counted = counted.and(ask(setting, COUNTED, USED)?);
    let is_kept = setting.redis_has(&name)?;
    setting.settles()?;
    Ok(vec![
        rate_bar(rate, span),
        quota_bar(counted),
        withdrawn_bar(&withdrawn, late, is_kept),
    ])
}

/// Asks so often.
fn ask(setting: &mut Setting, key: Key, times: usize) -> Result<Answers, Error> {
    let mut answers = Answers::default();
    for _ in 0..times {
        answers.note(key, setting.ask(key.name)?);
    }
    Ok(answers)
}

/// Asks for so long; how long it was in the end.
fn ask_for(
    setting: &mut Setting,
    key: Key,
    length: Duration,
) -> Result<(Answers, Duration), Error> {
    let begin = clock::now();
    let mut answers = Answers::default();
    while clock::now() - begin < length {
        interrupt::check()?;
        answers.note(key, setting.ask(key.name)?);
        clock::sleep(BETWEEN);
    }
    Ok((answers, clock::now() - begin))
}

impl Answers {
    fn note(&mut self, key: Key, status: u16) {
        match status {
            200 => self.admitted += 1,
            status if status == key.refusal => self.refused += 1,
            _ => self.other += 1,
        }
    }

    fn and(self, later: Self) -> Self {
        Self {
            admitted: self.admitted + later.admitted,
            refused: self.refused + later.refused,
            other: self.other + later.other,
        }
    }

    /// Whether every answer was one of the two, and some was a refusal, so that there was a limit to meet.
    fn has_met_a_limit(self) -> bool {
        self.refused > 0 && self.other == 0
    }
}

/// At most the burst and what the rate allows in that time, and not less than the rate alone. Where the machine was too slow to ask for more,
/// nothing is known.
#[expect(clippy::cast_precision_loss, reason = "a count of some hundreds")]
fn rate_bar(answers: Answers, span: Duration) -> Bar {
    let admitted = answers.admitted as f64;
    let fewest = RATE * span.as_secs_f64();
    let most = fewest + RATE;
    let bar = Bar::judged(
        "a key's rate of 50 per second",
        "at most that and 50 at once, and no less than that, while the key asks for more",
        format!(
            "{admitted} in {:.3} s: {fewest:.1} to {most:.1} may be; {} refused, {} answered otherwise",
            span.as_secs_f64(),
            answers.refused,
            answers.other
        ),
        (fewest..=most).contains(&admitted) && answers.has_met_a_limit(),
    );
    let asked_too_little = answers.refused == 0 && answers.other == 0 && admitted <= most;
    match asked_too_little {
        true => Bar {
            verdict: Verdict::NotMeasured,
            ..bar
        },
        false => bar,
    }
}

/// Before, while Redis is away, and after it.
fn quota_bar(answers: Answers) -> Bar {
    Bar::judged(
        "a key's quota of 100",
        "used up while Redis is away, and not exceeded then or when it is back",
        format!(
            "{} admitted, {} refused, {} answered otherwise",
            answers.admitted, answers.refused, answers.other
        ),
        answers.admitted == QUOTA && answers.has_met_a_limit(),
    )
}

/// `seen`: when, the status, and the one that it must be; `late`: the answers when Redis was back; `is_kept`: it still has the key.
fn withdrawn_bar(seen: &[(&str, u16, u16)], late: Answers, is_kept: bool) -> Bar {
    let words = seen
        .iter()
        .map(|(when, status, _)| format!("{when} {status}"));
    let mut words: Vec<String> = words.collect();
    words.push(format!(
        "with Redis again {} of {} refused",
        late.refused,
        late.admitted + late.refused + late.other
    ));
    words.push(format!(
        "it is {}there",
        if is_kept { "STILL " } else { "not " }
    ));
    let is_right = |(_, status, expected): &(&str, u16, u16)| status == expected;
    let is_refused = late.admitted == 0 && late.has_met_a_limit();
    Bar::judged(
        "a key withdrawn while Redis is away",
        "403 at once, and when Redis is back; it is gone there too",
        words.join("; "),
        seen.iter().all(is_right) && is_refused && !is_kept,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(admitted: usize, refused: usize, other: usize) -> Answers {
        Answers {
            admitted,
            refused,
            other,
        }
    }

    #[test]
    fn a_refusal_is_of_the_limit_that_is_met() {
        let check = |key, status, expected| {
            let mut noted = Answers::default();
            noted.note(key, status);
            assert_eq!(noted, expected, "{key:?} {status}");
        };
        check(LIMITED, 200, answers(1, 0, 0));
        check(LIMITED, 429, answers(0, 1, 0));
        check(LIMITED, 403, answers(0, 0, 1));
        check(COUNTED, 403, answers(0, 1, 0));
        check(COUNTED, 429, answers(0, 0, 1));
        check(WITHDRAWN, 502, answers(0, 0, 1));
    }

    #[test]
    fn a_rate_admits_its_burst_and_what_time_allows() {
        let check = |answers, expected| {
            let bar = rate_bar(answers, Duration::from_secs(3));
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        let (held, failed) = (Verdict::Held, Verdict::Failed);
        check(answers(200, 900, 0), held);
        check(answers(201, 900, 0), failed);
        check(answers(149, 900, 0), failed);
        check(answers(180, 900, 1), failed);
        // Nothing is limited at all, or hardly anything was asked.
        check(answers(900, 0, 0), failed);
        check(answers(40, 0, 0), Verdict::NotMeasured);
    }

    #[test]
    fn a_quota_is_used_up_and_not_exceeded() {
        let check = |answers, expected| {
            let bar = quota_bar(answers);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(answers(100, 140, 0), true);
        check(answers(101, 139, 0), false);
        check(answers(99, 140, 1), false);
        check(answers(20, 220, 0), false);
    }

    #[test]
    fn a_withdrawn_key_stays_so_here_and_in_redis() {
        let check = |at_once, late, is_kept, expected| {
            let seen = [("before", 200, 200), ("at once", at_once, 403)];
            let bar = withdrawn_bar(&seen, late, is_kept);
            assert_eq!(bar.verdict, Verdict::of(expected), "{}", bar.measured);
        };
        check(403, answers(0, 900, 0), false, true);
        check(200, answers(0, 900, 0), false, false);
        check(403, answers(1, 899, 0), false, false);
        check(403, answers(0, 0, 0), false, false);
        check(403, answers(0, 900, 0), true, false);
    }
}
