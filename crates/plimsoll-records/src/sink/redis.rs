//! A list in Redis, which whoever reads takes records from: tyk-pump, if it is Tyk's list in Tyk's form.
//!
//! Records are pushed, and a word of their own is left, in one transaction: a script would copy all records, and hold Redis longer. A
//! connection that breaks meanwhile leaves it open whether they arrived, and whether they will: so each begins with raising a [`Fence`], and
//! the word is looked up behind it. What was not carried out by then never is, and the word says the rest. Where Redis answers with an error,
//! nothing is open.

use crate::entry::Entry;
use crate::form::tyk;
use crate::settings::{RedisForm, RedisSink};
use crate::sink::Failed;
use crate::sink::parts::REMEMBERED;
use plimsoll_redis::{Connection, Fence, was_answered};
use redis::RedisResult;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Lists that records are spread over where there are several.
const LISTS: u64 = 10;
/// Seconds that Redis keeps the word of the records that arrived last.
const KEPT: u64 = 24 * 60 * 60;

/// Leaves the word and has the list expire, if the list ends with the record that was pushed last.
const CONFIRM: &str = "#!lua flags=allow-oom
    if redis.call('LINDEX', KEYS[1], -1) ~= ARGV[1] then return false end
    redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
    return ARGV[4] == '0' or redis.call('EXPIRE', KEYS[1], ARGV[4])";

/// The list.
pub(super) struct Sink {
    config: RedisSink,
    connection: Option<Connection>,
    /// Key of the word.
    word_key: String,
    fence: Fence,
    in_doubt: Option<InDoubt>,
    /// Records that have arrived, though delivering them has not come to its end.
    arrived: HashSet<String>,
    /// How often was pushed: each time has a word of its own.
    pushes: u64,
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
            fence: Fence::new(format!("plimsoll-analytics-{origin}-fence")),
            in_doubt: None,
            arrived: HashSet::new(),
            pushes: 0,
            turn: 0,
        }
    }

    /// Makes sure that there is a connection, and finds out on a new one whether the records that are in doubt have arrived.
    fn settle(&mut self) -> RedisResult<()> {
        if self.connection.is_some() {
            return Ok(());
        }
        let mut connection = self.config.conf.dial()?;
        self.fence.raise(&mut connection)?;
        if let Some(doubted) = &mut self.in_doubt {
            let mut get = redis::cmd("GET");
            let kept: Option<String> = get.arg(&self.word_key).query(&mut connection)?;
            if kept.as_ref() == Some(&doubted.word) {
                self.arrived.extend(doubted.ids.drain());
            }
        }
        self.in_doubt = None;
        self.connection = Some(connection);
        Ok(())
    }

    fn push(&mut self, entries: &[&Entry<'_>]) -> RedisResult<()> {
        let (Some(first), Some(connection)) = (entries.first(), &mut self.connection) else {
            return Ok(());
        };
        let word = format!("{}-{}", first.id(), self.pushes);
        self.pushes += 1;
        let mut list = self.config.key.clone();
        if self.config.several {
            write!(list, "_{}", self.turn % LISTS).expect("invariant: text takes text");
            self.turn += 1;
        }
        let records = entries.iter().map(|entry| match self.config.form {
            RedisForm::MsgPack => tyk::as_msgpack(entry),
            RedisForm::Json => tyk::as_json(entry),
        });
        let mut request = redis::pipe();
        let push = request.cmd("RPUSH").arg(&list);
        let mut last = Vec::new();
        for record in records {
            push.arg(&record);
            last = record;
        }
        let confirm = request.cmd("EVAL").arg(CONFIRM).arg(2);
        confirm.arg(&list).arg(&self.word_key);
        confirm.arg(last).arg(&word).arg(KEPT);
        confirm.arg(self.config.expires.as_secs());
        let ids = || entries.iter().map(|entry| entry.id());
        match self.fence.transact(connection, &mut request) {
            Ok(answers) => {
                let are_pushed = answers.of::<u64>(0).is_some();
                let all = answers.all();
                if are_pushed && all.is_err() {
                    // Whatever else is refused, they are not pushed again.
                    self.arrived.extend(ids());
                }
                all
            }
            Err(error) => {
                if !was_answered(&error) {
                    let ids = ids().collect();
                    self.in_doubt = Some(InDoubt { word, ids });
                }
                Err(error)
            }
        }
    }

    /// These records need not be known any more.
    fn forget(&mut self, delivered: &[Entry<'_>]) {
        if self.arrived.len() > REMEMBERED {
            // Those that there was no room for never come again.
            self.arrived.clear();
        }
        if !self.arrived.is_empty() {
            let delivered = delivered.iter().map(|entry| entry.id());
            delivered.for_each(|id| _ = self.arrived.remove(&id));
        }
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let pushed = self.settle().and_then(|()| {
            let arrived = &self.arrived;
            let is_new = |entry: &&Entry<'_>| arrived.is_empty() || !arrived.contains(&entry.id());
            let new: Vec<&Entry<'_>> = entries.iter().filter(is_new).collect();
            self.push(&new)
        });
        match pushed {
            Ok(()) => {
                self.forget(entries);
                Ok(())
            }
            Err(error) => {
                self.connection = None;
                Err(Failed::Away(error.to_string()))
            }
        }
    }
}
