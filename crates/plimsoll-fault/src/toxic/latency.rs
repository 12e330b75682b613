//! `latency`: every piece is let go of some time after it arrived, in order.

use super::{Kind, Next, Passage, milliseconds};
use crate::passage::Content;
use std::time::Duration;
use tokio::time::Instant;

/// A delay of `latency` ± `jitter` milliseconds, uniform and not rounded. It is a delay line: pieces wait at the same time.
#[derive(Debug, Default, Clone)]
pub struct Latency {
    latency: i64,
    jitter: i64,
}

/// The delay line of one connection.
#[derive(Debug)]
pub struct Line {
    /// When the last piece was due: none overtakes another.
    last: Instant,
    /// The place of the first piece's delay within the jitter, from −1 to 1, once it is drawn.
    drawn: Option<f64>,
    /// The moment for which the first piece waits.
    awaited: Option<Instant>,
}

impl Line {
    /// A line on which nothing waits.
    pub fn new(now: Instant) -> Self {
        Self {
            last: now,
            drawn: None,
            awaited: None,
        }
    }

    /// Lets go on what has waited for its delay, which may vary with a number from −1 to 1 that is drawn for each piece.
    pub fn advance(&mut self, passage: &mut Passage<'_>, delay: impl Fn(f64) -> Duration) -> Next {
        while passage.has_room()
            && let Some(first) = passage.queue.front()
        {
            let due = match first.content {
                Content::Data(_) => {
                    let drawn = *self
                        .drawn
                        .get_or_insert_with(|| 2.0 * passage.draw.unit() - 1.0);
                    self.last.max(first.arrived + delay(drawn))
                }
                Content::End | Content::Reset | Content::Cut => self.last.max(first.arrived),
            };
            if due > passage.now {
                self.awaited = Some(due);
                return Next::At(due);
            }
            // One for which the next stage had no room at that moment is late for another reason.
            if self.awaited.take() == Some(due) {
                passage.lateness.pieces += 1;
                passage.lateness.time += passage.now - due;
            }
            self.drawn = None;
            self.last = due;
            passage.let_go(due);
        }
        Next::Idle
    }
}

impl Latency {
    fn delay(&self, drawn: f64) -> Duration {
        let jitter = milliseconds(self.jitter).as_secs_f64() * drawn;
        let delay = milliseconds(self.latency).as_secs_f64() + jitter;
        Duration::try_from_secs_f64(delay).unwrap_or_default()
    }
}

impl Kind for Latency {
    const NAME: &'static str = "latency";
    const ROOM: usize = 1024;
    type State = Line;

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("latency", &mut self.latency), ("jitter", &mut self.jitter)]
    }

    fn begin(&self, now: Instant) -> Line {
        Line::new(now)
    }

    fn advance(&self, line: &mut Line, passage: &mut Passage<'_>) -> Next {
        line.advance(passage, |drawn| self.delay(drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passage::{Item, Lateness, Queue};
    use plimsoll_base::random::{Draw, Stream};

    const MS: Duration = Duration::from_millis(1);

    /// Two pieces with a delay of 20 ms, the second 5 ms behind the first, looked at after so many milliseconds; `room` for so many behind it.
    fn lateness(looks: &[u32], room: usize) -> Lateness {
        let start = Instant::now();
        let mut line = Line::new(start);
        let (mut queue, mut next) = (Queue::default(), Queue::default());
        for at in [0, 5] {
            queue.push(Item {
                arrived: start + at * MS,
                content: Content::Data("piece".into()),
            });
        }
        let mut draw = Draw::new(1, Stream::Toxics, 0);
        let mut lateness = Lateness::default();
        for look in looks {
            let mut passage = Passage {
                now: start + *look * MS,
                queue: &mut queue,
                next: &mut next,
                room,
                draw: &mut draw,
                lateness: &mut lateness,
            };
            line.advance(&mut passage, |_| 20 * MS);
        }
        lateness
    }

    #[test]
    fn lateness_is_that_of_pieces_that_were_awaited() {
        let check = |looks: &[u32], room, (pieces, time): (u64, u32)| {
            let expected = Lateness {
                pieces,
                time: time * MS,
            };
            assert_eq!(lateness(looks, room), expected, "{looks:?}");
        };
        check(&[5, 19], 9, (0, 0));
        check(&[5, 20, 25], 9, (2, 0));
        check(&[5, 23, 29], 9, (2, 7));
        // The second was due while the timer for the first was late: nothing was awaited for it.
        check(&[5, 27], 9, (1, 7));
        // No room behind it is another reason to be late.
        check(&[5, 20, 29], 1, (1, 0));
    }
}
