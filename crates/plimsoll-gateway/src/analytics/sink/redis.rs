//! A list in Redis, which whoever reads takes records from: tyk-pump, if it is Tyk's list in Tyk's form.
//!
//! Records are pushed together with a word of their own, in one transaction. A connection that breaks meanwhile leaves it open whether they
//! arrived; the word says it when Redis is back.

use crate::analytics::entry::Entry;
use crate::analytics::form::tyk;
use crate::analytics::sink::Failed;
use crate::config::{RedisForm, RedisSink};
use redis::{Connection, RedisResult};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Lists that records are spread over where there are several.
const LISTS: u64 = 10;
/// Seconds that Redis keeps the word of the records that arrived last.
const KEPT: u64 = 24 * 60 * 60;

/// The list.
pub(super) struct Sink {
    config: RedisSink,
    connection: Option<Connection>,
    /// What the word is kept under.
    word_key: String,
    in_doubt: Option<InDoubt>,
    /// Which list is next.
    turn: u64,
}

/// Records that may have arrived.
struct InDoubt {
    word: String,
    ids: HashSet<String>,
}

impl Sink {
    /// A list that the gateway called `origin` pushes to.
    pub(super) fn new(config: RedisSink, origin: &str) -> Self {
        Self {
            config,
            connection: None,
            word_key: format!("plimsoll-analytics-{origin}"),
            in_doubt: None,
            turn: 0,
        }
    }

    /// The records that have arrived already, if it was in doubt.
    fn arrived(&mut self) -> RedisResult<HashSet<String>> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.config.conf.dial()?),
        };
        if self.in_doubt.is_none() {
            return Ok(HashSet::new());
        }
        let kept: Option<String> = redis::cmd("GET").arg(&self.word_key).query(connection)?;
        let doubted = self.in_doubt.take();
        let arrived = doubted.filter(|doubted| Some(&doubted.word) == kept.as_ref());
        Ok(arrived.map(|doubted| doubted.ids).unwrap_or_default())
    }

    fn push(&mut self, entries: &[&Entry<'_>]) -> RedisResult<()> {
        let (Some(first), Some(connection)) = (entries.first(), &mut self.connection) else {
            return Ok(());
        };
        let word = first.id();
        let mut list = self.config.key.clone();
        if self.config.several {
            write!(list, "_{}", self.turn % LISTS).expect("invariant: text takes text");
            self.turn += 1;
        }
        let mut request = redis::pipe();
        request.atomic();
        let push = request.cmd("RPUSH").arg(&list);
        for entry in entries {
            push.arg(match self.config.form {
                RedisForm::MsgPack => tyk::as_msgpack(entry),
                RedisForm::Json => tyk::as_json(entry),
            });
        }
        push.ignore();
        let expires = self.config.expires.as_secs();
        if expires > 0 {
            request.cmd("EXPIRE").arg(&list).arg(expires).ignore();
        }
        let set = request.cmd("SET").arg(&self.word_key).arg(&word);
        set.arg("EX").arg(KEPT).ignore();
        request.query(connection).inspect_err(|_| {
            let ids = entries.iter().map(|entry| entry.id()).collect();
            self.in_doubt = Some(InDoubt { word, ids });
        })
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let pushed = self.arrived().and_then(|arrived| {
            let is_new = |entry: &&Entry<'_>| arrived.is_empty() || !arrived.contains(&entry.id());
            let new: Vec<&Entry<'_>> = entries.iter().filter(is_new).collect();
            self.push(&new)
        });
        pushed.map_err(|error| {
            self.connection = None;
            Failed::Away(error.to_string())
        })
    }
}
