//! A shard: the listeners and connections of all proxies on one thread, told by the API what there is.

use crate::connection::{Connection, Exchange, Greeting, Opening, Shared};
use crate::toxic::Toxics;
use bytes::Bytes;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::shard::propagate_panic;
use plimsoll_http::timer::DelayTimer;
use plimsoll_http::{Listener, ShardListener};
use std::collections::HashMap;
use std::io::{self, Write as _};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet, spawn_local};

/// Clients that asked for their server by name and wait to be taken by a shard.
const ADOPTIONS: usize = 64;

/// Identifies an opening of a proxy; a proxy that is opened again has another.
pub type ProxyId = u64;

/// An order to a shard, which carries it out at once, never waiting for a peer, and says so.
#[derive(Debug)]
pub enum Command {
    /// A proxy accepts clients from now on.
    Open {
        id: ProxyId,
        opening: Opening,
        /// None for one whose clients ask by name.
        listener: Option<Listener>,
        done: oneshot::Sender<io::Result<()>>,
    },
    /// Its toxics change.
    Change {
        id: ProxyId,
        toxics: Arc<Toxics>,
        done: oneshot::Sender<()>,
    },
    /// It listens no more, and its connections end: with RST if they are to be cut, else as their sockets are closed.
    Close {
        id: ProxyId,
        cut: bool,
        done: oneshot::Sender<()>,
    },
    /// A client that asked for its server by name is one of its clients.
    Adopt { id: ProxyId, client: Adopted },
}

/// A client that asked for its server by name.
#[derive(Debug)]
pub struct Adopted {
    /// Its connection.
    pub stream: std::net::TcpStream,
    /// Bytes that go to the server first.
    pub first: Bytes,
    /// Answers to its request.
    pub greeting: Greeting,
    /// The one exchange that it is for.
    pub exchange: Option<Box<Exchange>>,
}

/// Room for connections of all shards.
#[derive(Debug)]
pub struct Room {
    limit: usize,
    taken: AtomicUsize,
}

/// A place in the room, given back when it is dropped.
#[derive(Debug)]
struct Place(Arc<Room>);

impl Room {
    /// Room for so many.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            taken: AtomicUsize::new(0),
        }
    }

    fn enter(self: &Arc<Self>) -> Option<Place> {
        // Counted first, so that two shards cannot take the last place both.
        let place = Place(Arc::clone(self));
        (self.taken.fetch_add(1, Ordering::Relaxed) < self.limit).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A proxy that is open on this shard.
struct Served {
    shared: Rc<Shared>,
    adoptions: mpsc::Sender<Adopted>,
    close: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Carries out commands until there is nobody left who could give one.
pub async fn run(mut commands: mpsc::Receiver<Command>, room: Arc<Room>) -> io::Result<()> {
    let timer = Rc::new(DelayTimer::new()?);
    let ticking = {
        let timer = Rc::clone(&timer);
        spawn_local(async move { timer.run().await })
    };
    let mut proxies: HashMap<ProxyId, Served> = HashMap::new();
    while let Some(command) = commands.recv().await {
        match command {
            Command::Open {
                id,
                opening,
                listener,
                done,
            } => {
                let opened = open(opening, listener, &timer, &room);
                let told = opened.map(|served| {
                    proxies.insert(id, served);
                });
                say(done, told);
            }
            Command::Change { id, toxics, done } => {
                if let Some(served) = proxies.get(&id) {
                    served.shared.change(toxics);
                }
                say(done, ());
            }
            Command::Close { id, cut, done } => {
                if let Some(served) = proxies.remove(&id) {
                    close(served, cut).await;
                }
                say(done, ());
            }
            Command::Adopt { id, client } => {
                // Who serves takes each at once, so that a burst of them waits here for a moment.
                if let Some(served) = proxies.get(&id)
                    && let Err(refused) = served.adoptions.send(client).await
                {
                    turn_away(&served.shared, &refused.0);
                }
            }
        }
    }
    for (_, served) in proxies {
        close(served, false).await;
    }
    ticking.abort();
    Ok(())
}

fn say<T>(done: oneshot::Sender<T>, outcome: T) {
    done.send(outcome)
        .map_err(drop)
        .ignored("whoever gave the command went away");
}

fn open(
    opening: Opening,
    listener: Option<Listener>,
    timer: &Rc<DelayTimer>,
    room: &Arc<Room>,
) -> io::Result<Served> {
    let listener = listener.map(Listener::into_shard).transpose()?;
    let shared = Rc::new(Shared::new(opening, Rc::clone(timer)));
    let (adoptions, adopted) = mpsc::channel(ADOPTIONS);
    let (close, closed) = oneshot::channel();
    let serving = serve(
        listener,
        adopted,
        Rc::clone(&shared),
        Arc::clone(room),
        closed,
    );
    Ok(Served {
        task: spawn_local(serving),
        shared,
        adoptions,
        close,
    })
}

async fn close(served: Served, cut: bool) {
    if cut {
        served.shared.is_cut.set(true);
    }
    served
        .close
        .send(())
        .ignored("its listener failed, and its task has ended");
    propagate_panic(served.task.await);
}

/// Accepts the clients of a proxy until it is closed.
async fn serve(
    mut listener: Option<ShardListener>,
    mut adopted: mpsc::Receiver<Adopted>,
    shared: Rc<Shared>,
    room: Arc<Room>,
    mut closed: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (connection, place) = tokio::select! {
            biased;
            _ = &mut closed => break,
            Some(ended) = connections.join_next() => {
                propagate_panic(ended);
                continue;
            }
            client = next(listener.as_mut()) => match client {
                Ok(client) => (Ok(connection(&shared, client)), room.enter()),
                Err(_) => {
                    // The listener itself is of no more use, and would say so for ever.
                    listener = None;
                    continue;
                }
            },
            Some(client) = adopted.recv() => match room.enter() {
                None => {
                    turn_away(&shared, &client);
                    continue;
                }
                place => (adopt(&shared, client), place),
            },
        };
        let (Ok(connection), Some(place)) = (connection, place) else {
            shared.account.turned_away.add(1);
            continue;
        };
        connections.spawn_local(async move {
            connection.await;
            drop(place);
        });
    }
    drop(listener);
    if shared.is_cut.get() {
        shared.cut();
        while let Some(ended) = connections.join_next().await {
            propagate_panic(ended);
        }
    }
    connections.shutdown().await;
}

/// Tells a client that was to be led to a server that it is not.
fn turn_away(shared: &Shared, client: &Adopted) {
    shared.account.turned_away.add(1);
    (&client.stream)
        .write(client.greeting.unreachable)
        .map(drop)
        .ignored("a client that is gone need not be told");
}

/// The next client of a listener; never one where there is none.
async fn next(listener: Option<&mut ShardListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(stream, _)| stream),
        None => std::future::pending().await,
    }
}

fn connection(shared: &Rc<Shared>, client: TcpStream) -> Connection {
    let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
    Connection::new(Rc::clone(shared), number, client)
}

fn adopt(shared: &Rc<Shared>, client: Adopted) -> io::Result<Connection> {
    let stream = TcpStream::from_std(client.stream)?;
    Ok(connection(shared, stream).greeted(client.greeting, client.first, client.exchange))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;
    use tokio::task::LocalSet;

    const BURST: usize = 2 * ADOPTIONS + 1;
    const GREETING: Greeting = Greeting {
        reached: b"yes",
        unreachable: b"no!",
    };

    fn order_to_open(upstream: String) -> Command {
        Command::Open {
            id: 1,
            opening: Opening {
                name: "burst".into(),
                seed: 1,
                upstream,
                connect_timeout: Duration::from_secs(10),
                account: Arc::default(),
                detour: Arc::default(),
                numbers: Arc::default(),
                toxics: Arc::default(),
            },
            listener: None,
            done: oneshot::channel().0,
        }
    }

    /// More clients wait for a shard before it looks at any of them than a proxy's queue holds: each is led nevertheless.
    #[tokio::test]
    async fn a_burst_of_adoptions_turns_nobody_away() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let entrance = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (commands, ordered) = mpsc::channel(BURST + 1);
        let upstream = server.local_addr().unwrap().to_string();
        commands.send(order_to_open(upstream)).await.unwrap();
        let mut clients = Vec::new();
        for _ in 0..BURST {
            clients.push(
                TcpStream::connect(entrance.local_addr().unwrap())
                    .await
                    .unwrap(),
            );
            let (stream, _) = entrance.accept().await.unwrap();
            let client = Adopted {
                stream: stream.into_std().unwrap(),
                first: Bytes::new(),
                greeting: GREETING,
                exchange: None,
            };
            commands
                .send(Command::Adopt { id: 1, client })
                .await
                .unwrap();
        }
        let shard = run(ordered, Arc::new(Room::new(BURST)));
        let asking = async move {
            for client in &mut clients {
                let mut greeted = [0; 3];
                client.read_exact(&mut greeted).await.unwrap();
                assert_eq!(greeted, GREETING.reached);
            }
            drop(commands);
        };
        let (ended, ()) = LocalSet::new()
            .run_until(async { tokio::join!(shard, asking) })
            .await;
        ended.unwrap();
    }
}
