//! One timer per connection for all of its deadlines, so that a deadline costs nothing while it is kept.
//!
//! Deadlines nearly always move away before they pass. The timer is therefore set anew only when a deadline is earlier than
//! what it is set to, or when it fires and the deadline has moved: a few times per connection instead of per request. Where the time is known,
//! a timer that cannot have fired is not even looked at: with thousands of connections it is not in the processor's cache.
//!
//! Deadlines that pass together are noticed a few at a time (`turn`), and what becomes ready until then is not late.

use crate::turn::{self, Turn};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::coop;
use tokio::time::{Instant, Sleep};

/// The deadline passed before the future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

/// A deadline, and the time, where it is known. It is used at once and once: the time is out of date when the task has waited.
#[derive(Debug)]
pub struct Due {
    /// The deadline.
    pub at: Instant,
    /// A reading of the clock since which the task has not waited.
    pub now: Option<Instant>,
}

impl Due {
    /// A deadline, at a time that nobody has looked at.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { at, now: None }
    }

    /// A deadline so long after now, which is a reading of the clock since which the task has not waited.
    #[must_use]
    pub fn after(now: Instant, limit: Duration) -> Self {
        Self {
            at: now + limit,
            now: Some(now),
        }
    }
}

impl From<Instant> for Due {
    fn from(at: Instant) -> Self {
        Self::at(at)
    }
}

/// A timer that is used again and again.
#[derive(Debug)]
pub struct Watch {
    timer: Pin<Box<Sleep>>,
    /// To when it is set, and whom it wakes then.
    set: Option<(Instant, Waker)>,
}

impl Watch {
    /// A timer that is first needed at about `first`.
    #[must_use]
    pub fn new(first: Instant) -> Self {
        Self {
            timer: Box::pin(tokio::time::sleep_until(first)),
            set: None,
        }
    }

    /// Awaits `future` until `deadline()`, which is asked only when `future` has to wait, and anew whenever something has happened; it may know
    /// the time as well. Resolves to [`Elapsed`] when the deadline passes first, and it has come to its turn.
    pub fn until<T: Into<Due>, D: Fn() -> T, F: Future>(
        &mut self,
        deadline: D,
        future: F,
    ) -> Until<'_, impl FnMut() -> Due + use<T, D, F>, F> {
        self.wait(move || deadline().into(), future)
    }

    /// Awaits `future` until `due`. It must be polled at once.
    pub fn until_due<F: Future>(
        &mut self,
        due: Due,
        future: F,
    ) -> Until<'_, impl FnMut() -> Due + use<F>, F> {
        let Due { at, mut now } = due;
        let due = move || Due {
            at,
            now: now.take(),
        };
        self.wait(due, future)
    }

    /// Awaits `future` for `limit` from when it first has to wait, so that no clock is read for one that is ready at once.
    pub fn within<F: Future>(
        &mut self,
        limit: Duration,
        future: F,
    ) -> Until<'_, impl FnMut() -> Due + use<F>, F> {
        let mut deadline = None;
        let due = move || match deadline {
            Some(at) => Due::at(at),
            None => {
                let due = Due::after(Instant::now(), limit);
                deadline = Some(due.at);
                due
            }
        };
        self.wait(due, future)
    }

    fn wait<D: FnMut() -> Due, F: Future>(&mut self, due: D, future: F) -> Until<'_, D, F> {
        Until {
            watch: self,
            due,
            future,
            turn: None,
        }
    }

    /// Whether the timer wakes this task in time as it is, without being looked at: it has not fired yet, and fires no later than at the deadline.
    fn wakes_in_time(&self, due: &Due, waker: &Waker) -> bool {
        let (Some((at, wakes)), Some(now)) = (&self.set, due.now) else {
            return false;
        };
        now < *at && *at <= due.at && wakes.will_wake(waker)
    }

    /// Ready when the deadline has passed.
    fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        while self.timer.as_mut().poll(context).is_ready() {
            if self.timer.deadline() >= deadline {
                self.set = None;
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(deadline);
        }
        let at = self.timer.deadline();
        if !coop::has_budget_remaining() {
            // It was the task that was put off, not the timer that was asked.
            self.set = None;
            return Poll::Pending;
        }
        match &mut self.set {
            Some((when, wakes)) if wakes.will_wake(context.waker()) => *when = at,
            set => *set = Some((at, context.waker().clone())),
        }
        Poll::Pending
    }
}

pin_project! {
    /// See [`Watch::until`]. A type of its own, because an `async fn` keeps its arguments twice, and futures that hold futures hold
    /// connections' memory.
    pub struct Until<'a, D, F> {
        watch: &'a mut Watch,
        due: D,
        #[pin]
        future: F,
        // The wait behind others whose deadlines have passed, once its own has. Boxed once more, it is one word of each future that waits.
        turn: Option<Box<Turn>>,
    }
}

impl<D: FnMut() -> Due, F: Future> Future for Until<'_, D, F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        let due = (this.due)();
        if this.watch.wakes_in_time(&due, context.waker()) {
            return Poll::Pending;
        }
        if this.watch.poll(due.at, context).is_pending() {
            // The deadline has moved, unless the timer could not be asked.
            if this.turn.is_some() && coop::has_budget_remaining() {
                *this.turn = None;
            }
            return Poll::Pending;
        }
        let turn = this.turn.get_or_insert_with(|| Box::new(turn::comes()));
        turn.as_mut().as_mut().poll(context).map(|()| Err(Elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::Drain;
    use std::cell::Cell;
    use std::rc::Rc;
    use tokio::task::JoinSet;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn deadlines_may_come_nearer_and_move_away() {
        let start = Instant::now();
        let mut watch = Watch::new(start + 60 * SECOND);
        let never = std::future::pending::<()>;
        assert_eq!(watch.until(|| start + SECOND, never()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 1);
        let deadline = start + 30 * SECOND;
        assert_eq!(watch.until(|| deadline, async { 7 }).await, Ok(7));
        assert_eq!(watch.until(|| deadline, never()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_begins_with_the_wait() {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        let late = watch.within(SECOND, std::future::pending::<()>());
        tokio::time::sleep(5 * SECOND).await;
        assert_eq!(late.await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn progress_extends_a_deadline_under_way() {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        let deadline = Cell::new(start + 2 * SECOND);
        let steps = async {
            for _ in 0..5 {
                tokio::time::sleep(SECOND).await;
                deadline.set(Instant::now() + 2 * SECOND);
            }
            std::future::pending::<()>().await;
        };
        assert_eq!(watch.until(|| deadline.get(), steps).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 7);
    }

    /// Waits, and gives up where a timer that is lost would let it wait for ever.
    async fn at_last<F: Future>(waiting: F) -> F::Output {
        let waited = tokio::time::timeout(600 * SECOND, waiting).await;
        waited.expect("the timer fires")
    }

    /// Exchanges of ten seconds each, then silence: the timer is not looked at between them, and fires all the same.
    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_not_looked_at_fires() {
        let start = Instant::now();
        let mut watch = Watch::new(start + 60 * SECOND);
        let idle = || Due::after(Instant::now(), 60 * SECOND);
        let exchange = || tokio::time::sleep(10 * SECOND);
        for exchanges in 1..=20 {
            assert_eq!(watch.until_due(idle(), exchange()).await, Ok(()));
            assert_eq!(start.elapsed(), exchanges * 10 * SECOND);
        }
        let never = std::future::pending::<()>;
        let silence = at_last(watch.until_due(idle(), never()));
        assert_eq!(silence.await, Err(Elapsed));
        assert_eq!(start.elapsed(), 260 * SECOND);
        // A deadline that is nearer than what the timer is set to is kept, too.
        assert_eq!(watch.until_due(idle(), exchange()).await, Ok(()));
        let near = Due::after(Instant::now(), SECOND);
        let silence = at_last(watch.until_due(near, never()));
        assert_eq!(silence.await, Err(Elapsed));
        assert_eq!(start.elapsed(), 271 * SECOND);
    }

    /// How many of a hundred whose deadlines pass together are late, when all are answered in the turn behind that of the first.
    async fn late_of_a_hundred() -> usize {
        let deadline = Instant::now() + SECOND;
        let answered = Rc::new(Drain::default());
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let answered = Rc::clone(&answered);
            tasks.spawn_local(async move {
                let mut watch = Watch::new(deadline);
                let ended = watch.until(|| deadline, answered.begins()).await;
                if ended.is_err() {
                    tokio::task::yield_now().await;
                    answered.begin();
                }
                ended
            });
        }
        // It would be for ever, if those before had left anything in the line.
        let ended = at_last(tasks.join_all()).await;
        ended.iter().filter(|ended| ended.is_err()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_ready_before_its_turn_is_not_late() {
        let twice = async { (late_of_a_hundred().await, late_of_a_hundred().await) };
        let late = tokio::task::LocalSet::new().run_until(twice).await;
        assert!((1..=20).contains(&late.0), "{late:?}");
        assert_eq!(late.0, late.1);
    }

    /// A task whose budget is used up is put off before the timer knows of it.
    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_put_off_is_woken_in_time() {
        let start = Instant::now();
        let mut watch = Watch::new(start + SECOND);
        while coop::has_budget_remaining() {
            coop::consume_budget().await;
        }
        let due = || Due::after(Instant::now(), 2 * SECOND);
        let mut polls = 0;
        let twice = std::future::poll_fn(|_| {
            polls += 1;
            if polls < 2 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        assert_eq!(watch.until_due(due(), twice).await, Ok(()));
        let never = std::future::pending::<()>();
        let silence = at_last(watch.until_due(due(), never));
        assert_eq!(silence.await, Err(Elapsed));
        assert_eq!(start.elapsed(), 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_now_is_woken() {
        let start = Instant::now();
        let mut watch = Watch::new(start + SECOND);
        let due = || Due::after(Instant::now(), 2 * SECOND);
        // Its task ends before the deadline.
        let mut first = JoinSet::new();
        first.spawn(async move {
            let wait = watch.until_due(due(), tokio::time::sleep(SECOND / 2));
            assert_eq!(wait.await, Ok(()));
            watch
        });
        let mut watch = first.join_next().await.unwrap().unwrap();
        let mut second = JoinSet::new();
        second.spawn(async move {
            let never = std::future::pending::<()>();
            watch.until_due(due(), never).await
        });
        let silence = at_last(second.join_next()).await.unwrap();
        assert_eq!(silence.unwrap(), Err(Elapsed));
        assert_eq!(start.elapsed(), SECOND / 2 + 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_is_left_alone_only_where_it_is_sure_to_wake_in_time() {
        let start = Instant::now();
        let mut watch = Watch::new(start + 2 * SECOND);
        let due = |now, at| Due {
            at: start + at * SECOND,
            now: Some(start + now * SECOND),
        };
        let waker = std::task::Waker::from(std::sync::Arc::new(Nobody));
        let sure = |watch: &Watch, due, waker| watch.wakes_in_time(&due, waker);
        assert!(!sure(&watch, due(0, 3), &waker), "nobody is woken yet");
        let mut context = Context::from_waker(&waker);
        assert!(watch.poll(start + 3 * SECOND, &mut context).is_pending());
        assert!(sure(&watch, due(1, 3), &waker));
        assert!(sure(&watch, due(1, 2), &waker));
        assert!(!sure(&watch, due(1, 1), &waker), "it fires too late");
        assert!(!sure(&watch, due(2, 3), &waker), "it may have fired");
        assert!(!sure(&watch, Due::at(start + 3 * SECOND), &waker), "when?");
        assert!(!sure(&watch, due(1, 3), Waker::noop()), "somebody else");
    }

    struct Nobody;

    impl std::task::Wake for Nobody {
        fn wake(self: std::sync::Arc<Self>) {}
    }
}
