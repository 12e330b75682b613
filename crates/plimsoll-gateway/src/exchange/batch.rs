//! Exchanges of several requests in one: each is sent to the gateway itself, over a connection of its own.
//!
//! The client's connection stands for one of them at a time; whatever is under way beside it has a place among its client's connections, as
//! long as these are limited. When the client leaves, nothing of its batch is begun any more.

use super::body::{Unread, read_body};
use super::progress::Progress;
use super::{After, Ended, Ending, answer, departure, may_discard_body};
use crate::answering::answer::Answer;
use crate::answering::batch::{
    self, BODY_PATIENCE, Batch, MOST_ANSWERS, MOST_BATCHES, MOST_BODY, MOST_OF_ADDRESS, PATIENCE,
    Request,
};
use crate::config::Serves;
use crate::listening::connection_limiter;
use crate::listening::own_connections::OwnConnections;
use crate::routing::service::{Route, Service};
use crate::shard::client::Client;
use crate::shard::{FurtherPlaces, Shard};
use plimsoll_http::prefix;
use plimsoll_http::{Limits, TcpClient};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout, timeout_at};

/// Interim answers before the final one.
const INTERIM: usize = 16;

/// Whether a request for `path` on this route is a batch.
pub(super) fn is_batch(route: &Route, path: &str) -> bool {
    route.batches && prefix::strip(&route.path, path) == batch::PATH
}

/// Answers the batch whose head `client` has read, of an API of this route.
pub(super) async fn serve(
    shard: &Shard,
    service: &Service,
    client: &mut Client,
    route: usize,
    progress: &Progress,
) -> Ended {
    if client.scratch.method != "POST" {
        let nothing = Answer::new(200, "").with_body("", String::new());
        let keep = may_discard_body(client);
        return answer(shard, service, client, nothing, keep, progress).await;
    }
    let Some(_place) = BatchSlot::take(&shard.batches, client.client_prefix()) else {
        let told = batch::refusal(503, "too many batches at a time");
        let keep = may_discard_body(client);
        return answer(shard, service, client, told, keep, progress).await;
    };
    let read = timeout(BODY_PATIENCE, read_body(client, progress, MOST_BODY)).await;
    let late = |_| {
        let refusal = batch::refusal(408, "the batch's body took too long");
        Err(Unread::Refused(refusal))
    };
    let body = match read.unwrap_or_else(late) {
        Ok(body) => body,
        Err(Unread::Refused(refusal)) => {
            return answer(shard, service, client, refusal, false, progress).await;
        }
        Err(Unread::Broken) => {
            return GONE;
        }
    };
    let performed = perform(shard, service, client, route, body).await;
    let Some(Ok(told) | Err(told)) = performed else {
        return GONE;
    };
    let keep = may_discard_body(client);
    answer(shard, service, client, told, keep, progress).await
}

/// End of a batch whose client has left.
const GONE: Ended = Ended {
    status: 0,
    after: After::Abort,
    ending: Ending::ClientGone,
};

/// One of the batches that may be under way.
struct BatchSlot<'a> {
    taken: &'a RefCell<Vec<IpAddr>>,
    address: IpAddr,
}

impl<'a> BatchSlot<'a> {
    fn take(taken: &'a RefCell<Vec<IpAddr>>, address: IpAddr) -> Option<Self> {
        let mut all = taken.borrow_mut();
        let own = all.iter().filter(|own| **own == address).count();
        (all.len() < MOST_BATCHES && own < MOST_OF_ADDRESS).then(|| {
            all.push(address);
            Self { taken, address }
        })
    }
}

impl Drop for BatchSlot<'_> {
    fn drop(&mut self) {
        let mut all = self.taken.borrow_mut();
        let place = all.iter().position(|own| *own == self.address);
        if let Some(place) = place {
            all.swap_remove(place);
        }
    }
}

/// Answer to the batch of this body; `None`: its client has left.
async fn perform(
    shard: &Shard,
    service: &Service,
    client: &mut Client,
    route: usize,
    body: Vec<u8>,
) -> Option<Result<Answer, Answer>> {
    let gateway = match own(client) {
        Ok(own) => own,
        Err(refusal) => return Some(Err(refusal)),
    };
    let way = Way {
        gateway,
        connections: shard.own_connections().clone(),
        places: shard.further_places(client, service),
    };
    let half_close = client.half_close(service);
    tokio::select! {
        told = told(service, route, body, way) => Some(told),
        () = departure::wait(&mut client.connection.requests, half_close) => None,
    }
}

/// Answer to a batch whose client stays. Texts of megabytes are read and written beside the shard's thread.
async fn told(service: &Service, route: usize, body: Vec<u8>, way: Way) -> Result<Answer, Answer> {
    let defect = |_| batch::refusal(500, "batches have a defect");
    let listen_path = service.routes[route].path.clone();
    let reading = spawn_blocking(move || batch::read(&body, &listen_path));
    let batch = reading.await.map_err(defect)??;
    if batch
        .requests
        .iter()
        .any(|request| strays(service, request))
    {
        let message = "a batch holds requests to APIs, and no batch";
        return Err(batch::refusal(400, message));
    }
    let replies = send(batch, way).await;
    let writing = spawn_blocking(move || batch::answer(replies));
    writing.await.map_err(defect)
}

/// Whether a request is for no API, or a batch itself: one request is never more than so many others.
fn strays(service: &Service, request: &Request) -> bool {
    let index = service.router.find(&request.path);
    index.is_some_and(|index| {
        let route = &service.routes[index];
        route.serves == Serves::Control || is_batch(route, &request.path)
    })
}

/// Where the client has found the gateway.
fn own(client: &Client) -> Result<SocketAddr, Answer> {
    (client.connection.local())
        .map_err(|_| batch::refusal(500, "the gateway does not know its own address"))
}

/// How a batch's requests reach the gateway.
struct Way {
    gateway: SocketAddr,
    connections: OwnConnections,
    places: FurtherPlaces,
}

/// Place of one of a batch's requests while it is under way: that of its client's connection, or one beside it if these are limited.
struct Seat {
    _beside: Option<connection_limiter::ConnectionPermit<IpAddr>>,
}

impl Seat {
    /// One beside the client's connection, if there is room for it.
    fn beside(places: &FurtherPlaces) -> Option<Self> {
        let place = places.enter().ok()?;
        Some(Self { _beside: place })
    }
}

/// Answers to each, in the order of the requests.
async fn send(batch: Batch, way: Way) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    let (room, way) = (Rc::new(Cell::new(MOST_ANSWERS)), Rc::new(way));
    let mut names: Vec<String> = (batch.requests.iter())
        .map(|request| request.relative_url.clone())
        .collect();
    let mut unanswered: Vec<usize> = (0..names.len()).collect();
    let mut waiting = batch.requests.into_iter().enumerate();
    let mut under_way = JoinSet::new();
    let mut replies = Vec::new();
    let mut free = Some(Seat { _beside: None });
    loop {
        while under_way.len() < batch.at_once
            && waiting.len() > 0
            && let Some(seat) = free.take().or_else(|| Seat::beside(&way.places))
            && let Some((index, request)) = waiting.next()
        {
            let (room, way) = (Rc::clone(&room), Rc::clone(&way));
            under_way.spawn_local(async move { (index, ask(&request, &way, &room).await, seat) });
        }
        let Ok(Some(Ok((index, answered, seat)))) =
            timeout_at(deadline, under_way.join_next()).await
        else {
            break;
        };
        free = (waiting.len() > 0).then_some(seat);
        unanswered.retain(|other| *other != index);
        let name = std::mem::take(&mut names[index]);
        replies.push(answered.unwrap_or_else(|_| batch::no_reply(&name)));
    }
    // Time is up for these.
    replies.extend((unanswered.into_iter()).map(|index| batch::no_reply(&names[index])));
    replies
}

/// Sends one request, and takes its answer as far as there is room for it.
async fn ask(request: &Request, way: &Way, room: &Cell<usize>) -> io::Result<Value> {
    let (stream, _entry) = way.connections.connect(way.gateway).await?;
    let limits = Limits {
        body_bytes: MOST_ANSWERS as u64,
        ..Limits::default()
    };
    let mut connection = TcpClient::from_stream(stream, limits);
    let message = request.encode(way.gateway.port());
    connection.output.buffer().extend_from_slice(&message);
    connection.output.flush().await?;
    connection.responses.expect(request.is_head());
    for _ in 0..=INTERIM {
        let head = connection.responses.next_head().await;
        head.map_err(io::Error::other)?;
        if connection.responses.head().status() >= 200 {
            return take(&mut connection, request, room).await;
        }
    }
    Err(io::Error::other("there are only interim answers"))
}

async fn take(
    connection: &mut TcpClient,
    request: &Request,
    room: &Cell<usize>,
) -> io::Result<Value> {
    let mut body = Vec::new();
    while let Some(data) = (connection.responses.next_data().await).map_err(io::Error::other)? {
        let left = room.get().checked_sub(data.len());
        room.set(left.ok_or_else(|| io::Error::other("the batch has no room for it"))?);
        body.extend_from_slice(data);
    }
    let head = connection.responses.head();
    let name = &request.relative_url;
    Ok(batch::reply(name, head.status(), head.fields(), &body))
}
