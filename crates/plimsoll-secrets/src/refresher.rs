//! Keeping secrets fresh: a thread of its own that asks for each ahead of its expiry and fills the places that want it.
//!
//! ```text
//! configuration --Order::Take--> known already: filled; else asked for, within a bound --> answered: all there, or what is wrong
//!                 Order::Adopt-> its places, and its settings, are those that count from now on
//! ```
//!
//! A place of a configuration that is not in force keeps what it has, for exchanges that end by it; a secret without a place is forgotten.

mod known;
mod work;

use crate::figures::Figures;
use crate::settings::Keeping;
use plimsoll_base::document::{Problem, Problems};
use plimsoll_base::log::Log;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use work::{Order, Take, Work};

/// Secrets that a configuration may name, each counted once.
pub const MOST: usize = 1000;
/// Orders that may wait; whoever gives one waits for its answer.
const ORDERS: usize = 4;

/// The thread, once somebody wants something kept. It ends when this is dropped.
pub struct SecretRefresher {
    log: Log,
    figures: Arc<Figures>,
    running: Option<Running>,
}

struct Running {
    orders: mpsc::Sender<Order>,
    thread: JoinHandle<()>,
}

/// Result of having asked for secrets; waits for it.
pub struct Asked(Option<oneshot::Receiver<Result<(), Problems>>>);

impl Asked {
    /// Outside of any runtime.
    ///
    /// # Errors
    /// Every secret that is missing, and where it was asked for.
    pub fn wait(self) -> Result<(), Problems> {
        match self.0 {
            Some(answer) => answer.blocking_recv().unwrap_or_else(|_| Err(gone())),
            None => Ok(()),
        }
    }

    /// Within a runtime.
    ///
    /// # Errors
    /// Every secret that is missing, and where it was asked for.
    pub async fn heard(self) -> Result<(), Problems> {
        match self.0 {
            Some(answer) => answer.await.unwrap_or_else(|_| Err(gone())),
            None => Ok(()),
        }
    }
}

fn gone() -> Problems {
    Problem::of_file("secrets", "the gateway is stopping").into()
}

impl SecretRefresher {
    /// One that runs nothing yet. `log` is told of troubles and changes.
    pub fn new(log: Log) -> Self {
        Self {
            log,
            figures: Arc::default(),
            running: None,
        }
    }

    /// Its counters.
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Has every place filled that a configuration wants. Until [`Self::adopt`] what was kept before is kept as it was.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn take(&mut self, keeping: &Keeping) -> io::Result<Asked> {
        if keeping.wanted.is_empty() {
            return Ok(Asked(None));
        }
        let (reply, answer) = oneshot::channel();
        let wanted = keeping.wanted.iter();
        self.order(Order::Take(Take {
            settings: Arc::clone(&keeping.settings),
            wanted: wanted
                .map(|(kept, at)| (Arc::downgrade(kept), at.clone()))
                .collect(),
            reply,
        }))?;
        Ok(Asked(Some(answer)))
    }

    /// A configuration is in force: its secrets alone are kept fresh, and in the way that it says.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn adopt(&mut self, keeping: Option<&Keeping>) -> io::Result<()> {
        if self.running.is_none() {
            return Ok(());
        }
        self.order(Order::Adopt(keeping.cloned()))
    }

    fn order(&mut self, order: Order) -> io::Result<()> {
        let running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        // Each order is answered before the next is given, or answers at once: there is room.
        let given = running.orders.try_send(order);
        self.running = Some(running);
        given.map_err(|_| io::Error::other("the refresher of secrets takes no orders"))
    }

    fn start(&self) -> io::Result<Running> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (orders, ordered) = mpsc::channel(ORDERS);
        let work = Work::new(Arc::clone(&self.log), Arc::clone(&self.figures));
        let thread = std::thread::Builder::new()
            .name("secrets".to_owned())
            .spawn(move || runtime.block_on(work.run(ordered)))?;
        Ok(Running { orders, thread })
    }
}

impl Drop for SecretRefresher {
    fn drop(&mut self) {
        if let Some(Running { orders, thread }) = self.running.take() {
            drop(orders);
            if thread.join().is_err() && !std::thread::panicking() {
                panic!("the refresher of secrets panicked");
            }
        }
    }
}
