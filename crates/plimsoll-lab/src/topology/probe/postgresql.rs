//! PostgreSQL's own statistics: one statement a second over one connection that stays open, in plaintext.
//!
//! `pg_stat_activity` says what sessions do at the moment, `pg_stat_database` what was counted since some beginning, and
//! `pg_stat_bgwriter`, or `pg_stat_checkpointer` from version 17 on, the checkpoints (PostgreSQL's manual, chapter 27.2, "The Cumulative
//! Statistics System").

use super::cost::Spent;
use super::exported::{Exported, Reading};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::{PostgresqlProbe, Secret};
use plimsoll_report::record::ServerStatistics;
use std::error::Error as _;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};

/// How long a reading may take, a new connection included.
const WITHIN: Duration = Duration::from_secs(5);
/// Name of the connection at the server.
const APPLICATION: &str = "plimsoll probe";
/// From this on checkpoints have a view of their own.
const WITH_CHECKPOINTER: u32 = 170_000;

/// Sessions of clients but this one's, and the limits. Whose role may see no other's session is told `<insufficient privilege>`.
const STATEMENT: &str = "\
SELECT activity.*, counted.*, checkpoints.*,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0) AS connections_limit
FROM (
  SELECT count(*) AS connections,
    count(*) FILTER (WHERE state = 'active') AS active,
    count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock') AS lock_waiters,
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'LWLock') AS latch_waiters,
    count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'IO') AS io_waiters,
    count(*) FILTER (WHERE query = '<insufficient privilege>') AS hidden
  FROM pg_stat_activity
  WHERE datid IS NOT NULL AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'
) AS activity, (
  SELECT sum(xact_commit + xact_rollback) AS operations, sum(xact_rollback) AS rollbacks, sum(deadlocks) AS deadlocks,
    sum(blks_hit) AS hits, sum(blks_read) AS misses, sum(temp_bytes) AS temporary_bytes
  FROM pg_stat_database
) AS counted, (";

/// A server that is asked.
#[derive(Debug)]
pub struct Postgresql {
    config: Config,
    session: Option<Session>,
}

/// An open connection.
struct Session {
    client: Client,
    statement: String,
    /// Carries it, and ends with it.
    _carrying: JoinSet<()>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Postgresql {
    /// The server of a probe, with its password. Nothing is sent yet.
    #[must_use]
    pub fn new(probe: &PostgresqlProbe, password: Option<&Secret>) -> Self {
        let mut config = probe.config.clone();
        config.application_name(APPLICATION);
        if let Some(password) = password {
            config.password(password.expose());
        }
        Self {
            config,
            session: None,
        }
    }

    /// Reads it, over the connection of the reading before if that still stands. What carries a connection is a task of its own, whose
    /// cost goes to `spent`, too.
    ///
    /// # Errors
    /// Why not, in words.
    pub(super) async fn read(&mut self, spent: &Spent) -> Result<Reading, String> {
        let taken = self.session.take().filter(|it| !it.client.is_closed());
        let reading = async {
            let session = match taken {
                Some(session) => session,
                None => Session::open(&self.config, spent.clone()).await?,
            };
            let rows = session.client.simple_query(&session.statement).await;
            Ok::<_, String>((rows.map_err(|error| said(&error))?, session))
        };
        let read = timeout(WITHIN, reading).await;
        let (rows, session) =
            read.map_err(|_| format!("no answer within {} s", WITHIN.as_secs()))??;
        self.session = Some(session);
        let at = Instant::now();
        let row = rows.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let exported = exported(row.ok_or("its statistics are empty")?);
        Ok(Reading { at, exported })
    }
}

impl Session {
    async fn open(config: &Config, spent: Spent) -> Result<Self, String> {
        let connected = config.connect(NoTls).await;
        let (client, connection) = connected.map_err(|error| said(&error))?;
        let mut carrying = JoinSet::new();
        carrying.spawn(async move {
            spent
                .on(connection)
                .await
                .ignored("the client's next call says so");
        });
        let asked = client.simple_query("SHOW server_version_num").await;
        let answer = asked.map_err(|error| said(&error))?;
        let version = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        Ok(Self {
            client,
            statement: statement(version.unwrap_or(0)),
            _carrying: carrying,
        })
    }
}

/// The statement that a server of this version understands.
fn statement(version: u32) -> String {
    let checkpoints = if version >= WITH_CHECKPOINTER {
        "SELECT num_timed AS checkpoints_timed, num_requested AS checkpoints_requested FROM pg_stat_checkpointer"
    } else {
        "SELECT checkpoints_timed, checkpoints_req AS checkpoints_requested FROM pg_stat_bgwriter"
    };
    format!("{STATEMENT}\n  {checkpoints}\n) AS checkpoints")
}

fn exported(row: &SimpleQueryRow) -> Exported {
    let text = |name: &str| row.try_get(name).ok().flatten();
    let count = |name: &str| text(name)?.parse::<u64>().ok();
    map(count)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sessions")]
fn map(count: impl Fn(&str) -> Option<u64>) -> Exported {
    let number = |name: &str| count(name).map(|count| count as f64);
    let is_hidden = count("hidden").is_some_and(|hidden| hidden > 0);
    let of_sessions = |name: &str| number(name).filter(|_| !is_hidden);
    let (connections, limit) = (number("connections"), count("connections_limit"));
    // The probe's own session takes one of the places.
    let share = |limit: u64| connections.map(|open| (open + 1.0) / limit.max(1) as f64);
    Exported {
        server: ServerStatistics {
            connections,
            connections_limit: limit,
            connections_share: limit.and_then(share),
            active: of_sessions("active"),
            idle_in_transaction: of_sessions("idle_in_transaction"),
            lock_waiters: of_sessions("lock_waiters"),
            latch_waiters: of_sessions("latch_waiters"),
            io_waiters: of_sessions("io_waiters"),
            operations: count("operations"),
            rollbacks: count("rollbacks"),
            deadlocks: count("deadlocks"),
            hits: count("hits"),
            misses: count("misses"),
            temporary_bytes: count("temporary_bytes"),
            checkpoints_timed: count("checkpoints_timed"),
            checkpoints_requested: count("checkpoints_requested"),
            ..ServerStatistics::default()
        },
        hidden: is_hidden.then_some(
            "what its sessions do: its probe's role may not see those of others (`GRANT pg_monitor TO …`)",
        ),
        ..Exported::default()
    }
}

/// An error with its cause, which the library's own words leave out.
fn said(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(refused), _) => refused.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::peers::postgresql::{PASSWORD, Postgresql as TestServer, USER};

    #[test]
    fn checkpoints_moved_with_version_17() {
        let check = |version, expected: &str| assert!(statement(version).contains(expected));
        check(150_008, "FROM pg_stat_bgwriter");
        check(170_000, "FROM pg_stat_checkpointer");
    }

    #[test]
    fn sessions_of_others_may_be_hidden() {
        let of = |hidden: u64| {
            map(move |name| match name {
                "hidden" => Some(hidden),
                "connections" => Some(5),
                "connections_limit" => Some(10),
                "lock_waiters" => Some(2),
                "operations" => Some(700),
                _ => None,
            })
        };
        let seen = of(0);
        assert_eq!((seen.server.lock_waiters, seen.hidden), (Some(2.0), None));
        assert_eq!(seen.server.connections_share, Some(0.6));
        let hidden = of(3);
        assert_eq!(hidden.server.lock_waiters, None);
        assert_eq!(hidden.server.operations, Some(700));
        assert!(
            hidden
                .hidden
                .is_some_and(|words| words.contains("pg_monitor"))
        );
    }

    /// Probe of a server's own statistics, as this user.
    fn asked_as(server: &TestServer, user: &str, password: &str) -> Postgresql {
        let url = format!("postgresql://{user}@{}/postgres", server.address());
        let probe = PostgresqlProbe {
            config: url.parse().unwrap(),
            password: None,
        };
        Postgresql::new(&probe, Some(&Secret::new(password)))
    }

    async fn read(probe: &mut Postgresql) -> Result<Reading, String> {
        probe.read(&Spent::default()).await
    }

    /// A session of somebody else's, which may be kept waiting.
    async fn session(server: &TestServer) -> (Client, JoinSet<()>) {
        let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
        let mut carrying = JoinSet::new();
        carrying.spawn(async move { connection.await.unwrap() });
        (client, carrying)
    }

    /// Reads until it is so: figures come a moment after what they count.
    async fn until(probe: &mut Postgresql, is_so: impl Fn(&ServerStatistics) -> bool) -> Exported {
        loop {
            let exported = read(probe).await.unwrap().exported;
            if is_so(&exported.server) {
                return exported;
            }
        }
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    async fn a_real_server_says_who_waits_for_whom() {
        let server = TestServer::start(&[("max_connections", "13")]).unwrap();
        server.ask("CREATE TABLE t (i int)").unwrap();
        let mut probe = asked_as(&server, USER, PASSWORD);
        let before = read(&mut probe).await.unwrap().exported;
        assert_eq!(before.server.connections, Some(0.0));
        assert_eq!(before.server.connections_limit, Some(10));
        assert_eq!(before.hidden, None);
        let ((holder, _one), (waiter, _other)) = (session(&server).await, session(&server).await);
        let lock = "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE";
        holder.batch_execute(lock).await.unwrap();
        let waits = waiter.batch_execute(lock);
        let looks = async {
            let seen = until(&mut probe, |it| it.lock_waiters == Some(1.0)).await;
            // What it counted is told at once, and not some seconds later.
            let flush = "ROLLBACK; SELECT pg_stat_force_next_flush()";
            holder.batch_execute(flush).await.unwrap();
            seen.server
        };
        let (waited, seen) = tokio::join!(waits, looks);
        waited.unwrap();
        assert_eq!((seen.connections, seen.active), (Some(2.0), Some(1.0)));
        assert_eq!(seen.idle_in_transaction, Some(1.0));
        assert_eq!(seen.connections_share, Some(0.3));
        let rolled_back = |it: &ServerStatistics| it.rollbacks > before.server.rollbacks;
        let after = until(&mut probe, rolled_back).await;
        let sample = after.since(&before, 1.0).unwrap();
        assert_eq!(sample.server.rollbacks, Some(1), "{sample:?}");
        assert!(sample.server.operations >= Some(1) && sample.cpu_cores.is_none());
        assert!(sample.server.checkpoints_requested.is_some(), "{sample:?}");
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    async fn a_real_server_may_refuse_hide_and_go() {
        let server = TestServer::start(&[]).unwrap();
        server
            .ask("CREATE ROLE watcher LOGIN PASSWORD 'w'")
            .unwrap();
        let (_other, _carrying) = session(&server).await;
        let told = read(&mut asked_as(&server, USER, "wrong"))
            .await
            .unwrap_err();
        insta::assert_snapshot!(told, @r#"password authentication failed for user "plimsoll""#);
        let mut watcher = asked_as(&server, "watcher", "w");
        let exported = read(&mut watcher).await.unwrap().exported;
        assert!(exported.hidden.is_some(), "{exported:?}");
        assert_eq!(
            (exported.server.connections, exported.server.active),
            (Some(1.0), None)
        );
        drop(server);
        let told = read(&mut watcher).await.unwrap_err();
        assert!(!told.is_empty());
        let told = read(&mut watcher).await.unwrap_err();
        assert!(told.contains("refused"), "{told}");
    }
}
