//! A table in PostgreSQL, made if it is missing: a row a record, many with one statement. A record that is there already is not put there
//! again, so that a statement whose fate is unknown can be repeated.

use crate::entry::Entry;
use crate::settings::PostgresqlSink;
use crate::sink::Failed;
use crate::sink::parts::{Parts, Tried};
use plimsoll_secrets::Withheld;
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

/// How long connecting, or a statement, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The table.
pub(super) struct Sink {
    config: PostgresqlSink,
    runtime: Runtime,
    session: Option<Session>,
    parts: Parts,
}

/// A connection, and what it has prepared.
struct Session {
    client: Client,
    insert: Statement,
    /// Reads and writes for the client, whenever that waits.
    connection: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
}

impl Sink {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(config: &PostgresqlSink) -> io::Result<Self> {
        Ok(Self {
            config: config.clone(),
            runtime: Builder::new_current_thread().enable_all().build()?,
            session: None,
            parts: Parts::default(),
        })
    }

    fn insert(&mut self, entries: &[&Entry<'_>]) -> Result<(), WriteError> {
        let rows = Rows::of(entries);
        let session = match &mut self.session {
            Some(session) => session,
            none => {
                let connection = self.config.connection()?;
                let opened = Session::open(&connection, &self.config.table);
                none.insert(self.runtime.block_on(within(opened))?)
            }
        };
        self.runtime.block_on(within(async {
            let Session {
                client,
                insert,
                connection,
            } = session;
            let columns = rows.columns();
            let executed = client.execute_raw(&*insert, columns);
            tokio::select! {
                done = executed => done.map(|_| ()).map_err(WriteError::Error),
                ended = connection => ended.map_or_else(|error| Err(WriteError::Error(error)), |()| Err(WriteError::Ended)),
            }
        }))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let mut parts = std::mem::take(&mut self.parts);
        let delivered = parts.deliver(entries, |part| match self.insert(part) {
            Ok(()) => Tried::Taken,
            Err(stumble) if stumble.is_about_the_records() => Tried::Refused(stumble.to_string()),
            Err(stumble) => {
                self.session = None;
                Tried::Away(stumble.to_string())
            }
        });
        self.parts = parts;
        delivered
    }
}

/// Error of writing.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error("{}", told(.0))]
    Error(#[source] Error),
    #[error("it closed the connection")]
    Ended,
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late,
    #[error(transparent)]
    Withheld(#[from] Withheld),
}

impl WriteError {
    /// Whether PostgreSQL objects to what a record says (classes 22 and 23 of its codes): it always will.
    fn is_about_the_records(&self) -> bool {
        let Self::Error(error) = self else {
            return false;
        };
        let code = error.code().map(|code| code.code());
        code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
    }
}

/// PostgreSQL's words, if it was that; the error by itself says only that it was. Its details are left out: they have the values of rows.
fn told(error: &Error) -> String {
    use std::error::Error as _;
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("{}: {}", said.severity(), said.message()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

async fn within<T>(work: impl Future<Output = Result<T, WriteError>>) -> Result<T, WriteError> {
    let done = tokio::time::timeout(PATIENCE, work).await;
    done.unwrap_or(Err(WriteError::Late))
}

impl Session {
    /// Connects, and makes the table if it is missing.
    async fn open(config: &Config, table: &str) -> Result<Self, WriteError> {
        let (client, connection) = config.connect(NoTls).await.map_err(WriteError::Error)?;
        let mut connection: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(connection);
        let prepare = async {
            // Making it takes a right to make tables, which whoever made it beforehand need not have granted.
            let found = client.query_one(FIND, &[&table]).await?;
            if !found.try_get::<_, bool>(0)? {
                client.batch_execute(&definition(table)).await?;
            }
            client.prepare(&insertion(table)).await
        };
        let insert = tokio::select! {
            prepared = prepare => prepared.map_err(WriteError::Error)?,
            ended = &mut connection => return Err(ended.map_or_else(WriteError::Error, |()| WriteError::Ended)),
        };
        Ok(Self {
            client,
            insert,
            connection,
        })
    }
}

/// A column: its name, the type it has, the type in which it travels, and how one is made of the other where they differ.
struct Column(
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

/// A time, of microseconds since 1970; all of them are kept.
const TIME: &str = "'epoch'::timestamptz + {} * interval '1 microsecond'";

/// The columns, by Tyk's names where it has the field.
const COLUMNS: [Column; 26] = [
    Column("id", "text PRIMARY KEY", "text", None),
    Column("timestamp", "timestamptz NOT NULL", "int8", Some(TIME)),
    Column("arrived", "timestamptz NOT NULL", "int8", Some(TIME)),
    Column("method", "text NOT NULL", "text", None),
    Column("host", "text", "text", None),
    Column("request_host", "text NOT NULL", "text", None),
    Column("path", "text NOT NULL", "text", None),
    Column("original_path", "text NOT NULL", "text", None),
    Column("listen_path", "text", "text", None),
    Column("api_id", "text", "text", None),
    Column("api_name", "text", "text", None),
    Column("org_id", "text", "text", None),
    Column("api_key", "text", "text", None),
    Column("alias", "text NOT NULL", "text", None),
    Column(
        "tags",
        "text[] NOT NULL",
        "text",
        Some("string_to_array({}, E'\\x1f')"),
    ),
    Column("user_agent", "text NOT NULL", "text", None),
    Column("ip_address", "text NOT NULL", "text", None),
    Column("response_code", "int4 NOT NULL", "int8", None),
    Column("ended", "text NOT NULL", "text", None),
    Column("bytes_in", "int8 NOT NULL", "int8", None),
    Column("bytes_out", "int8 NOT NULL", "int8", None),
    Column("total_us", "int8 NOT NULL", "int8", None),
    Column("upstream_us", "int8 NOT NULL", "int8", None),
    Column("gateway_us", "int8 NOT NULL", "int8", None),
    Column("raw_request", "text NOT NULL", "text", None),
    Column("raw_response", "text NOT NULL", "text", None),
];

/// Whether there is a table of a name.
const FIND: &str = "SELECT to_regclass($1) IS NOT NULL";

fn definition(table: &str) -> String {
    let columns = COLUMNS.map(|Column(name, kind, ..)| format!("\"{name}\" {kind}"));
    let columns = columns.join(", ");
    // Two gateways may make it at the same time, of which one then finds that it is there.
    format!(
        "DO $$ BEGIN CREATE TABLE IF NOT EXISTS {table} ({columns}); EXCEPTION WHEN unique_violation THEN NULL; END $$;"
    )
}

/// One statement for any number of rows: a list for each column.
fn insertion(table: &str) -> String {
    let names = COLUMNS.map(|Column(name, ..)| format!("\"{name}\""));
    let values = COLUMNS.map(|Column(name, _, _, made)| {
        let name = format!("\"{name}\"");
        made.map_or_else(|| name.clone(), |made| made.replace("{}", &name))
    });
    let mut number = 0;
    let lists = COLUMNS.map(|Column(_, _, travels, _)| {
        number += 1;
        format!("${number}::{travels}[]")
    });
    format!(
        "INSERT INTO {table} ({names}) SELECT {values} FROM unnest({lists}) AS row ({names}) ON CONFLICT DO NOTHING",
        names = names.join(", "),
        values = values.join(", "),
        lists = lists.join(", "),
    )
}

fn own(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The values of one column.
enum Values {
    Texts(Vec<Option<String>>),
    Numbers(Vec<i64>),
}

/// The values of all columns, in their order.
struct Rows(Vec<Values>);

impl Rows {
    fn of(entries: &[&Entry<'_>]) -> Self {
        // What was cut off before its route was known has none.
        let texts = |value: fn(&Entry<'_>) -> Option<String>| {
            let values = entries.iter().copied().map(value);
            // No text of PostgreSQL has a zero byte.
            let values = values.map(|value| value.map(|text| text.replace('\0', "\u{fffd}")));
            Values::Texts(values.collect())
        };
        let numbers = |value: fn(&Entry<'_>) -> u64| {
            let values = entries.iter().copied().map(value);
            Values::Numbers(
                values
                    .map(|value| i64::try_from(value).unwrap_or(i64::MAX))
                    .collect(),
            )
        };
        Self(vec![
            texts(|e| Some(e.id())),
            numbers(|e| e.ended()),
            numbers(|e| e.arrived),
            texts(|e| own(e.method)),
            texts(|e| e.api.map(|api| api.target.to_owned())),
            texts(|e| own(e.host)),
            texts(|e| own(e.forwarded_path())),
            texts(|e| own(e.path)),
            texts(|e| e.route.map(str::to_owned)),
            texts(|e| e.api.map(|api| api.id.to_owned())),
            texts(|e| e.api.map(|api| api.name.to_owned())),
            texts(|e| e.api.map(|api| api.organisation.to_owned())),
            texts(|e| e.key.map(str::to_owned)),
            texts(|e| own(e.alias)),
            texts(|e| Some(e.tyk_tags().join("\u{1f}"))),
            texts(|e| own(e.agent)),
            texts(|e| own(e.peer)),
            numbers(|e| u64::from(e.status)),
            texts(|e| own(e.ending)),
            numbers(|e| e.bytes_in),
            numbers(|e| e.bytes_out),
            numbers(|e| e.total),
            numbers(|e| e.upstream),
            numbers(|e| e.gateway),
            texts(|e| own(e.request)),
            texts(|e| own(e.response)),
        ])
    }

    fn columns(&self) -> impl ExactSizeIterator<Item = &(dyn ToSql + Sync)> {
        self.0.iter().map(|values| match values {
            Values::Texts(texts) => texts as &(dyn ToSql + Sync),
            Values::Numbers(numbers) => numbers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_its_values() {
        let rows = Rows::of(&[&Entry::default()]);
        assert_eq!(rows.0.len(), COLUMNS.len());
        for (values, Column(name, _, travels, _)) in rows.0.iter().zip(COLUMNS) {
            let kind = match values {
                Values::Texts(_) => "text",
                Values::Numbers(_) => "int8",
            };
            assert_eq!(kind, travels, "{name}");
        }
    }
}
