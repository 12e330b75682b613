//! Copies of requests, for the shard that a client's data is moving to: sent when the owner has answered, behind the back of the client.
//!
//! ```text
//! exchange begins --place?--> body is gathered --small enough? answered?--> lane of its connection --one by one--> the other shard's upstream
//! ```
//!
//! Copies of one connection arrive in the order in which their requests were answered, each when the one before it has been answered or has
//! failed; between connections there is no order, as there is none at the owner. A copy that may change data counts as under way until it has
//! been answered or its connection has ended, also when that takes longer than an answer may: as long as the other end holds the connection it
//! may carry the copy out, so a move does not end before, and the copies behind it wait. None is sent twice unless that is safe, and none can hold up or fail the request that it copies,
//! or those that the other shard's own clients send: copies take nothing of what its upstream allows, and say nothing of its health.

use crate::metrics::Outcome;
use crate::reloading::generation::{Generation, Unfinished};
use crate::routing::outgoing::Outgoing;
use crate::upstream::{Slot, Wish};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::{Framing, TcpClient, encode};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

/// Bytes of an answer to a copy that are read so that its connection can be kept.
const DISCARDED_BYTES: usize = 1024 * 1024;

/// That a request is to be copied, and what of it has gone by.
#[derive(Debug)]
pub(crate) struct Mirror {
    /// Whose it becomes.
    pub(crate) upstream: usize,
    /// The shard that the client's data is in.
    owner: usize,
    most: usize,
    /// None any more once it is too much.
    body: RefCell<Option<Vec<u8>>>,
}

impl Mirror {
    /// A copy for this upstream, of no more than `most` bytes of body.
    pub(crate) fn new(upstream: usize, owner: usize, most: usize) -> Self {
        Self {
            upstream,
            owner,
            most,
            body: RefCell::new(Some(Vec::new())),
        }
    }

    /// Some more of the body goes by.
    pub(crate) fn add(&self, data: &[u8]) {
        let mut body = self.body.borrow_mut();
        match &mut *body {
            Some(bytes) if bytes.len() + data.len() <= self.most => bytes.extend_from_slice(data),
            _ => *body = None,
        }
    }

    /// There is no room for a copy: nothing is kept for one.
    fn let_go(&self) {
        self.body.take();
    }
}

/// Copies that one gateway shard has under way.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    count: Rc<Cell<u32>>,
    /// One for each lane that has copies to send.
    tasks: RefCell<JoinSet<()>>,
}

impl Mirrors {
    /// How many copies are gathered, wait or are under way.
    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }

    /// Lets what is under way end until `deadline`, and cuts off the rest.
    pub(crate) async fn finish(&self, deadline: Instant) {
        let mut tasks = self.tasks.take();
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout_at(deadline, ended).await.is_err() {
            // Each counts as failed.
            tasks.shutdown().await;
        }
    }

    /// Takes a place for a copy of a request before its exchange begins, if fewer than `most` have one.
    pub(crate) fn begin(&self, mirror: &Mirror, generation: &Rc<Generation>, most: u32) -> Begun {
        let place = self.place(most);
        if place.is_none() {
            mirror.let_go();
        }
        let fate = Fate {
            generation: Rc::clone(generation),
            upstream: mirror.upstream,
            // Also if the exchange is cut off.
            outcome: match place {
                Some(_) => Outcome::Unanswered,
                None => Outcome::Dropped,
            },
        };
        Begun { fate, place }
    }

    fn place(&self, most: u32) -> Option<MirrorSlot> {
        let count = self.count.get();
        (count < most).then(|| {
            self.count.set(count + 1);
            MirrorSlot(Rc::clone(&self.count))
        })
    }
}

/// A copy's place among them, until it is dropped.
#[derive(Debug)]
struct MirrorSlot(Rc<Cell<u32>>);

impl Drop for MirrorSlot {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Copies of one connection's requests, in their order.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    waiting: RefCell<VecDeque<Copied>>,
    /// A task sends them.
    busy: Cell<bool>,
}

/// That a task sends a lane's copies, until it ends in whatever way.
struct Busy(Rc<Lane>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.set(false);
    }
}

impl Lane {
    /// Sends a copy when those before it have been sent.
    pub(crate) fn push(self: &Rc<Self>, copied: Copied, mirrors: &Mirrors) {
        self.waiting.borrow_mut().push_back(copied);
        if !self.busy.replace(true) {
            let mut tasks = mirrors.tasks.borrow_mut();
            while tasks.try_join_next().is_some() {}
            tasks.spawn_local(run(Busy(Rc::clone(self))));
        }
    }
}

async fn run(busy: Busy) {
    let Busy(lane) = &busy;
    loop {
        let next = lane.waiting.borrow_mut().pop_front();
        match next {
            Some(copied) => copied.send().await,
            None => return,
        }
    }
}

/// Outcome of a copy. It counts when it is dropped.
#[derive(Debug)]
struct Fate {
    generation: Rc<Generation>,
    upstream: usize,
    outcome: Outcome,
}

impl Drop for Fate {
    fn drop(&mut self) {
        let metrics = &self.generation.tally.upstreams[self.upstream].mirrored;
        metrics.of(self.outcome).add(1);
    }
}

/// A copy of a request whose exchange is under way; without a place it is not made.
pub(crate) struct Begun {
    fate: Fate,
    place: Option<MirrorSlot>,
}

/// A request that was answered, for another upstream.
#[derive(Debug)]
pub(crate) struct Copied {
    fate: Fate,
    owner: String,
    head: Outgoing,
    body: Vec<u8>,
    framing: Framing,
    to_head: bool,
    repeatable: bool,
    /// Key by which its endpoint is chosen.
    key: u64,
    /// Status of the owner's answer.
    status: u16,
    /// It may change data.
    unfinished: Option<Unfinished>,
    _place: MirrorSlot,
}

/// A request as it went to the shard that the client's data is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Original<'a> {
    pub(crate) head: &'a Outgoing,
    pub(crate) framing: Framing,
    pub(crate) to_head: bool,
    pub(crate) repeatable: bool,
    /// It may change data.
    pub(crate) changes: bool,
    /// Key by which the copy's endpoint is chosen.
    pub(crate) key: u64,
    /// Status of the owner's answer.
    pub(crate) status: u16,
}

impl Begun {
    /// The copy, now that its exchange is over and was answered; none without a place, or if the body is too large.
    pub(crate) fn complete(self, mirror: &Mirror, original: Original<'_>) -> Option<Copied> {
        let Self {
            mut fate,
            place: Some(place),
        } = self
        else {
            return None;
        };
        let Some(body) = mirror.body.take() else {
            fate.outcome = Outcome::TooLarge;
            return None;
        };
        fate.outcome = Outcome::Failed;
        let generation = &fate.generation;
        let sharding = generation.service.sharding.as_ref()?;
        Some(Copied {
            owner: sharding.map.shards[mirror.owner].name.clone(),
            head: original.head.clone(),
            body,
            framing: original.framing,
            to_head: original.to_head,
            repeatable: original.repeatable,
            key: original.key,
            status: original.status,
            unfinished: original.changes.then(|| generation.unfinished()),
            fate,
            _place: place,
        })
    }
}

/// Why a copy got no answer.
enum Unanswered {
    /// Its connection turned out to be closed before anything came.
    Stale,
    Broken,
}

/// Whether an answer has come within its upstream's `response_head_timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Punctuality {
    InTime,
    Late,
}

impl Copied {
    async fn send(mut self) {
        let generation = Rc::clone(&self.fate.generation);
        let upstream = &generation.upstreams[self.fate.upstream];
        let patience = upstream.response_head_timeout;
        let wish = Wish {
            tried: &[],
            key: self.key,
            now: Instant::now(),
        };
        let Some(slot) = upstream.choose_beside(wish) else {
            return;
        };
        let Some((mut connection, punctuality)) = self.answer(&slot, patience).await else {
            return;
        };
        let status = connection.responses.head().status();
        self.fate.outcome = match (punctuality, status == self.status) {
            (Punctuality::Late, _) => Outcome::Failed,
            (Punctuality::InTime, true) => Outcome::Same,
            (Punctuality::InTime, false) => Outcome::Other,
        };
        match timeout(patience, discard(&mut connection)).await {
            Ok(true) => slot.give_back(connection, Instant::now()),
            _ => connection.reset(),
        }
    }

    /// The connection on which the head of the answer has come, and when that was. What may change data is waited for beyond `patience`, for as
    /// long as any exchange may take: it may be carried out as long as nobody has said what became of it.
    async fn answer(
        &self,
        slot: &Slot<'_>,
        patience: Duration,
    ) -> Option<(Box<TcpClient>, Punctuality)> {
        let last = Instant::now() + self.fate.generation.service.timeouts.total;
        let mut asked = pin!(self.ask(slot));
        if let Ok(answered) = timeout(patience, &mut asked).await {
            return Some((answered?, Punctuality::InTime));
        }
        self.unfinished.as_ref()?;
        let answered = timeout_at(last, asked).await.ok()?;
        Some((answered?, Punctuality::Late))
    }

    /// The connection on which the head of the answer has come.
    async fn ask(&self, slot: &Slot<'_>) -> Option<Box<TcpClient>> {
        if let Some(mut pooled) = slot.pooled(Instant::now()) {
            match self.exchange(slot, &mut pooled).await {
                Ok(()) => return Some(pooled),
                Err(Unanswered::Stale) if self.repeatable => {}
                Err(_) => return None,
            }
        }
        let mut connection = slot.connect(|| {}).await.ok()?;
        self.exchange(slot, &mut connection).await.ok()?;
        Some(connection)
    }

    /// Sends the copy, and reads the head of its answer.
    async fn exchange(
        &self,
        slot: &Slot<'_>,
        connection: &mut TcpClient,
    ) -> Result<(), Unanswered> {
        connection.responses.expect(self.to_head);
        let out = connection.output.buffer();
        self.head.send_copy(out, slot.authority(), &self.owner);
        match self.framing {
            Framing::Chunked => {
                if !self.body.is_empty() {
                    encode::chunk(out, &self.body);
                }
                out.extend_from_slice(b"0\r\n\r\n");
            }
            Framing::None | Framing::Length(_) | Framing::UntilClose => {
                out.extend_from_slice(&self.body);
            }
        }
        connection.output.flush().await.ignored("it may have been answered before all of it was taken; else the answer's end comes first");
        loop {
            if connection.responses.next_head().await.is_err() {
                return Err(match connection.responses.received_any() {
                    true => Unanswered::Broken,
                    false => Unanswered::Stale,
                });
            }
            if !matches!(connection.responses.head().status(), 100..200) {
                return Ok(());
            }
        }
    }
}

/// Reads the rest of an answer, if that is not too much; whether it has come to its end.
async fn discard(connection: &mut TcpClient) -> bool {
    let mut left = DISCARDED_BYTES;
    loop {
        match connection.responses.next_data().await {
            Ok(Some(data)) if data.len() <= left => left -= data.len(),
            Ok(None) => return true,
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_kept_whole_or_not_at_all() {
        let mirror = Mirror::new(0, 0, 5);
        mirror.add(b"abc");
        mirror.add(b"de");
        assert_eq!(mirror.body.borrow().as_deref(), Some(&b"abcde"[..]));
        mirror.add(b"f");
        assert!(mirror.body.borrow().is_none());
        mirror.add(b"");
        assert!(mirror.body.borrow().is_none());
    }

    #[test]
    fn places_are_given_back() {
        let mirrors = Mirrors::default();
        let places: Vec<_> = (0..3).map(|_| mirrors.place(2)).collect();
        assert_eq!((places.iter().flatten().count(), mirrors.count()), (2, 2));
        drop(places);
        assert_eq!(mirrors.count(), 0);
    }

    #[test]
    fn a_lane_whose_task_has_panicked_is_not_busy() {
        let lane = Rc::new(Lane::default());
        lane.busy.set(true);
        let busy = Busy(Rc::clone(&lane));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _busy = busy;
            panic!("a defect");
        }));
        assert!(result.is_err());
        assert!(!lane.busy.get());
    }
}
