//! A conversation with Redis: sessions under `apikey-…` as Tyk writes them, changes in a stream, gateways in a set; the use
//! spent of quotas under `quota-…`, and in a stream of which of them it was.

mod change;
mod ends;
mod spending;
mod stream;

pub(super) use spending::Spending;

use super::account::{Account, scopes_name};
use super::changes::{Waiting, Word};
use crate::keys::{KeyHash, KeyStore};
use change::Change;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_redis::{Answers, Connection, Fence, RedisConf, WhenFull};
use redis::{Pipeline, RedisResult};
use std::collections::{HashMap, HashSet};
use stream::{BEGINNING, CHANGES, Entries, Stream, is_before, newest, words};

/// Keys in one request.
const AT_ONCE: usize = 500;
/// The stream of what was spent: the names of accounts of which the others are to know.
const SPENT: &str = "plimsoll-quotas-spent";
/// Entries of it that are held on to, each of at most [`AT_ONCE`] names; whoever was away for longer reads all keys.
const SPENT_LENGTH: usize = 1000;
/// Gateways by when they were heard of last, in seconds since 1970 by Redis' clock.
const GATEWAYS: &str = "plimsoll-gateways";
/// Seconds after which a gateway that is not heard of does not count.
const GONE_AFTER: u64 = 5;
/// A word that a Redis keeps for as long as it forgets nothing: whoever finds none leaves one.
const EPOCH: &str = "plimsoll-epoch";
const CONNECTED: &str = "invariant: a turn begins with a connection";
/// The connection, and how far the stream has been read.
pub(super) struct RedisSession {
    conf: RedisConf,
    name: String,
    connection: Option<Connection>,
    /// Before what a connection that broke may not have told: told late, a change that was taken back would hold, and what was spent of a
    /// quota would make that of a withdrawn key anew.
    fence: Fence,
    /// The last change that was read; `None` before the first connection.
    read: Option<String>,
    /// The last use that was read; `None` before the first connection.
    read_spent: Option<String>,
    /// The Redis' word, as it was found last.
    epoch: String,
    /// Changes, or what was spent, were dropped from their streams before they were read.
    dropped: bool,
}

/// Use of a quota by all gateways together.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) account: Account,
    pub(super) used: u32,
    /// When its period ends, in seconds since 1970, if Redis knows an end.
    pub(super) end: Option<u32>,
}

/// State at the beginning of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyncStatus {
    /// Every key of Redis is to be read: it is the first connection, or too much was missed.
    pub(super) missed: bool,
    /// Redis has lost changes that it knew.
    pub(super) forgotten: bool,
}

impl RedisSession {
    pub(super) fn new(conf: &RedisConf, name: String) -> Self {
        Self {
            conf: conf.clone(),
            fence: Fence::new(format!("plimsoll-keys-{name}-fence")),
            name,
            connection: None,
            read: None,
            read_spent: None,
            epoch: String::new(),
            dropped: false,
        }
    }

    /// Host and port, for people.
    pub(super) fn place(&self) -> String {
        self.conf.place()
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Makes sure that there is a connection.
    pub(super) fn connect(&mut self) -> RedisResult<SyncStatus> {
        let mut news = SyncStatus {
            missed: self.dropped,
            forgotten: false,
        };
        if self.connection.is_some() {
            return Ok(news);
        }
        let mut connection = self.conf.dial()?;
        self.fence.raise(&mut connection)?;
        let epoch = self.epoch_of(&mut connection)?;
        let stream = Stream::look(&mut connection, self.read.as_deref())?;
        match &self.read {
            None => news.missed = true,
            Some(_) if epoch != self.epoch => news.forgotten = true,
            Some(read) if read == BEGINNING => news.missed |= stream.oldest.is_some(),
            Some(_) if stream.has_read => {}
            Some(read) if stream.is_behind(read) => news.missed = true,
            // An older state of it has come back.
            Some(_) => news.forgotten = true,
        }
        if news.forgotten {
            self.read = Some(BEGINNING.to_owned());
        } else if news.missed {
            self.read = Some(stream.newest.unwrap_or_else(|| BEGINNING.to_owned()));
        }
        if self.read_spent.is_none() || news.missed || news.forgotten {
            // All that was spent before is read with the keys.
            let newest = newest(&mut connection, SPENT)?;
            self.read_spent = Some(newest.unwrap_or_else(|| BEGINNING.to_owned()));
        }
        self.epoch = epoch;
        self.connection = Some(connection);
        Ok(news)
    }

    /// The word that Redis keeps; a new one, if it had none.
    fn epoch_of(&self, connection: &mut Connection) -> RedisResult<String> {
        let now = plimsoll_http::clock::since_epoch().as_nanos();
        let mut request = redis::pipe();
        let leave = request.cmd("SET").arg(EPOCH);
        leave.arg(format!("{}-{now}", self.name)).arg("NX");
        request.cmd("GET").arg(EPOCH);
        let answers = (self.fence).carry_out_one(connection, WhenFull::CarryOut, request)?;
        let ((), epoch) = answers.all()?;
        Ok(epoch)
    }

    fn ask<T: redis::FromRedisValue>(&mut self, request: &Pipeline) -> RedisResult<T> {
        request.query(self.connection.as_mut().expect(CONNECTED))
    }

    /// Tells Redis what became of these keys, now or never, those that are gone first; `heard` gets each that it has heard of.
    ///
    /// # Errors
    /// Reason that keeps the rest from being told; or a refusal of one, when all others were told.
    pub(super) fn hand_on(
        &mut self,
        due: Vec<(KeyHash, Waiting)>,
        keys: &KeyStore,
        mut heard: impl FnMut(&(KeyHash, Waiting)),
    ) -> RedisResult<()> {
        let is_there = |change: &(KeyHash, Waiting)| keys.with(change.0, |_| ()).is_some();
        let (there, gone): (Vec<_>, Vec<_>) = due.into_iter().partition(is_there);
        let gone = gone.chunks(AT_ONCE).map(|gone| (gone, WhenFull::CarryOut));
        let there = there.chunks(AT_ONCE).map(|there| (there, WhenFull::Refuse));
        let mut refused = Ok(());
        for (changes, when_full) in gone.chain(there) {
            let snapshot = |change: &(KeyHash, Waiting)| Change::of(*change, keys);
            let snapshot: Vec<Change> = changes.iter().map(snapshot).collect();
            let mut scopes = self.scopes_to_forget(&snapshot)?;
            let said = |change: &Change| {
                let scopes = scopes.remove(&change.hash).unwrap_or_default();
                change.said(&self.name, scopes)
            };
            let said: Vec<Pipeline> = snapshot.iter().map(said).collect();
            for (change, answer) in changes.iter().zip(self.tell(when_full, &said)?) {
                match answer.all::<()>() {
                    Ok(()) => heard(change),
                    Err(error) => refused = Err(error),
                }
            }
        }
        refused
    }

    /// The scopes that Redis has of those of these keys whose quotas end.
    fn scopes_to_forget(
        &mut self,
        changes: &[Change],
    ) -> RedisResult<HashMap<KeyHash, Vec<String>>> {
        let ending = changes.iter().filter(|change| change.ends_quotas());
        let ending: Vec<KeyHash> = ending.map(|change| change.hash).collect();
        self.scopes(&ending)
    }

    /// The scopes that Redis has of keys, if any.
    fn scopes(&mut self, hashes: &[KeyHash]) -> RedisResult<HashMap<KeyHash, Vec<String>>> {
        let asked = |hash: &KeyHash| {
            let mut request = redis::pipe();
            request.cmd("SMEMBERS").arg(scopes_name(*hash));
            request
        };
        let answers = self.look(hashes.iter().map(asked).collect())?;
        let scopes = answers.iter().map(|answers| answers.of(0));
        let known = hashes.iter().copied().zip(scopes);
        Ok(known
            .filter_map(|(hash, scopes)| Some((hash, scopes?)))
            .collect())
    }

    /// Use of these accounts by all gateways together: of those of which something was used.
    pub(super) fn sums(&mut self, accounts: Vec<Account>) -> RedisResult<Vec<Sum>> {
        let asked = |account: &Account| {
            let mut request = redis::pipe();
            request.cmd("GET").arg(account.name());
            request.cmd("EXPIRETIME").arg(account.name());
            request
        };
        let mut sums = Vec::new();
        for accounts in accounts.chunks(AT_ONCE) {
            let answers = self.look(accounts.iter().map(asked).collect())?;
            let known = accounts
                .iter()
                .zip(answers)
                .filter_map(|(account, answers)| {
                    let used: i64 = answers.of(0)?;
                    Some(Sum {
                        account: account.clone(),
                        used: u32::try_from(used).unwrap_or(u32::MAX),
                        end: answers.of(1),
                    })
                });
            sums.extend(known);
        }
        Ok(sums)
    }

    /// Redis' answers to groups of commands that change nothing; a command without an answer is left out.
    fn look(&mut self, groups: Vec<Pipeline>) -> RedisResult<Vec<Answers>> {
        match groups.is_empty() {
            true => Ok(Vec::new()),
            false => self.tell(WhenFull::CarryOut, &groups),
        }
    }

    /// Tells Redis now or never.
    fn tell(&mut self, when_full: WhenFull, groups: &[Pipeline]) -> RedisResult<Vec<Answers>> {
        let connection = self.connection.as_mut().expect(CONNECTED);
        self.fence.carry_out(connection, when_full, groups)
    }

    /// Says that this gateway lives; how many do.
    pub(super) fn heartbeat(&mut self) -> RedisResult<u32> {
        // By Redis' own clock: those of several machines differ.
        let mut request = redis::pipe();
        request.cmd("TIME");
        let ((now, _),): ((u64, u64),) = self.ask(&request)?;
        let mut request = redis::pipe();
        request.cmd("ZADD").arg(GATEWAYS).arg(now).arg(&self.name);
        let gone = now.saturating_sub(GONE_AFTER);
        let forget = request.cmd("ZREMRANGEBYSCORE").arg(GATEWAYS);
        forget.arg("-inf").arg(gone);
        request.cmd("ZCARD").arg(GATEWAYS);
        let connection = self.connection.as_mut().expect(CONNECTED);
        let answers = (self.fence).carry_out_one(connection, WhenFull::CarryOut, request)?;
        let ((), (), count) = answers.all()?;
        Ok(count)
    }

    /// Says that this gateway ends, if anybody listens.
    pub(super) fn deregister(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let mut request = redis::cmd("ZREM");
        request
            .arg(GATEWAYS)
            .arg(&self.name)
            .query::<()>(connection)
            .ignored("the others stop counting it by themselves");
    }

    /// Every key that Redis has, with its session and what was spent of its quotas.
    pub(super) fn all_keys(
        &mut self,
        mut take: impl FnMut(KeyHash, &str, &[Sum]),
    ) -> RedisResult<()> {
        let mut cursor = Some(0);
        while let Some(from) = cursor {
            let (next, names) = self.scan("apikey-*", from)?;
            // Of keys that Tyk named by other hashes nothing can be known.
            let hash = |name: &String| KeyHash::from_hex(name.strip_prefix("apikey-")?);
            let hashes: Vec<KeyHash> = names.iter().filter_map(hash).collect();
            let sums = self.sums_of(&hashes)?;
            for (hash, session) in self.sessions(&hashes)? {
                if let Some(session) = session {
                    take(hash, &session, sums.get(&hash).map_or(&[], Vec::as_slice));
                }
            }
            cursor = next;
        }
        self.dropped = false;
        Ok(())
    }

    /// Use of quotas that Redis has no key of, by `is_known`: of callers who show tokens.
    pub(super) fn sums_without_keys(
        &mut self,
        is_known: impl Fn(KeyHash) -> bool,
        mut take: impl FnMut(&Sum),
    ) -> RedisResult<()> {
        let mut cursor = Some(0);
        while let Some(from) = cursor {
            let (next, names) = self.scan("quota-*", from)?;
            let accounts = names.iter().filter_map(|name| Account::of_name(name));
            let accounts = accounts.filter(|account| !is_known(account.hash));
            for sum in self.sums(accounts.collect())? {
                take(&sum);
            }
            cursor = next;
        }
        Ok(())
    }

    /// Some names of this pattern, and where it goes on if it does.
    fn scan(&mut self, pattern: &str, from: u64) -> RedisResult<(Option<u64>, Vec<String>)> {
        let mut request = redis::pipe();
        let scan = request.cmd("SCAN").arg(from).arg("MATCH").arg(pattern);
        scan.arg("COUNT").arg(AT_ONCE);
        let ((next, names),): ((u64, Vec<String>),) = self.ask(&request)?;
        Ok(((next != 0).then_some(next), names))
    }

    /// Use of all quotas of these keys.
    fn sums_of(&mut self, hashes: &[KeyHash]) -> RedisResult<HashMap<KeyHash, Vec<Sum>>> {
        let account = |hash: KeyHash, scope: Option<String>| Account {
            hash,
            scope: scope.map(String::into_boxed_str),
        };
        let scopes = self.scopes(hashes)?.into_iter();
        let scoped = scopes.flat_map(|(hash, scopes)| {
            (scopes.into_iter()).map(move |scope| account(hash, Some(scope)))
        });
        let whole = hashes.iter().map(|hash| account(*hash, None));
        let mut sums: HashMap<KeyHash, Vec<Sum>> = HashMap::new();
        for sum in self.sums(whole.chain(scoped).collect())? {
            sums.entry(sum.account.hash).or_default().push(sum);
        }
        Ok(sums)
    }

    /// Accounts of which other gateways have spent since this was asked last, as far as they say so: each is taken before it counts as heard
    /// of. Whose key is not known when the changes are read that were made until then, is gone.
    pub(super) fn spent_elsewhere(&mut self, mut take: impl FnMut(Account)) -> RedisResult<()> {
        loop {
            let read = (self.read_spent.clone()).unwrap_or_else(|| BEGINNING.to_owned());
            let entries = self.entries_after(SPENT, &read)?;
            let Some((last, _)) = entries.last() else {
                return Ok(());
            };
            for (_, fields) in &entries {
                // Names and values by turns: who says it, then each account.
                let mut values = fields.iter().skip(1).step_by(2);
                if values.next().is_some_and(|by| *by != self.name) {
                    (values.filter_map(|name| Account::of_name(name))).for_each(&mut take);
                }
            }
            self.read_spent = Some(last.clone());
        }
    }

    /// Has the other gateways look at what was spent of these accounts.
    pub(super) fn announce(&mut self, accounts: &HashSet<Account>) -> RedisResult<()> {
        let names: Vec<String> = accounts.iter().map(Account::name).collect();
        for names in names.chunks(AT_ONCE) {
            let mut request = redis::pipe();
            let add = request.cmd("XADD").arg(SPENT).arg("MAXLEN").arg("~");
            add.arg(SPENT_LENGTH).arg("*").arg("g").arg(&self.name);
            for name in names {
                add.arg("q").arg(name);
            }
            let mut answers = self.tell(WhenFull::Refuse, &[request])?;
            answers
                .pop()
                .map_or(Ok(()), |answers| answers.all::<()>())?;
        }
        Ok(())
    }

    /// Some entries of a stream after this one, the oldest first; whether some before them were dropped is kept in mind.
    fn entries_after(&mut self, stream: &str, read: &str) -> RedisResult<Entries> {
        let mut request = redis::pipe();
        let range = request.cmd("XRANGE").arg(stream).arg(format!("({read}"));
        range.arg("+").arg("COUNT").arg(AT_ONCE);
        let oldest = request.cmd("XRANGE").arg(stream).arg("-").arg("+");
        oldest.arg("COUNT").arg(1);
        let (entries, oldest): (Entries, Entries) = self.ask(&request)?;
        let oldest = oldest.first().filter(|_| !entries.is_empty());
        self.dropped |= read != BEGINNING && oldest.is_some_and(|(id, _)| is_before(read, id));
        Ok(entries)
    }

    /// Changes that were not read yet: a word about the key, and its session or `None` where it is gone. That some were dropped before
    /// they were read is news of the next turns, until every key was read.
    pub(super) fn changes(&mut self, mut take: impl FnMut(Word, Option<&str>)) -> RedisResult<()> {
        loop {
            let read = self.read.clone().unwrap_or_else(|| BEGINNING.to_owned());
            let entries = self.entries_after(CHANGES, &read)?;
            let Some((last, _)) = entries.last().cloned() else {
                return Ok(());
            };
            let words = words(entries, &self.name);
            let hashes: Vec<KeyHash> = words.keys().copied().collect();
            for (hash, session) in self.sessions(&hashes)? {
                take(words[&hash], session.as_deref());
            }
            self.read = Some(last);
        }
    }

    fn sessions(&mut self, hashes: &[KeyHash]) -> RedisResult<Vec<(KeyHash, Option<String>)>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut request = redis::pipe();
        let names = hashes
            .iter()
            .map(|hash| format!("apikey-{}", hash.to_hex()));
        request.cmd("MGET").arg(names.collect::<Vec<_>>());
        let (sessions,): (Vec<Option<String>>,) = self.ask(&request)?;
        Ok(hashes.iter().copied().zip(sessions).collect())
    }

    /// Adds what was spent of quotas, now or never; `added` gets each that Redis has added to, with the sum over all gateways and when it ends
    /// in seconds since 1970, if it does.
    ///
    /// # Errors
    /// Reason that keeps the rest from being added; or a refusal of one, when all others were added.
    pub(super) fn add_spent(
        &mut self,
        spent: &[Spending],
        mut added: impl FnMut(&Spending, u32, Option<u32>),
    ) -> RedisResult<()> {
        let mut refused = Ok(());
        for spent in spent.chunks(AT_ONCE) {
            let requests: Vec<Pipeline> = spent.iter().map(Spending::said).collect();
            let answers = self.tell(WhenFull::Refuse, &requests)?;
            for (spending, answers) in spent.iter().zip(answers) {
                if let Some(sum) = answers.of::<i64>(0) {
                    let end = answers.of(2).filter(|_| !spending.is_last());
                    added(spending, u32::try_from(sum).unwrap_or(u32::MAX), end);
                }
                refused = refused.and(answers.all::<()>());
            }
        }
        refused
    }
}
