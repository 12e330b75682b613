//! Swaps of the gateway's binary under load: no request fails, and the mock behind has received what was answered.

use super::Check;
use crate::asking::ask;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::gateway::Gateway;
use crate::mock::Mock;
use crate::{Wait, child};
use plimsoll_base::counters::Counter;
use rustix::process::{Pid, Signal};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "swap",
    about: "another process takes the gateway's place, again and again under load",
    run,
};

/// Clients that keep their connections, and clients that make one for each request.
const CLIENTS: [Manner; 6] = [
    Manner::Keeps,
    Manner::Keeps,
    Manner::Keeps,
    Manner::Keeps,
    Manner::Leaves,
    Manner::Leaves,
];
/// Answers between two swaps, at least.
const BETWEEN: u64 = 500;
/// How long something may take that has to come.
const PATIENCE: Wait = Wait {
    limit: Duration::from_secs(60),
    look: Duration::from_millis(5),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Keeps,
    Leaves,
}

/// The observations of the clients.
#[derive(Default)]
struct Seen {
    answered: AtomicU64,
    failed: AtomicU64,
    over: AtomicBool,
}

/// The process that has the gateway's place, which is ended when this is dropped.
struct Place(PathBuf);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let swaps = bench.pick(20, 2);
    let mock = Mock::start_with(bench, &[], &["--no-request-journal"])?;
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n",
        mock.address
    );
    let files = [("gateway.yaml", config)];
    let gateway = Gateway::start(bench, &files, &["--pid-file", "pid"])?;
    let address = gateway.main()?;
    let place = Place(gateway.path("pid"));
    PATIENCE.until("a pid file", || Ok(place.pid().is_ok()))?;
    let seen = Seen::default();
    let done = std::thread::scope(|scope| {
        for manner in CLIENTS {
            let seen = &seen;
            scope.spawn(move || client(address, manner, seen));
        }
        let done = (1..=swaps).try_for_each(|swap| {
            bench.progress(&format!("swap {swap}/{swaps}"));
            place.swap(&seen)
        });
        seen.over.store(true, Ordering::SeqCst);
        done
    });
    done?;
    drop(place);
    let received = mock.stop()?.get(Counter::Received);
    let [answered, failed] = [&seen.answered, &seen.failed].map(|n| n.load(Ordering::SeqCst));
    Ok(vec![
        Bar::judged(
            format!("requests during {swaps} swaps"),
            "none fails",
            format!("{failed} of {} failed", answered + failed),
            failed == 0,
        ),
        Bar::judged(
            "against the mock behind",
            "answered = received",
            format!("{answered} answered, {received} received"),
            answered == received,
        ),
    ])
}

impl Place {
    fn pid(&self) -> Result<Pid, Error> {
        let text = std::fs::read_to_string(&self.0).map_err(Error::when("reading the pid file"))?;
        let pid = text.trim().parse().ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| Error::Measured(format!("the pid file says `{}`", text.trim())))
    }

    /// Waits for load, swaps, and waits until it has been done.
    fn swap(&self, seen: &Seen) -> Result<(), Error> {
        let before = self.pid()?;
        let answered = seen.answered.load(Ordering::SeqCst);
        PATIENCE.until("load", || {
            Ok(seen.answered.load(Ordering::SeqCst) > answered + BETWEEN
                || seen.failed.load(Ordering::SeqCst) > 0)
        })?;
        child::send(before, Signal::USR2)?;
        PATIENCE.until("another process in its place", || Ok(self.pid()? != before))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // One that has no file any more has ended.
        if let Ok(pid) = self.pid()
            && child::send(pid, Signal::TERM).is_err()
        {
            crate::say(&format!("process {} was left", pid.as_raw_nonzero()));
        }
    }
}

/// Asks until it is over. A connection may end between two requests where the answer before has said so, and nowhere else.
fn client(address: SocketAddr, manner: Manner, seen: &Seen) {
    let end = match manner {
        Manner::Keeps => "",
        Manner::Leaves => "Connection: close\r\n",
    };
    let request = format!("GET /json/valid HTTP/1.1\r\nHost: a\r\n{end}\r\n");
    let mut kept: Option<TcpStream> = None;
    while !seen.over.load(Ordering::SeqCst) {
        let stream = kept.take().map_or_else(|| connect(address), Ok);
        let asked = stream.and_then(|mut stream| Ok((ask(&mut stream, &request)?, stream)));
        match asked {
            Ok((answer, stream)) if answer.status == 200 => {
                seen.answered.fetch_add(1, Ordering::SeqCst);
                kept = answer.keeps().then_some(stream);
            }
            _ => {
                seen.failed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE.limit))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
