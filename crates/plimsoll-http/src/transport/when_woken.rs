//! A main future of a `LocalSet` that is polled when it was woken, and only then.
//!
//! A `LocalSet` polls its main future whenever one of its tasks was woken, too: at every event of every connection.

use atomic_waker::AtomicWaker;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pin_project! {
    /// A future that is polled when it was woken, and only then.
    #[derive(Debug)]
    pub(super) struct WhenWoken<F> {
        #[pin]
        future: F,
        woken: Arc<Woken>,
        waker: Waker,
    }
}

/// Whether the future was woken since it was last polled, and who is to poll it then.
#[derive(Debug)]
struct Woken {
    is_woken: AtomicBool,
    poller: AtomicWaker,
}

impl<F> WhenWoken<F> {
    /// A future that was not polled yet, and is once.
    pub(super) fn new(future: F) -> Self {
        let woken = Arc::new(Woken {
            is_woken: AtomicBool::new(true),
            poller: AtomicWaker::new(),
        });
        Self {
            future,
            waker: Waker::from(Arc::clone(&woken)),
            woken,
        }
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.poller.wake();
        }
    }
}

impl<F: Future> Future for WhenWoken<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        // Before it is looked whether it was woken: who wakes it afterwards finds whom to tell.
        this.woken.poller.register(context.waker());
        match this.woken.is_woken.swap(false, Ordering::AcqRel) {
            true => this.future.poll(&mut Context::from_waker(this.waker)),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::rc::Rc;
    use tokio::sync::oneshot;
    use tokio::task::{LocalSet, spawn_local, yield_now};

    #[test]
    fn it_is_polled_when_it_was_woken_and_not_when_others_were() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let polls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&polls);
        let (tell, told) = oneshot::channel();
        let busy = async move {
            for _ in 0..100 {
                yield_now().await;
            }
            tell.send(7).unwrap();
        };
        let main = async move {
            spawn_local(busy);
            let mut told = told;
            poll_fn(|context| {
                counted.set(counted.get() + 1);
                Pin::new(&mut told).poll(context)
            })
            .await
        };
        let told = LocalSet::new().block_on(&runtime.unwrap(), WhenWoken::new(main));
        assert_eq!((told, polls.get()), (Ok(7), 2));
    }

    #[test]
    fn a_wake_during_a_poll_is_not_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let mut left = 3;
        let main = poll_fn(|context| {
            context.waker().wake_by_ref();
            left -= 1;
            match left {
                0 => Poll::Ready("done"),
                _ => Poll::Pending,
            }
        });
        let done = LocalSet::new().block_on(&runtime.unwrap(), WhenWoken::new(main));
        assert_eq!(done, "done");
    }
}
